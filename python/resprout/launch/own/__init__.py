"""Our own launcher, for MPI libraries whose launcher ends a job at its first loss."""

import sys
from pathlib import Path

# The package is found wherever this one is, and nothing else that is called so.
_RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from resprout.launch.own.ranks import main
sys.exit(main())
"""


def own_launcher(is_alone: bool) -> list[str]:
    """The beginning of its command line. `is_alone`: ranks run without libresprout.so."""
    package = Path(__file__).resolve().parents[3]
    words = [sys.executable, "-I", "-S", "-c", _RUN, str(package)]
    return [*words, "--alone"] if is_alone else words
