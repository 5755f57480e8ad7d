"""What the paper measured: Lazy Fault Detection for Redundant MPI, Tables 5.1 and 5.2.

Seconds "across the entire execution of the mpirun command" (section 5.1). Every copy had cores of
its own: what each figure compares with is the one of Open MPI without replication. Figures 5.1 and
5.2 are the lines with 64 processes of Environment 1, 5.3 and 5.4 those with 16 of Environment 2.
"""

from collections.abc import Iterator
from dataclasses import dataclass

_METHODS = ("all-to-all", "async", "msg-plus-hash", "async-hash")
FIGURES = {1: 64, 2: 16}
"""The number of processes in the figures of each environment."""

# Benchmark, class, processes; then 1x, and 2x and 3x by method, in the order of the tables.
_TABLE_5_1 = """
BT B  36  61.52 215.25  399.67  82.90 117.56  67.48  67.85  60.50  58.52
BT B  64  73.87 213.82  359.82  82.49 100.39  94.36  92.53  72.14  79.85
BT B 121  80.09 187.13  317.48  83.76  99.33  97.28 118.70  90.29 104.34
CG C  32  86.42 578.17  968.71 205.40 318.80 198.54 220.15 146.73 130.29
CG C  64 172.92 614.23 1078.34 213.96 344.13 247.40 294.24 174.54 169.72
CG C 128 295.35 646.69 1157.28 193.90 233.12 374.68 414.55 285.29 282.79
EP D  32 175.99 177.17  178.62 178.52 179.82 178.48 178.82 180.12 176.64
EP D  64  91.01  91.17   90.89  91.32  90.10  91.56  90.84  91.28  91.36
EP D 128  46.54  48.20   49.15  48.79  48.84  48.35  51.95  48.56  55.09
IS D  32 263.10 560.24  898.02 541.45 858.65 297.12 299.30 293.88 289.61
IS D  64 185.63 366.21  595.17 314.80 491.52 189.01 268.07 171.37 177.29
IS D 128 150.14 276.94  445.46 194.10 296.71 286.60 259.64 140.73 147.41
LU B  32  33.03  91.49  207.56  45.51  65.78  40.52  49.17  51.90  52.29
LU B  64  26.90 114.72  227.96  43.75  61.68  67.61  87.09  49.82  54.92
LU B 128  56.33 139.93  267.97  53.19  54.42 127.32 152.41  81.20  90.10
SP B  36 117.11 374.56  634.59 143.82 200.20 120.28 115.75 100.76  99.30
SP B  64 148.76 404.16  688.51 153.46 182.74 176.59 174.46 138.23 146.89
SP B 121 144.59 306.32  495.65 147.35 160.74 169.78 214.90 160.69 188.91
"""
_TABLE_5_2 = """
BT B 16 101.53 200.01 321.81 132.35 163.10 118.72 120.64 113.11 113.53
BT B 36  97.61 222.97 377.83  88.75 117.35 114.59 129.21  99.96 101.78
CG C 16 163.95 429.28 779.35 299.17 406.45 199.04 219.87 191.56 191.86
CG C 32 186.25 478.98 885.79 180.65 253.85 214.59 255.85 154.78 153.66
EP C 16  41.22  41.45  41.24  41.06  41.58  41.06  41.20  41.07  41.19
EP C 32  21.07  21.46  21.73  21.24  41.51  21.31  21.38  21.27  21.43
FT B 16  53.47 100.08 155.93  97.66 145.12  56.01  55.78  55.93  56.19
FT B 32  58.90  63.51  96.13  57.73  83.59  35.46  35.52  35.84  35.62
IS C 16  24.50  53.80  82.62  52.34  78.46  28.81  28.79  29.11  28.59
IS C 32  29.24  36.03  57.47  32.22  47.58  19.36  19.58  18.94  19.82
LU B 16  99.51 153.07 225.65 211.55 240.66 133.15 139.17 216.30 219.76
LU B 32  54.88 140.33 214.05 153.09 182.45  94.03  98.24 187.82 192.84
SP A 16  84.22 203.52 323.69  75.24 101.08 116.84 124.69  86.09  87.60
SP A 36  97.48 223.61 363.09  58.05  75.27 120.10 131.23 101.64 105.27
"""


@dataclass(frozen=True)
class Published:
    """One number of a table."""

    environment: int
    benchmark: str
    problem: str
    """NPB's class."""
    processes: int
    degree: int
    method: str
    """Empty with degree 1."""
    seconds: float


def _rows(environment: int, table: str) -> Iterator[Published]:
    for line in table.strip().splitlines():
        benchmark, problem, processes, *numbers = line.split()
        about = (environment, benchmark.lower(), problem, int(processes))
        cases = [(1, "")] + [(degree, method) for method in _METHODS for degree in (2, 3)]
        for (degree, method), seconds in zip(cases, map(float, numbers), strict=True):
            yield Published(*about, degree, method, seconds)


PUBLISHED = (*_rows(1, _TABLE_5_1), *_rows(2, _TABLE_5_2))


def seconds_of(
    environment: int, benchmark: str, processes: int, degree: int, method: str = ""
) -> float:
    """One number. REQUIRES: it is in the tables."""
    key = (environment, benchmark, processes, degree, method)
    (row,) = (
        row
        for row in PUBLISHED
        if (row.environment, row.benchmark, row.processes, row.degree, row.method) == key
    )
    return row.seconds


def ratio_in_figures(environment: int, benchmark: str, degree: int, method: str) -> float | None:
    """The height of a bar of Figures 5.1 to 5.4; nothing where the paper has none."""
    processes = FIGURES[environment]
    if not any(r.environment == environment and r.benchmark == benchmark for r in PUBLISHED):
        return None
    plain = seconds_of(environment, benchmark, processes, 1)
    return seconds_of(environment, benchmark, processes, degree, method) / plain
