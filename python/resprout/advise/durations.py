"""Times as people write them: 90s, 10min, 2h, 7d, 5y."""

import math
import re

from resprout.errors import UserError

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "y": 365.25 * 86400.0}
_FORM = re.compile(r"([0-9]{1,9}(?:\.[0-9]+)?)(s|min|h|d|y)")


def read_duration(option: str, text: str) -> float:
    """In seconds. Raises UserError if it is none, or 0."""
    match = _FORM.fullmatch(text)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if seconds <= 0:
        raise UserError(f"{option}: {text!r} is not valid; give a time as 90s, 10min, 2h, 7d or 5y")
    return seconds


def write_duration(seconds: float) -> str:
    """With three digits, in the unit that fits."""
    if math.isinf(seconds):
        return "never"
    unit = next((u for u in ("y", "d", "h", "min") if seconds >= 2 * _UNITS[u]), "s")
    return f"{seconds / _UNITS[unit]:.3g} {unit}"
