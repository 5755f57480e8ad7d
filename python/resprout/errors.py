"""What is wrong with what the user gave."""


class UserError(Exception):
    """One line that names the option, what was given and what is valid.

    The command prints it and ends with status 2; nothing has been started by then.
    """
