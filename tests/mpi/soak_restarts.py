"""Programs that are started again (--on-loss restart) while their ranks are killed at any moment.

Each run is a stencil in C, or in Python, with checkpoints in files of its own or in our memory; a
program in Fortran with the latter; a program that takes a checkpoint in each step, with copies or a
code; or a kernel or a rod of heat without checkpoints, which begins anew. Most of them run on
MPICH and on Intel MPI, too. Of some the next life stands by, and blows fall on its ranks as well.
The number of ranks is drawn from its seed, and so are three or four blows (blows.py). Whatever
falls, the result has the same bits as an undisturbed run, and nothing of any life is left. `make
soak` runs it; --runs 1 --first SEED makes one run again.
"""

import atexit
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import fortran
import jobs
import other_mpis
import soak_kinds
from blows import Blows

OPTIONS = ["--on-loss", "restart", "--short-life", "0", "--max-restarts", "100"]
EXAMPLES = jobs.BUILD / "examples"
_STENCIL, _KERNEL = r"after \d+ steps: .*", r"digest=[0-9a-f]{16}"
_results: dict[tuple[str, int], str] = {}
_killed = Counter[str]()


@dataclass(frozen=True)
class Kind:
    """A program: its words, of which `{folder}` is one of its own, and what its result looks like.

    `quick`: with the same result, but without pauses.
    """

    words: Sequence[str | Path]
    quick: Sequence[str | Path]
    result: str
    options: Sequence[str] = ()
    ranks: Sequence[int] = (2, 4, 6)
    mpi: Path | None = None
    """Where it is; nothing: Open MPI."""

    def run(
        self,
        ranks: int,
        folder: str,
        options: Sequence[str] = (),
        meanwhile: Callable[[jobs.Job], None] = lambda _: None,
        *,
        is_quick: bool = False,
    ) -> jobs.Ended:
        program = self._program(folder, is_quick)
        if self.mpi is None:
            return jobs.resprout_run(ranks, program, options, meanwhile=meanwhile)
        named = [*options, *other_mpis.options(self.mpi)]
        # mpi4py takes the library that is named so.
        variables = {"MPI4PY_LIBMPI": str(self.mpi / "lib" / "libmpi.so.12")}
        return jobs.resprout_run(ranks, program, named, variables, meanwhile)

    def _program(self, folder: str, is_quick: bool) -> list[str | Path]:
        words = self.quick if is_quick else self.words
        return [self._word(word, folder) for word in words]

    @property
    def stands_by(self) -> bool:
        return "--standby" in self.options

    def _word(self, word: str | Path, folder: str) -> str | Path:
        if word == "{kept.f90}":
            return _kept_in_fortran()
        if self.mpi is not None and isinstance(word, Path) and word.is_relative_to(jobs.BUILD):
            return other_mpis.compiled(jobs.ROOT / f"{word.relative_to(jobs.BUILD)}.c")
        return folder if word == "{folder}" else word


@cache
def _kept_in_fortran() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fortran-"))
    atexit.register(shutil.rmtree, folder)
    source = jobs.ROOT / "tests" / "fortran" / "compiled" / "kept.f90"
    return fortran.compiled(source, folder, uses_resprout=True)


def _stencil(program: Sequence[str | Path], size: Sequence[str], pause: str, *options: str) -> Kind:
    return Kind([*program, *size, pause], [*program, *size, "0"], _STENCIL, options)


def _lasting(*options: str) -> Kind:
    words = [jobs.PROGRAMS / "lasting", "40", "2048"]
    return Kind(words, words, r"result \w+", options)


def _anew(result: str, name: str, *words: str) -> Kind:
    program = [EXAMPLES / name, *words]
    return Kind(program, program, result, ranks=(2, 4))


