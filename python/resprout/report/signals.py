"""What signals are called, and what status they give."""

import signal

# As a shell has it for SIGKILL: which signal it really was, nobody knows.
STATUS_KILLED = 137


def name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def status_of(number: int | None) -> int:
    """As a shell has it. Nothing: it is not known which signal it was."""
    return STATUS_KILLED if number is None else 128 + number
