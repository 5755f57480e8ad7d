"""What `resprout timeline` does: simulates one run, chooses what to show, draws, writes."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from resprout.errors import UserError
from resprout.files import replacing
from resprout.pictures import FORMATS
from resprout.sim.runs import Experiment
from resprout.timeline.layout import Layout
from resprout.timeline.ranks import interesting_ranks, parse_ranks
from resprout.timeline.story import Story

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A traced run is held in memory, message by message; this many take about 1.5 GB.
PROCS_MAX = 1 << 18


def draw_timeline(experiment: Experiment, ranks: str | None, output: Path) -> int:
    """One run, that of the experiment's first seed; nothing is written if anything is wrong."""
    format = output.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        endings = " or ".join(f".{known}" for known in FORMATS)
        raise UserError(f"--output: {str(output)!r} does not end in {endings}")
    story, shown = _told(experiment, ranks)
    # Slow to import, and of no use to any other command.
    from resprout.timeline.draw import render

    layout = Layout(story, shown, experiment.overhead)
    picture = render(layout, experiment.spec, caption(experiment, story, shown), format)
    try:
        with replacing(output) as unfinished:
            unfinished.write_bytes(picture)
    except OSError as error:
        raise UserError(f"--output: {output} cannot be written: {error.strerror}") from error
    print(f"{output}: {len(shown)} of {story.procs} processes, {story.end} ticks")
    return 0


def figure(experiment: Experiment, ranks: str | None) -> "Figure":
    """The same picture, for a notebook."""
    from resprout.timeline.draw import drawn

    story, shown = _told(experiment, ranks)
    layout = Layout(story, shown, experiment.overhead)
    return drawn(layout, experiment.spec, caption(experiment, story, shown))


def _told(experiment: Experiment, ranks: str | None) -> tuple[Story, list[int]]:
    """The run of the experiment's first seed, and whom to show of it."""
    if experiment.procs > PROCS_MAX:
        raise UserError(
            f"--procs: {experiment.procs} is too many for a timeline; up to {PROCS_MAX}"
        )
    named = None if ranks is None else parse_ranks(ranks, experiment.procs)
    (run,) = replace(experiment, runs=1, wants_trace=True).run_all()
    story = Story(run, _operation(experiment.spec), experiment.root)
    return story, interesting_ranks(story) if named is None else named


def _operation(spec: str) -> str:
    from resprout import native

    name = spec.partition(":")[0]
    return next(p["operation"] for p in native.protocols() if p["name"] == name)


def caption(experiment: Experiment, story: Story, shown: list[int]) -> str:
    """The parameters of the run, and what was measured."""
    run = story.run
    given = [f"P = {story.procs}", f"L = {experiment.latency}", f"o = {experiment.overhead} ticks"]
    if experiment.gap:
        given.append(f"g = {experiment.gap} ticks")
    given += [f"root {experiment.root}"] if story.operation != "allreduce" else []
    first = experiment.faults.rstrip(",")
    faults = [text for text in (first, *experiment.fail_at) if text != "none"]
    given.append(f"faults {' '.join(faults) or 'none'}")
    given.append(f"seed {experiment.seed}")
    found = []
    if run["coloring_latency"] is not None and story.finished:
        found.append(f"coloring latency {run['coloring_latency']} ticks")
    if "completion_latency" in run:
        found.append(f"completion latency {run['completion_latency']} ticks")
    found.append(f"quiescence latency {run['quiescence_latency']} ticks")
    found.append(f"{run['messages']} messages")
    if run["g_max"] is not None:
        found.append(f"longest gap {run['g_max']}")
    if run.get("contributors") is not None:
        found.append(f"{run['contributors']} contributors")
    if run["uncolored"]:
        found.append(f"{run['uncolored']} live ones did not finish")
    lines = [", ".join(given), "; ".join(found)]
    if len(shown) < story.procs:
        lines.append(_shown_part(story, shown))
    return "\n".join(lines)


def _shown_part(story: Story, shown: list[int]) -> str:
    parts = [f"Shown: {len(shown)} of {story.procs} processes"]
    for ranks, words in ((set(story.died), "dead"), (story.repaired, "live in gaps")):
        if ranks:
            parts.append(f"{len(ranks & set(shown))} of {len(ranks)} {words}")
    return ", ".join(parts)