PROGRAMS = {
    "c": _stencil([EXAMPLES / "stencil" / "stencil", "{folder}"], ["1000", "20"], "2000"),
    "python": _stencil(
        [sys.executable, jobs.ROOT / "examples" / "stencil" / "stencil.py", "{folder}"],
        ["400", "20"], "0.005",
    ),
    "memory": _stencil([EXAMPLES / "stencil" / "memory"], ["1000", "20"], "2000"),
    "memory-python": _stencil(
        [sys.executable, jobs.ROOT / "examples" / "stencil" / "memory.py"], ["400", "20"], "0.005"
    ),
    "memory-fortran": Kind(["{kept.f90}"], ["{kept.f90}"], _STENCIL),
    "standby": _stencil([EXAMPLES / "stencil" / "memory"], ["1000", "20"], "4000", "--standby"),
    "standby-python": _stencil(
        [sys.executable, jobs.ROOT / "examples" / "stencil" / "memory.py"], ["400", "20"], "0.01",
        "--standby",
    ),
    "standby-fortran": Kind(["{kept.f90}"], ["{kept.f90}"], _STENCIL, ["--standby"]),
    "lasting": _lasting(),
    "lasting-code": _lasting("--checkpoint-code", "xor:3"),
    "cg": _anew(_KERNEL, "kernels/cg", "A", "2"),
    "ep": _anew(_KERNEL, "kernels/ep", "A", "5"),
    "ft": _anew(_KERNEL, "kernels/ft", "A", "2"),
    "is": _anew(_KERNEL, "kernels/is", "A", "2"),
    "lu": _anew(_KERNEL, "kernels/lu", "A", "2"),
    "mg": _anew(_KERNEL, "kernels/mg", "A", "2"),
    "heat": _anew(r"\S+ units of heat in \d+ cells", "heat/heat", "1500"),
}  # fmt: skip
PROGRAMS |= {
    f"{name}-{library}": replace(kind, mpi=prefix)
    for library, prefix in {"mpich": other_mpis.MPICH, "intel": other_mpis.INTEL_MPI}.items()
    for name, kind in PROGRAMS.items()
    # Their wheels have nothing for Fortran.
    if not name.endswith("-fortran")
}


def result_of(name: str, ranks: int) -> str:
    """Of an undisturbed run."""
    kind = PROGRAMS[name]
    if (name, ranks) not in _results:
        with tempfile.TemporaryDirectory(prefix="stencil-") as folder:
            ended = kind.run(ranks, folder, is_quick=True)
        _results[name, ranks] = find_result(kind, ended)
    return _results[name, ranks]


def find_result(kind: Kind, ended: jobs.Ended) -> str:
    """That of each life that came to it: the last rank may be killed behind the last line."""
    found = set(re.findall(kind.result, ended.out))
    assert ended.status == 0 and len(found) == 1, str(ended)
    return str(found.pop())


def run(name: str, seed: int) -> int:
    kind = PROGRAMS[name]
    draw = random.Random(f"{name} {seed}")
    ranks = draw.choice(kind.ranks)
    blows = Blows(draw, ranks)
    expected = result_of(name, ranks)
    with tempfile.TemporaryDirectory(prefix="stencil-") as folder:
        ended = kind.run(ranks, folder, [*OPTIONS, *kind.options], blows.fall)
    _killed.update(ranks=blows.killed, checkpoints=blows.in_checkpoints)
    assert find_result(kind, ended) == expected, str(ended)
    lives = ended.report["lives"]
    for before, after in pairwise(lives):
        assert before["how"] == "lost", str(ended)
        assert kind.stands_by or before["ended_ns"] <= after["started_ns"], str(ended)
    assert len(lives) > 1 or blows.killed == 0 or kind.stands_by, str(ended)
    return len(lives) - 1


KINDS = {name: partial(run, name) for name in PROGRAMS}

if __name__ == "__main__":
    status = soak_kinds.main(sys.argv[1:], __doc__, KINDS, 8, "restarts")
    print(f"{_killed['ranks']} ranks killed, {_killed['checkpoints']} of them in a checkpoint")
    sys.exit(status)
