"""Counts by program, degree and method, and what is aimed at."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from resprout.experiments.bench.injection.classify import Found
from resprout.experiments.bench.injection.measure import Outcome
from resprout.experiments.bench.injection.plan import STEPS
from resprout.experiments.bench.replicated import DEGREES
from resprout.experiments.bench.verdict import Verdict

INJECTED_MIN = 1000


@dataclass(frozen=True)
class Row:
    """One program, degree and method; or all programs together."""

    program: str
    degree: int
    method: str
    is_control: bool
    """Nothing was injected."""
    found: Found

    def as_dict(self) -> dict[str, object]:
        about = {
            "program": self.program, "degree": self.degree, "method": self.method,
            "control": self.is_control,
        }  # fmt: skip
        return {**about, **asdict(self.found)}


def rows_of(outcomes: Sequence[Outcome]) -> list[Row]:
    """By degree and method; those without faults first."""
    groups: dict[tuple[bool, int, str, str], Found] = {}
    for outcome in outcomes:
        run = outcome.run
        key = (bool(run.faults), run.degree, run.method, run.program)
        groups[key] = groups.get(key, Found()) + outcome.found
    return [
        Row(program, degree, method, not has_faults, found)
        for (has_faults, degree, method, program), found in sorted(
            groups.items(), key=lambda item: item[0][:2]
        )
    ]


def total(rows: Sequence[Row]) -> Found:
    return sum((row.found for row in rows), Found())


def verdicts(rows: Sequence[Row]) -> list[Verdict]:
    """On whatever was injected."""
    injected = [row for row in rows if not row.is_control]
    all_of = total(injected)
    found = [
        Verdict(
            f"at least {INJECTED_MIN:,} injected",
            f"{all_of.injected:,}",
            all_of.injected >= INJECTED_MIN,
        )
    ]
    for degree in DEGREES:
        mine = total([row for row in injected if row.degree == degree])
        if not mine.injected:
            continue
        of = f"of {mine.injected:,}"
        detected = Verdict(
            f"{degree} replicas: all that reach a message are detected",
            f"{mine.detected:,} {of}",
            mine.missed == 0,
        )
        found.append(detected)
        if degree > 2:
            corrected = Verdict(
                f"{degree} replicas: all corrected, with the result of a job without faults",
                f"{mine.corrected:,} {of}, {mine.right_results:,} of {mine.jobs:,} results",
                mine.corrected == mine.injected and mine.right_results == mine.jobs,
            )
            found.append(corrected)
    back = total([row for row in injected if row.program == STEPS])
    if back.injected:
        corrected = Verdict(
            "with checkpoints all corrected, with any number of replicas",
            f"{back.corrected:,} of {back.injected:,}, {back.right_results:,} of {back.jobs:,} "
            "results",
            back.corrected == back.injected and back.right_results == back.jobs,
        )
        found.append(corrected)
    everything = total(rows)
    controls = total([row for row in rows if row.is_control])
    accused = Verdict(
        f"none falsely accused, in {everything.jobs:,} jobs, {controls.jobs:,} of them without "
        "faults",
        f"{everything.falsely_accused:,}",
        everything.falsely_accused == 0 and controls.right_results == controls.jobs,
    )
    return [*found, accused]
