"""The requester's report of a campaign: one HTML page, which needs nothing else."""
