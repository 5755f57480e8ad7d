"""The figures of README.md, taken from docs/lab/benchmarks.md: `make bench` writes both.

As a program it rewrites README.md. What stands between the two marks there is not written by hand.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "lab" / "benchmarks.md"
README = ROOT / "README.md"
BEGIN = "<!-- figures of make bench -->"
END = "<!-- end of figures -->"
SIZES = ("8 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "1 MiB", "4 MiB")
FUNCTIONS = ("alltoall", "allgather", "gather", "scatter", "scan", "reduce_scatter", "ialltoall")
BETWEEN_HOSTS = ("allreduce", "bcast", "reduce", "alltoall", "allgather")

Table = dict[str, list[str]]


def section(page: str, *headings: str) -> str:
    """What stands below the headings, each inside of the one before; empty: there is none."""
    for heading in headings:
        level = heading.split()[0]
        _, _, rest = page.partition(f"\n{heading}\n")
        lines = []
        for line in rest.splitlines():
            if line.startswith("#") and len(line.split()[0]) <= len(level):
                break
            lines.append(line)
        page = "\n" + "\n".join(lines)
    return page


def table(text: str) -> Table:
    """The first table: its rows by their first cell, without it and without what makes bold."""
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip().strip("*") for cell in row] for row in rows]
    return {row[0]: row[1:] for row in cells}


def ratios(page: str, heading: str) -> list[list[str]]:
    """By size, for each number of ranks: every fourth cell."""
    found = table(section(page, "## Collectives without a loss", heading))
    return [found[size][3::4] for size in SIZES]


def markdown_table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---:|" * len(head)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def between_hosts(page: str) -> Iterator[str]:
    """The same of jobs on several hosts, if the page has them."""
    hosts = section(page, "## Between hosts")
    names = [line[4:] for line in hosts.splitlines() if line.startswith("### ") and "hosts" in line]
    if not names:
        return
    yield f"Between {names[0]} each, network namespaces on the same 2 cores, over TCP:"
    yield ""
    found = table(section(hosts, f"### {names[0]}"))
    sizes = [cell.partition(":")[0] for cell in found["function"] if cell.endswith("auto")]
    kept = [name for name in BETWEEN_HOSTS if name in found]
    rows = [[size, *(found[name][4 * i + 2] for name in kept)] for i, size in enumerate(sizes)]
    yield from markdown_table(["size", *kept], rows)
    yield ""


def figures(page: str) -> str:
    about = dict(line[2:].split(": ", 1) for line in page.splitlines() if line.startswith("- "))
    words = [
        f"`make bench` at {about['commit']} on an {about['processor']}, {about['mpi']}. Calls back",
        "to back without a loss: Resprout's time divided by that of the same MPI without it (below",
        "1: Resprout is faster).",
    ]
    text = fill(" ".join(words))
    counts = ["P=2", "P=4", "P=8", "P=16"]
    both = zip(
        SIZES,
        ratios(page, "### bcast, calls back to back"),
        ratios(page, "### allreduce, calls back to back"),
        strict=True,
    )
    head = ["size", f"bcast {counts[0]}", *counts[1:], f"allreduce {counts[0]}", *counts[1:]]
    lines = [text, "", *markdown_table(head, [[s, *b, *a] for s, b, a in both]), ""]
    lines += ["The same for other functions, P=4:", ""]
    every = table(section(page, "## Every collective without a loss", "### P=4"))
    sizes = [cell.partition(":")[0] for cell in every["function"] if cell.endswith("Resprout")]
    rows = [[size, *(every[f][3 * i + 2] for f in FUNCTIONS)] for i, size in enumerate(sizes)]
    lines += [*markdown_table(["size", *FUNCTIONS], rows), "", *between_hosts(page)]
    kills, _, middle, _ = table(section(page, "## From a kill to completion"))["all"][1:]
    last = f"From a SIGKILL until the last of 8 ranks has its result: {middle} in the median of "
    lines.append(fill(f"{last}{kills} kills."))
    return "\n".join(lines)


def fill(text: str) -> str:
    """In lines of the width of the docs."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > 120:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def rewritten(readme: str, page: str) -> str:
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{figures(page)}\n{END}{after}"


def main() -> int:
    README.write_text(rewritten(README.read_text(), PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
