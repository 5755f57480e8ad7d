"""`resprout reproduce`: what it refuses, what it leaves, and how claims are judged."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from resprout import pictures
from resprout.cli import main
from resprout.experiments.campaign.plan import Point
from resprout.experiments.reproduce import command as command_module
from resprout.experiments.reproduce.claims import PRINTED, RUN, is_maximum_of, summary
from resprout.experiments.reproduce.command import papers, run
from resprout.experiments.reproduce.experiment import Study
from resprout.experiments.reproduce.gossip import (
    GossipTimes,
    checked_gossip,
    opportunistic_gossip,
    optimal_latency,
)
from resprout.experiments.reproduce.scale import Scale
from resprout.experiments.reproduce.store import Store, campaign

SIMULATE = "resprout.experiments.campaign.workers.simulate"
NAMES = [experiment.name for experiment in papers()["corrected-trees"].experiments]
FTCO_NAMES = [experiment.name for experiment in papers()["ftco"].experiments]
MEMBERSHIP_NAMES = [experiment.name for experiment in papers()["membership"].experiments]
REVOKE_NAMES = [experiment.name for experiment in papers()["revoke"].experiments]
KEYS = {"figure", "claim", "reading", "paper", "ours", "within", "circular", "sample_size"}


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command with a thousandth of its runs."""
    monkeypatch.setattr(command_module, "Scale", lambda full: Scale(full, divisor=1000))


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line with which the command refuses."""
    assert main(["reproduce", *(str(argument) for argument in arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, said.err
    return said.err


def claims_of(
    capsys: pytest.CaptureFixture[str], figure: str, output: Path
) -> list[dict[str, Any]]:
    words = ["reproduce", "corrected-trees", figure, "-o", str(output), "--format", "json"]
    assert main(words) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def bytes_of(folder: Path, pattern: str) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob(pattern))}


def test_every_figure_has_a_name_and_the_help_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    assert main(["reproduce", "--help"]) == 0
    said = capsys.readouterr().out
    names = [*NAMES, *FTCO_NAMES, *MEMBERSHIP_NAMES, *REVOKE_NAMES, "all"]
    assert [name for name in names if name not in said] == []
    wanted = {"fig1b", "fig6", "fig7", "fig8", "fig9", "fig10", "fig14", "table1", "lemmas"}
    assert wanted <= set(NAMES)


def test_what_is_not_there_is_refused_and_what_is_there_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    line = refusal(capsys, "corrected-trees", "fig99", "-o", tmp_path / "out")
    assert "'fig99'" in line
    assert [name for name in [*NAMES, "all"] if name not in line] == []
    assert "give corrected-trees, ftco, membership, revoke, lazy-" in refusal(
        capsys, "corrected-forests"
    )
    assert "docs/explanation/protocols/membership.md" in refusal(capsys, "membership", "fig3")
    assert "table, json" in refusal(capsys, "corrected-trees", "lemmas", "--format", "xml")
    assert "--cores" in refusal(capsys, "corrected-trees", "lemmas", "--cores", "0")
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_simulated(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        "resprout.experiments.campaign.workers.simulate", lambda *_: pytest.fail("simulated")
    )
    file = tmp_path / "file"
    file.write_text("")
    for output in (file, file / "below", Path("/proc/nothing")):
        line = refusal(capsys, "corrected-trees", "lemmas", "-o", output)
        assert "--output" in line
        assert str(output) in line
    assert list(tmp_path.iterdir()) == [file]


def test_a_figure_leaves_pictures_data_and_one_json_object_a_claim(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    claims = claims_of(capsys, "lemmas", tmp_path / "out")
    assert len(claims) > 15
    for claim in claims:
        assert set(claim) == KEYS
        assert claim["figure"] == "lemmas"
        assert isinstance(claim["within"], bool)
        assert claim["sample_size"] > 0
    folder = tmp_path / "out" / "corrected-trees"
    assert sorted(path.name for path in folder.iterdir()) == [
        "lemmas.parquet",
        "lemmas.pdf",
        "lemmas.png",
        "lemmas.svg",
        "runs",
    ]
    assert pq.read_table(folder / "lemmas.parquet").num_rows == 120
    assert (folder / "lemmas.svg").read_text().rstrip().endswith("</svg>")
    assert (folder / "lemmas.svg").stat().st_size < 150_000
    assert (folder / "lemmas.png").read_bytes().startswith(b"\x89PNG")
    assert b"/FontFile2" in (folder / "lemmas.pdf").read_bytes()


def test_the_table_says_of_each_claim_whether_it_is_within(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    claims = claims_of(capsys, "lemmas", tmp_path)
    assert main(["reproduce", "corrected-trees", "lemmas", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    within = sum(claim["within"] for claim in claims)
    assert f"{within} of {len(claims)} claims hold" in said
    assert said.count("outside") >= len(claims) - within


def test_nothing_is_simulated_twice_and_what_is_lost_is_made_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = claims_of(capsys, "lemmas", tmp_path)
    files = bytes_of(tmp_path, "*.*")
    lost = sorted(tmp_path.rglob("part-*.parquet"))[-1]
    lost.unlink()
    (tmp_path / "corrected-trees" / "lemmas.svg").unlink()
    assert claims_of(capsys, "lemmas", tmp_path) == first
    assert bytes_of(tmp_path, "*.*") == files
    monkeypatch.setattr(
        "resprout.experiments.campaign.workers.simulate", lambda *_: pytest.fail("simulated")
    )
    assert claims_of(capsys, "lemmas", tmp_path) == first


def test_a_stop_keeps_what_was_simulated_and_leaves_nothing_half_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    words = ["reproduce", "corrected-trees", "lemmas", "-o", str(tmp_path)]
    folder = tmp_path / "corrected-trees"
    for error, status in ((KeyboardInterrupt(), 130), (OSError(28, "No space left on device"), 1)):

        def stop(*_: object, error: BaseException = error) -> bytes:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(pictures, "encode", stop)
            assert main(words) == status
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert "the same command goes on from there" in said.err
        assert sorted(path.name for path in folder.iterdir()) == ["lemmas.parquet", "runs"]
    monkeypatch.setattr(
        "resprout.experiments.campaign.workers.simulate", lambda *_: pytest.fail("simulated")
    )
    assert main(words) == 0


def test_other_results_in_the_folder_are_refused_and_left_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    claims_of(capsys, "lemmas", tmp_path)
    before = bytes_of(tmp_path, "part-*")
    monkeypatch.setattr("resprout.experiments.campaign.dataset.__version__", "9.9")
    assert "was made by version" in refusal(capsys, "corrected-trees", "lemmas", "-o", tmp_path)
    assert bytes_of(tmp_path, "part-*") == before


@pytest.mark.parametrize(
    ("name", "procs_max"),
    [
        ("corrected-trees", 16384),
        ("ftco", 4096),
        ("membership", 64),
        ("revoke", 1000),
        ("lazy-replication", 16),
    ],
)
def test_all_figures_of_small_samples_end_to_end(tmp_path: Path, name: str, procs_max: int) -> None:
    """Verdicts mean little here; that all is simulated, judged, drawn and said does."""
    paper = papers()[name]
    names = [experiment.name for experiment in paper.experiments]
    study = Study(Store(tmp_path / "runs", 2), Scale(divisor=1000), procs_max)
    results = run(paper.experiments, study, tmp_path)
    assert [experiment.name for experiment, _, _ in results] == names
    for experiment, rows, claims in results:
        assert rows
        assert claims
        assert {claim.figure for claim in claims} == {experiment.name}
        assert len({(claim.claim, claim.reading) for claim in claims}) == len(claims)
        as_printed, as_run = ({c.claim for c in claims if c.reading == r} for r in (PRINTED, RUN))
        assert as_printed == as_run
        for ending in ("svg", "png", "pdf", "parquet"):
            assert (tmp_path / f"{experiment.name}.{ending}").stat().st_size > 0
    text = command_module.page.markdown(
        paper.title,
        "resprout",
        61.0,
        paper.remarks,
        [(experiment, claims) for experiment, _, claims in results],
        "folder",
    )
    every = [claim for _, _, claims in results for claim in claims]
    assert f"**{summary(every)}.**" in " ".join(text.split())
    words = ("within", "**outside**", "**open**", "circular")
    verdicts = sum(text.count(f"| {word} |") for word in words)
    # Headers of columns are words, too.
    headers = 0 if any(claim.reading for claim in every) else 1
    headers += any(claim.is_circular for claim in every)
    assert verdicts == len(every) + headers
    assert "1 min 1 s" in text
    for experiment in paper.experiments:
        assert f"(folder/{experiment.name}.svg)" in text


def test_without_faults_ftco_takes_what_the_authors_public_results_say(tmp_path: Path) -> None:
    """Latencies of their best_radix.csv, of several roots with k-nomial trees."""
    from resprout.experiments.reproduce.ftco.fig7 import FIG7

    study = Study(Store(tmp_path / "runs", 2), Scale(), procs_max=2048)
    study.store.simulate(FIG7.campaigns(study))
    latency = {
        (row["procs"], row["k"]): row["latency"]
        for row in FIG7.rows(study)
        if (row["tree"], row["roots"]) == ("knomial", "multi")
    }
    published = {2: 228, 3: 145, 4: 126, 6: 108, 8: 114, 10: 100, 11: 99, 12: 100, 16: 110, 18: 116}
    assert {k: latency[1024, k] for k in published} == published
    assert latency[2048, 12] == min(value for (procs, _), value in latency.items() if procs == 2048)


def test_a_maximum_is_judged_by_what_samples_of_one_distribution_do() -> None:
    generator = random.Random(1)

    def sample(size: int) -> list[int]:
        return [int(generator.expovariate(1.0) * 10) for _ in range(size)]

    verdicts = [is_maximum_of(max(sample(5000)), sample(5000), 5000) for _ in range(60)]
    assert sum(verdicts) >= 55
    ours = sample(5000)
    ours.sort()
    assert not is_maximum_of(ours[-50], ours, 5000)
    assert not is_maximum_of(3 * ours[-1], ours, 5000)
    assert is_maximum_of(ours[-1], ours, 5000)


def test_gossip_times_are_the_best_of_those_tried(tmp_path: Path) -> None:
    store = Store(tmp_path, 2)
    gossip = GossipTimes(store, Scale(divisor=10), 1024)
    time = gossip.checked[1024]
    tried = campaign(
        "around",
        [Point(checked_gossip(t), 1024) for t in (time - 6, time, time + 6)],
        200,
    )
    store.simulate([tried])
    sql = "SELECT protocol, avg(quiescence_latency) AS mean FROM runs GROUP BY ALL ORDER BY mean"
    assert f"time={time}," in store.ask(tried, sql)[0][0]
    assert set(gossip.opportunistic) == {256, 1024}
    for procs, least in gossip.opportunistic.items():
        shorter = campaign(
            f"shorter_{procs}",
            [Point(opportunistic_gossip(least - 3), procs)],
            300,
        )
        store.simulate([shorter])
        assert store.ask(shorter, "SELECT max(uncolored) FROM runs")[0][0] > 0


def test_the_optimal_latency_is_that_of_the_optimal_tree() -> None:
    from resprout import native

    for procs in (2, 3, 16, 17, 100, 1024, 65536):
        spec = "corrected-tree:tree=optimal,correction=none"
        run = native.Simulation(spec, procs=procs).run()
        assert run["coloring_latency"] == optimal_latency(procs)


def test_bars_of_the_mean_and_of_shares_are_wider_for_fewer_runs() -> None:
    from resprout.experiments.reproduce.corrected_trees.opportunistic import probable
    from resprout.experiments.reproduce.ftco.inactive import error_of_mean

    assert error_of_mean({"deviation": 10.0, "runs": 100}) == pytest.approx(1.96)
    assert error_of_mean({"deviation": 10.0, "runs": 400}) == pytest.approx(0.98)
    few, many = probable(1, 10), probable(100, 1000)
    assert few[0] < many[0] < 0.1 < many[1] < few[1]
    # Wilson (1927): 1 of 10.
    assert few == pytest.approx((0.0179, 0.4042), abs=5e-4)


def test_figures_with_chance_in_them_have_bars() -> None:
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure
    from resprout.experiments.reproduce.ftco.fig8 import FIG8
    from resprout.experiments.reproduce.ftco.fig10 import FIG10

    rows = [
        {"procs": procs, "faults": dying, "penalty": 9.0, "deviation": 2.0, "runs": 4}
        | {"inactive": dead, "dying": dying, "latency": 90.0}
        for procs in (1024, 4096)
        for dead in (0, 1, 10, 100)
        for dying in (0, 1, 10, 100)
    ]
    for experiment, bars in ((FIG8, 3), (FIG10, 16)):
        figure = Figure()
        experiment.draw(figure, rows)
        drawn = [c for c in figure.axes[0].containers if isinstance(c, ErrorbarContainer)]
        assert len(drawn) == bars
