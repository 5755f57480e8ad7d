"""Replicated programs whose planes are held up, each for moments in turn, over and over.

Each run is a program, a method of verification, 2 or 3 replicas, 2 to 6 ranks and how far a plane
may be ahead, all drawn from its seed. While it runs, one plane after the other is stopped for up to
a fifth of a second. It has to end well, with all planes whole and nobody accused. `make soak` runs
it; --runs 1 --first SEED makes one run again.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import jobs
import pytest
from resprout.progress import progress_bar

METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]
LAGS = ["none", "2", "20", "64KiB"]  # of lazy ones
EXAMPLES = jobs.BUILD / "examples"
PROGRAMS = [
    [jobs.PROGRAMS / "flips"],
    [EXAMPLES / "pi" / "pi", "200", "20000"],
    [EXAMPLES / "heat" / "heat"],
    [jobs.PROGRAMS / "decisions"],
    [jobs.PROGRAMS / "wildcards"],
    [jobs.PROGRAMS / "under_way", "many"],
    *([EXAMPLES / "kernels" / name] for name in ("cg", "ep", "ft", "is", "lu", "mg")),
]
_REPLICA = "RESPROUT_REPLICA="


# Of a rank whose MPI library is through its own MPI_Init, which may sleep for a minute if it is
# stopped.
_LIFELINE = "resprout-life"


def replica_of(pid: int) -> int | None:
    """The plane of a process of a job, once it is one of its ranks and has its lifeline."""
    with suppress(OSError):
        threads = Path(f"/proc/{pid}/task").glob("*/comm")
        if not any(thread.read_text().startswith(_LIFELINE) for thread in threads):
            return None
        words = Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
        return next((int(w.removeprefix(_REPLICA)) for w in words if w.startswith(_REPLICA)), None)
    return None


def hold_up(job: jobs.Job, replicas: int, draw: random.Random, is_over: threading.Event) -> None:
    """One plane after the other."""
    plane = 0
    while not is_over.wait(draw.uniform(0, 0.1)):
        plane = (plane + 1) % replicas
        held = [pid for pid in job.processes() if replica_of(pid) == plane]
        for what, pause in ((signal.SIGSTOP, draw.uniform(0, 0.2)), (signal.SIGCONT, 0.0)):
            for pid in held:
                with suppress(ProcessLookupError):
                    os.kill(pid, what)
            time.sleep(pause)


def held_up(seed: int) -> jobs.Ended:
    """One run; raises AssertionError if it does not end as it should."""
    draw = random.Random(seed)
    replicas, ranks = draw.choice([2, 3]), draw.randint(2, 6)
    method, program = draw.choice(METHODS), draw.choice(PROGRAMS)
    if "kernels" in str(program[0]):
        ranks = draw.choice([2, 4])  # theirs are powers of two
    options = ["--replicas", str(replicas), "--verify", method, "--heartbeat-timeout", "20000"]
    if method.startswith("async"):
        options += ["--shadow-lag", draw.choice(LAGS)]
    is_over = threading.Event()
    holders: list[threading.Thread] = []

    def meanwhile(job: jobs.Job) -> None:
        holder = threading.Thread(target=hold_up, args=(job, replicas, draw, is_over))
        holders.append(holder)
        holder.start()

    try:
        ended = jobs.resprout_run(ranks, program, options, meanwhile=meanwhile)
    finally:
        is_over.set()
        for holder in holders:
            holder.join()
    assert ended.status == 0, str(ended)
    assert ended.report["corruptions"] == [], str(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole"] * replicas, str(ended)
    done = ended.report["verification"]
    assert done["verified"] > 0, str(ended)
    assert done["unverified"] == 0, str(ended)
    return ended


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=1, help="the first run's seed")
    options = parser.parse_args(words)
    began, failed, verified = time.monotonic(), 0, 0
    with progress_bar(work=options.runs, things=options.runs, name="runs with replicas") as shown:
        for seed in range(options.first, options.first + options.runs):
            try:
                verified += held_up(seed).report["verification"]["verified"]
            except (AssertionError, pytest.fail.Exception) as error:
                failed += 1
                print(f"seed {seed}: {error}", file=sys.stderr)
            shown.advance(1, 1)
    seconds = time.monotonic() - began
    print(f"{options.runs} runs, {verified} messages and collectives verified, {seconds:.0f} s")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
