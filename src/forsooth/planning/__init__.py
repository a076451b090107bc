"""Before a campaign: how many workers, which ε, what error; and campaigns that adapt."""
