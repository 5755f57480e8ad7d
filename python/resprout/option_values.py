"""Which values the options of `resprout run` can have: a check for each, by its flag.

What ranks read is checked there again, by src/mpi/process/options.cpp.
"""

import math
import re
from collections.abc import Callable


def _one_of(*choices: str) -> Callable[[str], bool]:
    return lambda text: text in choices


def _is_milliseconds(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,7}", text) is not None and 1 <= int(text) <= 3600000


def _is_radix(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,4}", text) is not None and int(text) in _RADIXES


def _is_network(text: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


# As src/mpi/process/options.cpp reads it.
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def _is_missing(value: str) -> bool:
    if value in ("nothing", "last", "mean", "linear"):
        return True
    return _NUMBER.fullmatch(value) is not None and math.isfinite(float(value))


# As src/mpi/process/calibration.hpp has it.
_CALIBRATED = re.compile(
    r"auto:cores=[0-9]+(;ranks=[0-9]+,barrier=0?,bcast=[0-9.]*,reduce=[0-9.]*,allreduce=[0-9.]*)+"
)


def _is_collectives(text: str) -> bool:
    return (
        text in ("auto", "native", "resprout", "trees") or _CALIBRATED.fullmatch(text) is not None
    )


_RADIXES = [1 << i for i in range(1, 11)]
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def _is_shadow_lag(text: str) -> bool:
    match = re.fullmatch(r"([0-9]+)(KiB|MiB|GiB)?", text)
    if match is None:
        return text == "none"
    number, unit = int(match[1]), match[2]
    if unit is None:
        return 2 <= number < 1 << 64
    return 64 << 10 <= number * _UNITS[unit] < 1 << 64


def _is_seconds(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", text) is not None


def _is_straggler_wait(text: str) -> bool:
    return text == "none" or _is_seconds(text)


def _is_count(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,7}", text) is not None and int(text) <= 1000000


def _is_call_timeout(text: str) -> bool:
    return text == "none" or (_is_straggler_wait(text) and float(text) >= 1)


CHECKS: dict[str, Callable[[str], bool]] = {
    "--collectives": _is_collectives,
    "--replicas": _one_of("1", "2", "3"),
    "--replica-hosts": _one_of("apart", "shared"),
    "--on-replica-loss": _one_of("end-plane", "stand-in"),
    "--verify": _one_of("none", "all-to-all", "msg-plus-hash", "async", "async-hash"),
    "--clocks": _one_of("decided", "own"),
    "--system": _one_of("decided", "own"),
    "--on-corruption": _one_of("abort", "report"),
    "--on-unverified": _one_of("go-on", "wait", "abort"),
    "--commit-output": _one_of("first", "voted"),
    "--shadow-lag": _is_shadow_lag,
    "--straggler-wait": _is_straggler_wait,
    "--call-timeout": _is_call_timeout,
    "--on-call-timeout": _one_of("report", "end", "abort"),
    "--on-loss": _one_of("continue", "error", "restart"),
    "--max-restarts": _is_count,
    "--short-life": _is_seconds,
    "--spares": _is_count,
    "--spare-hosts": _is_count,
    "--checkpoint-code": lambda text: re.fullmatch(r"copy|xor:([2-9]|1[0-6])", text) is not None,
    "--files-every": lambda text: _is_count(text) and int(text) > 0,
    "--on-unanswered": _one_of("handler", "ignore", "abort"),
    "--missing": _is_missing,
    "--sum": _one_of("any", "reproducible"),
    "--log-level": _one_of("error", "warning", "info", "debug"),
    "--transport": _one_of("auto", "shm", "tcp"),
    "--network": _is_network,
    "--radix": _is_radix,
    "--heartbeat-period": _is_milliseconds,
    "--heartbeat-timeout": _is_milliseconds,
}
