"""What `resprout reproduce` does: simulates what is missing, judges, draws, writes."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from resprout.errors import UserError
from resprout.experiments.campaign.workers import core_count
from resprout.experiments.reproduce import page
from resprout.experiments.reproduce.claims import Claim, summary, text_of
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.paper import ALL, Paper
from resprout.experiments.reproduce.scale import Scale
from resprout.experiments.reproduce.store import Store
from resprout.files import replacing

FORMATS = ("table", "json")
_STATUS_STOPPED = 1
_STATUS_INTERRUPTED = 130

Results = list[tuple[Experiment, list[Row], list[Claim]]]


def papers() -> Mapping[str, Paper]:
    from resprout.experiments.reproduce.corrected_trees.paper import CORRECTED_TREES
    from resprout.experiments.reproduce.ftco.paper import FTCO
    from resprout.experiments.reproduce.lazy_replication.paper import LAZY_REPLICATION
    from resprout.experiments.reproduce.membership.paper import MEMBERSHIP
    from resprout.experiments.reproduce.revoke.paper import REVOKE

    every = (CORRECTED_TREES, FTCO, MEMBERSHIP, REVOKE, LAZY_REPLICATION)
    return {paper.name: paper for paper in every}


def compare_with(program: Path, name: str, figure: str, format: str) -> int:
    """Case by case, with the simulator that the authors of a paper have published."""
    from resprout.experiments.reproduce.corrected_trees.against import against
    from resprout.experiments.reproduce.corrected_trees.paper import CORRECTED_TREES

    if name != CORRECTED_TREES.name or figure != ALL:
        raise UserError(f"--against: only `{CORRECTED_TREES.name}` has it, without a figure")
    _check_format(format)
    return against(program, format)


def _check_format(format: str) -> None:
    if format not in FORMATS:
        raise UserError(f"--format: {format!r} is not valid; give {', '.join(FORMATS)}")


def reproduce(
    name: str, figure: str, output: Path, is_full: bool, format: str, cores: int | None
) -> int:
    if name not in papers():
        raise UserError(f"{name!r} is no paper that can be reproduced; give {', '.join(papers())}")
    paper = papers()[name]
    experiments = paper.chosen(figure)
    _check_format(format)
    folder = output / paper.name
    try:
        with _writable(folder):
            study = Study(Store(folder / "runs", cores or core_count()), Scale(is_full))
            results = run(experiments, study, folder)
            if figure == ALL:
                command = ["resprout", "reproduce", name, figure, "--output", str(output)]
                text = page.markdown(
                    paper.title,
                    shlex.join([*command, *(["--full"] if is_full else [])]),
                    study.store.seconds,
                    paper.remarks,
                    [(experiment, claims) for experiment, _, claims in results],
                    paper.name,
                )
                with replacing(output / f"{paper.name}.md") as path:
                    path.write_text(text, encoding="utf-8")
    except KeyboardInterrupt:
        print(f"resprout: interrupted; {_GOES_ON.format(folder)}", file=sys.stderr)
        return _STATUS_INTERRUPTED
    except OSError as error:
        problem = f"{folder} cannot be written: {error.strerror or error}"
        print(f"resprout: {problem}; {_GOES_ON.format(folder)}", file=sys.stderr)
        return _STATUS_STOPPED
    claims = [claim for _, _, claims in results for claim in claims]
    _PRINTERS[format](claims)
    if format == "table":
        print(f"\n{summary(claims)}; see {folder}")
    return 0


_GOES_ON = "what was simulated is in {}, the same command goes on from there"


def run(experiments: Sequence[Experiment], study: Study, folder: Path) -> Results:
    """All simulations first, as one piece of work; then what they say."""
    study.store.simulate(
        campaign for experiment in experiments for campaign in experiment.campaigns(study)
    )
    results: Results = []
    for experiment in experiments:
        rows = experiment.rows(study)
        claims = list(experiment.claims(study, rows))
        page.write_data(experiment, rows, folder)
        page.write_picture(experiment, rows, folder)
        results.append((experiment, rows, claims))
    return results


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """Refuses before anything is simulated; leaves no folder behind that has nothing in it."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / "probe") as path:
            path.touch()
        (folder / "probe").unlink()
    except OSError as error:
        raise UserError(f"--output: {folder} cannot be written: {error.strerror}") from error
    try:
        yield
    finally:
        with suppress(OSError):
            for path in missing:
                path.rmdir()


def _print_json(claims: list[Claim]) -> None:
    """One object a claim, one claim a line."""
    for claim in claims:
        print(json.dumps(claim.as_json(), ensure_ascii=False))


def _print_table(claims: list[Claim]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not sys.stdout.isatty():
        console.width = 200
    table = Table("", "claim", "paper", "ours", "", "runs", box=box.SIMPLE_HEAD, pad_edge=False)
    table.columns[-1].justify = "right"
    for claim in page.side_by_side(claims):
        is_plain = claim.verdict in ("within", "circular")
        verdict = Text(claim.verdict, style="" if is_plain else "bold red")
        text = f"as {claim.reading}: {claim.claim}" if claim.reading else claim.claim
        cells = (text, text_of(claim.paper), text_of(claim.ours))
        runs = f"{claim.sample_size:,}"
        table.add_row(claim.figure, *(Text(cell) for cell in cells), verdict, runs)
    console.print(table)


_PRINTERS = {"table": _print_table, "json": _print_json}
