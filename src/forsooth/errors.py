"""The exception and the warning that are meant for people."""


class ForsoothError(ValueError):
    """Bad input, said so that a person can mend it: what was wrong, where, what to do.

    The command line prints the message without a traceback and exits with 2.
    """


class AssumptionWarning(UserWarning):
    """Something was not stated and had to be assumed; the message says how to state it."""
