"""Tables 5.1 and 5.2 of Lazy Fault Detection for Redundant MPI, beside what was measured here.

As a program it rewrites what stands between the two marks of docs/lab/replication.md. Nothing is
measured: ours are the figures of that page, the paper's are those of its tables. Both are ratios,
to one copy with cores of its own in the paper, and to the limit here.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from resprout.experiments.bench.replication.paper import PUBLISHED, Published, seconds_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "lab" / "replication.md"
BEGIN = "<!-- beside the paper -->"
END = "<!-- end of beside the paper -->"
METHODS = ("all-to-all", "async", "msg-plus-hash", "async-hash")
DEGREES = (2, 3)

Ratios = dict[tuple[str, int, str], float]
"""Ours, by kernel, degree and method."""
Line = tuple[int, str, str, int]
"""Of a table: environment, benchmark, class, processes."""


def ours(page: str) -> Ratios:
    """The first table of the page whose columns are replicas, kernel and methods."""
    found: Ratios = {}
    names: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[:2] == ["replicas", "kernel"]:
            names = cells
        elif names and not line.startswith("|"):
            break
        elif names and cells[0].isdigit() and not cells[1].startswith("all"):
            row = dict(zip(names, cells, strict=True))
            for method in METHODS:
                found[row["kernel"], int(row["replicas"]), method] = float(row[method])
    return found


def lines_of_paper() -> list[Line]:
    keys = ((r.environment, r.benchmark, r.problem, r.processes) for r in PUBLISHED)
    return list(dict.fromkeys(keys))


def ratio(row: Published) -> float:
    return row.seconds / seconds_of(row.environment, row.benchmark, row.processes, 1)


def table(degree: int, found: Ratios) -> Iterator[str]:
    yield "| kernel | where | one copy, s | " + " | ".join(METHODS) + " |"
    yield "|---|---|---:|" + "---:|" * len(METHODS)
    every = lines_of_paper()
    for kernel in sorted({benchmark for _, benchmark, _, _ in every}):
        for environment, benchmark, problem, processes in every:
            if benchmark != kernel:
                continue
            about = (environment, benchmark, processes)
            alone = seconds_of(*about, 1)
            cells = [f"{seconds_of(*about, degree, m) / alone:.2f}" for m in METHODS]
            where = f"environment {environment}, class {problem}, {processes} processes"
            yield f"| {kernel} | {where} | {alone:.2f} | " + " | ".join(cells) + " |"
        mine = [found.get((kernel, degree, method)) for method in METHODS]
        if None not in mine:
            cells = [f"**{value:.2f}**" for value in mine]
            yield f"| {kernel} | **here**, 4 ranks |  | " + " | ".join(cells) + " |"


def _shares(pairs: Sequence[tuple[float, float]]) -> str:
    return f"{sum(less < more for less, more in pairs)} of {len(pairs)}"


def sentences(found: Ratios) -> Iterator[str]:
    """What section 5.1 says of its tables, by them and by ours."""
    paper = {(r.environment, r.benchmark, r.processes, r.degree, r.method): ratio(r)
             for r in PUBLISHED if r.degree > 1}  # fmt: skip
    kernels = dict.fromkeys(kernel for kernel, _, _ in found)

    def both(less: str, more: str) -> tuple[str, str]:
        theirs = [
            (value, paper[(*key[:4], more)]) for key, value in paper.items() if key[4] == less
        ]
        mine = [(found[k, d, less], found[k, d, more]) for k in kernels for d in DEGREES]
        return _shares(theirs), _shares(mine)

    def reach(is_one: Callable[[str], bool], methods: Sequence[str]) -> tuple[str, str]:
        theirs = [v for key, v in paper.items() if is_one(key[1]) and key[4] in methods]
        mine = [v for (k, _, m), v in found.items() if is_one(k) and m in methods]
        return tuple(f"{min(v):.2f} to {max(v):.2f}" for v in (theirs, mine))  # type: ignore[return-value]

    yield "| section 5.1 | in the paper's tables | here |"
    yield "|---|---:|---:|"
    rows = (
        ("MsgPlusHash costs less than AllToAll", both("msg-plus-hash", "all-to-all")),
        ("Async alleviates the overhead of AllToAll", both("async", "all-to-all")),
        ("AsyncHash alleviates that of MsgPlusHash", both("async-hash", "msg-plus-hash")),
        ("EP: negligible fixed overhead, any method", reach(lambda k: k == "ep", METHODS)),
        (
            "BT, CG, IS, SP: AsyncHash is comparable to one copy",
            reach(lambda k: k in ("bt", "cg", "is", "sp"), ("async-hash",)),
        ),
    )
    for name, (theirs, mine) in rows:
        yield f"| {name} | {theirs} | {mine} |"


def section(page: str) -> str:
    found = ours(page)
    lines = ["How often the one is quicker, or between which ratios they are:", ""]
    lines += sentences(found)
    for degree in DEGREES:
        lines += ["", f"With {degree} replicas:", "", *table(degree, found)]
    return "\n".join(lines)


def rewritten(page: str) -> str:
    """The page with the section as it should be. REQUIRES: it has both marks."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{section(page)}\n{END}{tail}"


def main() -> int:
    PAGE.write_text(rewritten(PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
