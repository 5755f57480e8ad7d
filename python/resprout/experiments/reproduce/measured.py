"""Figures that are measurements: of real processes of this machine, by `resprout bench`."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence

from resprout.errors import UserError
from resprout.experiments.reproduce.experiment import Row
from resprout.launch import processes


def bench_rows(bench: str, options: Sequence[str]) -> list[Row]:
    """The rows of such a bench; it says itself why, if it does not come to an end."""
    words = [sys.executable, "-m", "resprout", "bench", bench, "--format", "json", *options]
    # A terminal on stderr sees its bar.
    done = subprocess.run(
        words, stdout=subprocess.PIPE, check=False,
        preexec_fn=lambda: processes.end_with_parent(signal.SIGTERM),
    )  # fmt: skip
    if done.returncode != 0:
        raise UserError(f"`resprout bench {bench}` ended with status {done.returncode}")
    rows: list[Row] = json.loads(done.stdout)["rows"]
    return rows
