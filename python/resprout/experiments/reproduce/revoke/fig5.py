"""Figure 5: an allreduce by the size of its message; and how much durations vary (section 4.4).

Bytes and the time of computing on them are nothing that a LogP machine has. So real processes of
this machine show them, by `resprout bench revoke`. How durations vary is simulated, among 6,000
processes with noise.
"""

from typing import TYPE_CHECKING

from resprout import pictures
from resprout.experiments.reproduce.claims import Claims
from resprout.experiments.reproduce.experiment import Experiment, Row, Study
from resprout.experiments.reproduce.measured import bench_rows
from resprout.experiments.reproduce.revoke.benchmark import LATENCIES, NORMAL, REVOKED, by_machine
from resprout.experiments.reproduce.revoke.benchmark import benchmark_rows as simulated_rows
from resprout.experiments.reproduce.revoke.fig4 import by_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZES = (8, 64, 512, 4096, 32768, 262144, 1 << 20, 1 << 22)
_LARGE = 1 << 20
_SMALL = 512
_RANKS = 4
_SIMULATED, _MEASURED = "simulated", "measured"
_OURS, _ULFM = "resprout", "ulfm"
# "Of the same magnitude": half an order of magnitude either way.
_MAGNITUDE = 3.0
_FACTOR = 1.5


def _measured(study: Study) -> list[Row]:
    is_sample = study.scale.divisor > 1
    sizes = (8, 1024, _LARGE) if is_sample else _SIZES
    ranks = 2 if is_sample else _RANKS
    repetitions = 2 if is_sample else study.scale.runs(100, 2000)
    words = ["--ranks", str(ranks), "--sizes", ",".join(map(str, sizes))]
    words += ["--repetitions", str(repetitions)]
    name = f"sizes-{ranks}-{len(sizes)}-{repetitions}"
    return study.store.keep(name, lambda: bench_rows("revoke", words))


def _rows(study: Study) -> list[Row]:
    rows = [
        {
            "source": _MEASURED,
            "way": row["way"],
            "bytes": row["bytes"],
            "latency": 0,
            "operation": operation,
            "duration": float(row[column]),
            "deviation": 0.0,
            "runs": row["samples"],
        }
        for row in _measured(study)
        if row["operation"] == "allreduce"
        for operation, column in ((NORMAL, "before_us"), (REVOKED, "revoked_us"), (1, "after_1_us"))
    ]
    simulated = [row for row in simulated_rows(study, by_size(study)) if row["plan"] == "allreduce"]
    largest = max(row["procs"] for row in simulated)
    rows += [
        {
            "source": _SIMULATED,
            "way": _OURS,
            "bytes": 0,
            "latency": row["latency"],
            "operation": row["operation"],
            "duration": float(row["duration"]),
            "deviation": float(row["deviation"]),
            "runs": row["runs"],
        }
        for row in simulated
        if row["procs"] == largest
    ]
    return rows


def _claims(study: Study, rows: list[Row]) -> Claims:
    claims = Claims("fig5")
    ours = [row for row in rows if row["source"] == _MEASURED and row["way"] == _OURS]
    runs = sum(row["runs"] for row in ours)
    found = {(row["bytes"], row["operation"]): row["duration"] for row in ours}
    sizes = sorted({row["bytes"] for row in ours})
    revoked = {size: found[size, REVOKED] / found[sizes[0], REVOKED] for size in sizes}
    below = max(ratio for size, ratio in revoked.items() if size < _LARGE)
    claims.less(
        "the duration of the Revoked AllReduce remains independent of the message size until 1MB "
        "or more (the longest below 1 MiB, of that of 8 bytes)",
        "1",
        below,
        _FACTOR,
        runs,
        rule="less than half longer",
    )
    absorbed = max(found[size, 1] / found[size, NORMAL] for size in sizes if size > _SMALL)
    claims.less(
        "as soon as the message size is larger than 512 bytes, the initial performance difference "
        "is absorbed (the 1st after, of a normal one, at the worst size)",
        "1",
        absorbed,
        1.25,
        runs,
        rule="less than a quarter longer, at each size; times are of shared cores",
    )
    simulated = [row for row in rows if row["source"] == _SIMULATED]
    deviation = {(r["latency"], r["operation"]): r["deviation"] for r in simulated}
    number = sum(row["runs"] for row in simulated)
    for operation, name in ((REVOKED, "Revoked"), (1, "jitter-disturbed")):
        ratios = {
            at: deviation[at, operation] / max(deviation[at, NORMAL], 1e-9) for at in LATENCIES
        }
        claims.holds(
            f"the standard deviation of {name} AllReduces is of the same magnitude as the natural "
            "one",
            1,
            by_machine(ratios),
            all(1 / _MAGNITUDE < ratio < _MAGNITUDE for ratio in ratios.values()),
            number,
            rule=f"a factor of less than {_MAGNITUDE:g}, on both machines",
        )
    return claims


def _draw(figure: "Figure", rows: list[Row]) -> None:
    by_bytes, varying = figure.subplots(1, 2)
    operations = (
        (NORMAL, "before Revoke", pictures.BLACK, "o"),
        (REVOKED, "revoked", pictures.VERMILION, "X"),
        (1, "1st after", pictures.BLUE, "s"),
    )
    for way, line in ((_OURS, "-"), (_ULFM, "--")):
        for operation, name, color, mark in operations:
            shown = [
                r
                for r in rows
                if (r["source"], r["way"], r["operation"]) == (_MEASURED, way, operation)
            ]
            by_bytes.plot(
                [row["bytes"] for row in shown],
                [row["duration"] for row in shown],
                color=color,
                marker=mark,
                markersize=4,
                linewidth=1,
                linestyle=line,
                label=f"{name}, {way}",
            )
    by_bytes.set_xscale("log", base=2)
    by_bytes.set_yscale("log")
    by_bytes.set_xlabel("bytes of the message")
    by_bytes.set_ylabel("latency of an allreduce, µs")
    by_bytes.legend(frameon=False, fontsize=6)
    for latency, mark in zip(LATENCIES, "os", strict=True):
        shown = [r for r in rows if r["source"] == _SIMULATED and r["latency"] == latency]
        varying.errorbar(
            range(len(shown)),
            [row["duration"] for row in shown],
            yerr=[row["deviation"] for row in shown],
            color=pictures.BLACK,
            marker=mark,
            markersize=4,
            linestyle="",
            capsize=3,
            label=f"L = {latency}, o = 1",
        )
        names = {NORMAL: "normal", REVOKED: "revoked"}
        varying.set_xticks(
            range(len(shown)), [names.get(r["operation"], f"after {r['operation']}") for r in shown]
        )
    varying.tick_params(axis="x", rotation=30)
    varying.set_ylim(bottom=0)
    varying.set_ylabel("latency of an allreduce, ticks")
    varying.legend(frameon=False, fontsize=7)


FIG5 = Experiment(
    "fig5",
    "Figure 5 and section 4.4: message sizes and deviations",
    "Left: real processes of this machine, the slowest rank, medians of `resprout bench revoke`. "
    "Right: simulated, 6,000 processes, noise of half a tick a receive; bars are standard "
    "deviations.",
    lambda study: [by_size(study)],
    _rows,
    _claims,
    _draw,
)
