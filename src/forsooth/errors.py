"""The one exception that is meant for people."""


class ForsoothError(ValueError):
    """Bad input, said so that a person can mend it: what was wrong, where, what to do.

    The command line prints the message without a traceback and exits with 2.
    """
