"""`resprout demo`: the example `pi`, in C and in Python, loses two of its eight processes.

Both programs stand in the package, so that no compiler is needed.
"""

import math
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from resprout.errors import UserError

RANKS = 8
# Rank 0 is nobody special.
FAULTS = ("kill:rank=0,at=allreduce#150", "kill:rank=5,at=allreduce#300")
# One estimate in two million is further off than this, by chance.
_ERRORS_MAX = 5.0

_ANSWER = re.compile(r"pi is about ([0-9.]+) \+- ([0-9.]+) \(([0-9]+) points")


def demo() -> int:
    """Status 0: the programs came to the right answer."""
    folder = Path(__file__).resolve().parent / "demo_programs"
    compiled, script = folder / "pi", folder / "pi.py"
    for path in (compiled, script):
        if not path.exists():
            raise UserError(f"the demo needs {path}; `make demo` in the source tree builds it")
    status = _show([str(compiled)])
    if find_spec("mpi4py") is None:
        print("\nThe same in Python needs mpi4py: `pip install 'resprout[mpi]'`.", flush=True)
        return status
    return max(status, _show([sys.executable, str(script)]))


def _show(program: list[str]) -> int:
    arguments = ["run", "-n", str(RANKS)]
    for fault in FAULTS:
        arguments += ["--inject", fault]
    arguments += ["--", *program]
    print(f"\n$ resprout {shlex.join(arguments)}", flush=True)
    command = [sys.executable, "-m", "resprout", *arguments]
    job = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False
    )
    print(job.stdout, end="")
    print(f"exit status {job.returncode}; {_judge(job.stdout)}", flush=True)
    return max(job.returncode, 0 if is_right(job.stdout) else 1)


def is_right(output: str) -> bool:
    """Whether the estimate is as close to pi as that many points promise."""
    answer = _ANSWER.search(output)
    if answer is None:
        return False
    return abs(float(answer[1]) - math.pi) < _ERRORS_MAX * float(answer[2])


def _judge(output: str) -> str:
    answer = _ANSWER.search(output)
    if answer is None:
        return "there is no answer"
    distance = abs(float(answer[1]) - math.pi)
    verdict = "right" if is_right(output) else "WRONG"
    return f"the answer is {verdict}: off by {distance:.6f}, where {answer[2]} is to be expected"
