"""Our own launcher, for MPI libraries whose launcher ends a job at its first loss."""

import shutil
import sys
from pathlib import Path

# The package is found wherever this one is, and nothing else that is called so.
_RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from resprout.launch.own.ranks import main
sys.exit(main())
"""


def own_launcher(is_alone: bool, is_tagged: bool, hostfile: str | None) -> list[str]:
    """The beginning of its command line. `is_alone`: ranks run without libresprout.so. `is_tagged`:
    what they say has their numbers in front."""
    package = Path(__file__).resolve().parents[3]
    words = [sys.executable, "-I", "-S", "-c", _RUN, str(package)]
    words += ["--alone"] if is_alone else []
    words += ["--tagged"] if is_tagged else []
    if hostfile is None:
        return words
    prterun = find_prterun()
    assert prterun is not None, "launch/own/limits.py refuses that"
    return [*words, "--hosts", str(Path(hostfile).resolve()), prterun]


def find_prterun() -> str | None:
    """PRRTE's launcher, which comes with Open MPI 5: beside this Python, or in the PATH."""
    beside = Path(sys.prefix) / "bin" / "prterun"
    return str(beside) if beside.exists() else shutil.which("prterun")
