"""What a reproduction leaves besides data: pictures, and a page with the verdict on each claim."""

import os
import platform
import textwrap
from collections.abc import Iterable
from pathlib import Path

from resprout import __version__, pictures
from resprout.experiments.reproduce.claims import (
    PRINTED,
    RUN,
    Claim,
    Reading,
    read_as,
    summary,
    text_of,
)
from resprout.experiments.reproduce.experiment import Experiment, Row
from resprout.files import replacing

# Of a caption in the picture.
_LETTERS_PER_INCH = 19


def write_picture(experiment: Experiment, rows: list[Row], folder: Path) -> None:
    from matplotlib.figure import Figure

    for format in pictures.FORMATS:
        with pictures.settings():
            figure = Figure(figsize=experiment.size, facecolor="white", layout="constrained")
            experiment.draw(figure, rows)
            for axes in figure.axes:
                axes.spines[["top", "right"]].set_visible(False)
            figure.suptitle(experiment.title, x=0.01, ha="left", weight="bold", size=10)
            lines = textwrap.fill(experiment.caption, int(experiment.size[0] * _LETTERS_PER_INCH))
            figure.supxlabel(lines, x=0.01, ha="left", size=7, color=pictures.FAINT_TEXT)
            picture = pictures.encode(figure, format, experiment.title, experiment.caption)
        with replacing(folder / f"{experiment.name}.{format}") as path:
            path.write_bytes(picture)


def write_data(experiment: Experiment, rows: list[Row], folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with replacing(folder / f"{experiment.name}.parquet") as path:
        pq.write_table(pa.Table.from_pylist(rows), path)


def markdown(
    title: str,
    command: str,
    seconds: float,  # of simulating; 0: campaigns had no part in it
    remarks: Iterable[str],
    results: list[tuple[Experiment, list[Claim]]],
    folder: str,
) -> str:
    """The page; its pictures are in `folder` beside it."""
    every = [claim for _, claims in results for claim in claims]
    lines = [f"# {title}", ""]
    written = f"Written by `{command}`, Resprout {__version__}"
    took = f"; over all calls, simulating took {_duration(seconds)} on {_machine()}"
    lines += [_filled(f"{written}{took if seconds > 0 else ''}.")]
    lines += ["", _filled(" ".join([f"**{summary(every)}.**", *remarks])), ""]
    lines += _overview(results)
    for experiment, claims in results:
        lines += ["", f"## {experiment.title}", ""]
        lines += [f"![{experiment.title}]({folder}/{experiment.name}.svg)", ""]
        lines += [_filled(experiment.caption), ""]
        lines += ["| claim | paper | ours | | within means | runs |", "|---|---|---|---|---|---:|"]
        lines += [_row(claim) for claim in side_by_side(claims)]
    return "\n".join(lines) + "\n"


def _filled(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _overview(results: list[tuple[Experiment, list[Claim]]]) -> list[str]:
    """A line for each figure; two columns more if something is judged in two readings."""
    has_two = any(claim.reading for _, claims in results for claim in claims)
    readings: list[Reading] = [PRINTED, RUN] if has_two else [PRINTED]
    has_circular = any(claim.is_circular for _, claims in results for claim in claims)
    names = ["claims", "within", "outside", "open"]
    if has_two:
        names = ["claims", *(f"{name}, as {r}" for r in readings for name in names[1:])]
    names += ["circular"] if has_circular else []
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for experiment, claims in results:
        anchor = "".join(c for c in experiment.title.lower() if c.isalnum() or c in " -_")
        link = f"[{experiment.title}](#{anchor.replace(' ', '-')})"
        cells = [len(read_as(claims, PRINTED))]
        for reading in readings:
            found = [claim.verdict for claim in read_as(claims, reading)]
            cells += [found.count(verdict) for verdict in ("within", "outside", "open")]
        if has_circular:
            cells.append(sum(claim.is_circular for claim in claims))
        lines.append(f"| {link} | {' | '.join(map(str, cells))} |")
    return lines


def side_by_side(claims: list[Claim]) -> list[Claim]:
    """Both readings of a claim one below the other."""
    places = {claim.claim: place for place, claim in reversed(list(enumerate(claims)))}
    return sorted(claims, key=lambda claim: places[claim.claim])


def _row(claim: Claim) -> str:
    is_plain = claim.verdict in ("within", "circular")
    verdict = claim.verdict if is_plain else f"**{claim.verdict}**"
    runs = f"{claim.sample_size:,}"
    text = f"*as {claim.reading}:* {claim.claim}" if claim.reading else claim.claim
    cells = (text, text_of(claim.paper), text_of(claim.ours), verdict, claim.rule, runs)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _machine() -> str:
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores of {names[0] if names else platform.machine()}"
