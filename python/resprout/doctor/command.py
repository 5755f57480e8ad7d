"""What `resprout doctor` does."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from resprout import __version__
from resprout.doctor.calibration import check_calibration
from resprout.doctor.check import Check, Verdict
from resprout.doctor.machine import check_machine
from resprout.doctor.probes import check_by_trying
from resprout.doctor.table import Row, all_rows, show
from resprout.errors import UserError
from resprout.launch.mpi import (
    Library,
    Mpi,
    Setting,
    find_mpi,
    names_hosts,
    one_host_settings,
    settings_for,
)
from resprout.launch.shim import built_for, check_fits, name_for, shim_for
from resprout.options import check_environment

SCHEMA = 1
_RANKS = 8  # of the job for which the settings are shown
# Says where the MPI library is that came along.
_LOAD = r"""
import ctypes, re, sys
ctypes.CDLL(sys.argv[1])
with open("/proc/self/maps") as maps:
    print(*sorted(set(re.findall(r"/\S*/libmpi\.so\S*", maps.read()))))
"""
_STYLES = {
    Verdict.GOOD: "green",
    Verdict.DOUBTFUL: "yellow",
    Verdict.NOT_TRIED: "yellow",
    Verdict.BAD: "bold red",
}


def doctor(prefix: str | None, wants_json: bool) -> int:
    """Status 1: something does not work."""
    try:
        mpi = find_mpi(prefix, os.environ)
    except UserError as error:
        checks = [Check("MPI", Verdict.BAD, str(error))]
        return _conclude(None, [], checks, [], wants_json)
    settings = settings_for(mpi, _RANKS)
    settings += [] if names_hosts(mpi, os.environ) else one_host_settings(mpi)
    checks = []
    for check in _examine(mpi):
        checks.append(check)
        if not wants_json:
            _print(check)
    return _conclude(mpi, settings, checks, all_rows(prefix), wants_json)


def _examine(mpi: Mpi) -> Iterator[Check]:
    yield Check("MPI", Verdict.GOOD, f"{mpi} in {mpi.prefix}")
    yield _tolerance(mpi)
    shim, check = _check_shim(mpi)
    yield check
    yield _check_variables()
    yield from check_calibration(mpi, os.environ)
    yield from check_machine()
    yield from check_by_trying(mpi, shim)


def _tolerance(mpi: Mpi) -> Check:
    """What is known of this library; what it does is tried."""
    name = "can lose ranks"
    if mpi.library is Library.OPEN_MPI and mpi.has_ulfm:
        text = "it has ULFM, which that needs; whether it does is tried below"
        return Check(name, Verdict.GOOD, text)
    if mpi.library is Library.OPEN_MPI and mpi.major >= 5:
        text = "in part, it is said: without ULFM a native receive from the dead waits for ever"
        return Check(name, Verdict.DOUBTFUL, text)
    texts = {
        Library.OPEN_MPI: "no: Resprout needs Open MPI 5",
        Library.MPICH: "yes: Resprout starts its ranks on one host, as its launcher would end them",
        Library.INTEL_MPI: "yes: Resprout starts its ranks on one host, and ends them after a loss "
        "without the library's MPI_Finalize, which waits for the lost",
        Library.UNKNOWN: "unknown: this launcher is none that Resprout knows",
    }
    verdict = Verdict.GOOD if mpi.is_started_by_us else Verdict.DOUBTFUL
    return Check(name, verdict, texts[mpi.library])


def _check_shim(mpi: Mpi) -> tuple[Path | None, Check]:
    name = name_for(mpi)
    try:
        shim = shim_for(mpi)
        if shim is None:
            text = f"there is none for {mpi}: its jobs end at a loss, or start again"
            return None, Check(name, Verdict.DOUBTFUL, text)
        check_fits(shim, mpi)
    except UserError as error:
        return None, Check(name, Verdict.BAD, str(error))
    # In a process of its own: loading it brings the whole MPI library along.
    load = [sys.executable, "-c", _LOAD, str(shim)]
    paths = [str(mpi.prefix / "lib"), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(paths)}
    done = subprocess.run(load, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        return None, Check(name, Verdict.BAD, f"{shim} cannot be loaded: {why}")
    text = f"{shim}, with {done.stdout.strip() or built_for(shim)}"
    return shim, Check(name, Verdict.GOOD, text)


def _check_variables() -> Check:
    try:
        check_environment(os.environ)
    except UserError as error:
        return Check("environment", Verdict.BAD, str(error))
    ours = sorted(name for name in os.environ if name.startswith("RESPROUT_"))
    text = f"set: {', '.join(ours)}" if ours else "nothing of ours is set"
    return Check("environment", Verdict.GOOD, text)


def _print(check: Check) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False, soft_wrap=True)
    style = _STYLES[check.verdict]
    console.print(
        f"[{style}]{check.verdict.value:9}[/{style}]  {check.name:20} {escape(check.text)}"
    )


def _conclude(
    mpi: Mpi | None,
    settings: Iterable[Setting],
    checks: list[Check],
    rows: Sequence[Row],
    wants_json: bool,
) -> int:
    is_well = all(check.verdict is not Verdict.BAD for check in checks)
    if wants_json:
        said = _to_json(mpi, settings, checks, is_well)
        print(json.dumps({**said, "mpis": [row.to_json() for row in rows]}, indent=2))
    else:
        if mpi is None:
            for check in checks:
                _print(check)
        if rows:
            show(rows)
        print(f"\nset by `resprout run` for {_RANKS} ranks; your own value of a variable stays:")
        for setting in settings:
            print(f"      {setting}\n          {setting.reason}")
        is_tried = all(check.verdict is not Verdict.NOT_TRIED for check in checks)
        good = "all is well" if is_tried else "nothing is wrong so far, but not all could be tried"
        print(f"\n{good}" if is_well else "\nnot everything works here")
    return 0 if is_well else 1


def _to_json(
    mpi: Mpi | None, settings: Iterable[Setting], checks: Iterable[Check], is_well: bool
) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "resprout": __version__,
        "ok": is_well,
        "mpi": None
        if mpi is None
        else {
            "library": mpi.library.value,
            "version": mpi.version,
            "prefix": str(mpi.prefix),
            "launcher": str(mpi.launcher),
            "has_ulfm": mpi.has_ulfm,
        },
        "settings": [{"set": str(s), "reason": s.reason} for s in settings],
        "checks": [{"name": c.name, "verdict": c.verdict.value, "text": c.text} for c in checks],
    }
