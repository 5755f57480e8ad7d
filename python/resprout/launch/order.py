"""The file of `--order`, which the launcher reads: a rank's host need not have it."""

from pathlib import Path

from resprout.errors import UserError

FILE_BYTES_MAX = 1 << 20
# One string of an environment may have 128 KiB.
TEXT_BYTES_MAX = 120_000


def read_order(file: Path) -> str:
    """What RESPROUT_ORDER says to the ranks (src/mpi/process/options.cpp)."""
    from resprout import native

    try:
        with file.open("rb") as opened:
            text = opened.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise UserError(f"--order: {file}: {error.strerror}") from error
    if len(text) > FILE_BYTES_MAX:
        raise UserError(f"--order: {file}: it is longer than 1 MiB")
    try:
        lines = native.order_of_hosts(text)
    except ValueError as error:
        why = str(error)
        raise UserError(f"--order: {file}:{'' if why[0].isdigit() else ' '}{why}") from error
    if len(lines) > TEXT_BYTES_MAX:
        raise UserError(
            f"--order: {file}: its hosts take {len(lines)} bytes, and the ranks can be given "
            f"{TEXT_BYTES_MAX}; addresses are shorter than names"
        )
    return f"lines:{lines}"
