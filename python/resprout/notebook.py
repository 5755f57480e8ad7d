"""Simulations as tables and figures, for notebooks and scripts.

from resprout.notebook import campaign, query, simulate, timeline
runs = simulate("corrected-tree:correction=checked", 1024, faults="1%", runs=100)
runs.to_pandas().coloring_latency.describe()

Tables are Arrow's (`pip install 'resprout[campaign]'`), figures matplotlib's (`resprout[plot]`).
What is wrong with an argument is a `resprout.errors.UserError`, in one line.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resprout.extras import need

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from resprout.sim.runs import Experiment


def simulate(
    spec: str,
    procs: int,
    *,
    latency: int = 2,
    overhead: int = 1,
    gap: int = 0,
    root: int = 0,
    faults: str = "none",
    fail_at: Sequence[str] = (),
    seed: int = 0,
    runs: int = 1,
    late: str = "none",
    initiators: str = "root",
    noise: str = "none",
) -> "pa.Table":
    """Simulates `runs` operations of the protocol `spec` among `procs` processes: a row each.

    The arguments are the options of `resprout sim`, and so are the columns. Run i has the seed
    `seed` + i, and equal arguments give equal rows.
    """
    need("a table of runs", "campaign")
    import pyarrow as pa

    experiment = _experiment(
        spec, procs, latency, overhead, gap, root, faults, fail_at, seed, runs,
        late=late, initiators=initiators, noise=noise,
    )  # fmt: skip
    return pa.Table.from_pylist([dict(run) for run in experiment.run_all()])


def timeline(
    spec: str,
    procs: int,
    *,
    latency: int = 2,
    overhead: int = 1,
    gap: int = 0,
    root: int = 0,
    faults: str = "none",
    fail_at: Sequence[str] = (),
    seed: int = 0,
    ranks: str | None = None,
) -> "Figure":
    """Simulates one run and draws it, as `resprout timeline` does.

    `ranks` names the processes to show, as "0-5,9"; without it the most interesting ones.
    """
    need("a timeline", "plot")
    from resprout.timeline.command import figure

    experiment = _experiment(spec, procs, latency, overhead, gap, root, faults, fail_at, seed, 1)
    return figure(experiment, ranks)


def campaign(
    plan: str | Path | Mapping[str, Any], folder: str | Path, *, jobs: int | None = None
) -> "pa.Table":
    """Simulates all combinations of parameters, as `resprout campaign` does: a row for each run.

    `plan` is a TOML file, or what would stand in one. The results are kept in `folder`. If they are
    there already nothing is simulated again, and after an interruption the same call goes on.
    `jobs` is the number of cores; without it all.
    """
    need("a campaign", "campaign")
    from resprout.experiments.campaign.command import complete
    from resprout.experiments.campaign.plan import plan_of, read_plan

    what = plan_of(plan) if isinstance(plan, Mapping) else read_plan(Path(plan))
    complete(what, Path(folder), jobs, None)
    return query("SELECT * FROM runs", folder)


def query(sql: str, *sources: str | Path) -> "pa.Table":
    """Asks the results of campaigns, by SQL (DuckDB's), as `resprout query` does.

    The table `runs` has the rows of all files and folders that are named.
    """
    need("a query", "campaign")
    from resprout.experiments.campaign.query import answered

    with answered(sql, [Path(source) for source in sources]) as answer:
        return answer.to_arrow_table()


def _experiment(
    spec: str,
    procs: int,
    latency: int,
    overhead: int,
    gap: int,
    root: int,
    faults: str,
    fail_at: Sequence[str],
    seed: int,
    runs: int,
    late: str = "none",
    initiators: str = "root",
    noise: str = "none",
) -> "Experiment":
    from resprout.sim.runs import Experiment

    return Experiment(
        spec, procs, latency, overhead, gap, root, faults, list(fail_at), seed, runs,
        late=late, initiators=initiators, noise=noise,
    )  # fmt: skip
