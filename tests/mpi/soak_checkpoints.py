"""Replicated programs that take checkpoints, with random corruption and, of three planes, a loss.

Each run is a method of verification, 2 or 3 replicas, flips of messages and of protected memory,
and with three replicas sometimes the death of a process, all drawn from its seed. It has to end
with the result of a run without faults. `make soak` runs it; --runs 1 --first SEED makes one run
again.
"""

import argparse
import random
import sys
import time

import jobs
import pytest
from resprout.progress import progress_bar

METHODS = ["all-to-all", "msg-plus-hash", "async", "async-hash"]
PROGRAM = jobs.PROGRAMS / "checkpoints"
RANKS, STEPS = 3, 6
_MESSAGES = 3 * STEPS
"""That each rank sends, or one a step less."""
RESULT = [f"rank {rank}: 15034891193931364656" for rank in range(RANKS)]


def faults_of(draw: random.Random, replicas: int) -> list[str]:
    seed = draw.randrange(2**30)
    messages, memory = draw.randint(0, 4), draw.randint(0, 2)
    faults = []
    if messages:
        faults.append(f"flip:count={messages},messages={_MESSAGES},seed={seed}")
    if memory or not messages:
        faults.append(f"flip:count={memory or 1},where=memory,checkpoints={STEPS},seed={seed}")
    if replicas > 2 and draw.random() < 0.4:
        rank, replica = draw.randrange(RANKS), draw.randrange(replicas)
        faults.append(f"kill:rank={rank},replica={replica},at=allreduce#{draw.randint(1, STEPS)}")
    return faults


def come_right(seed: int) -> jobs.Ended:
    """One run; raises AssertionError if it does not end as it should."""
    draw = random.Random(seed)
    replicas = draw.choice([2, 3])
    options = ["--replicas", str(replicas), "--verify", draw.choice(METHODS)]
    for fault in faults_of(draw, replicas):
        options += ["--inject", fault]
    ended = jobs.resprout_run(RANKS, [str(PROGRAM)], options)
    assert ended.status == 0, str(ended)
    lines = sorted(ended.out.splitlines())
    # What was said of a step before it was found to be wrong may be wrong.
    assert [line for line in lines if line.startswith("rank")] == RESULT, str(ended)
    assert len(lines) == STEPS + RANKS, str(ended)
    assert "excluded" not in [plane["how"] for plane in ended.report["planes"]], str(ended)
    return ended


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=1, help="the first run's seed")
    options = parser.parse_args(words)
    began, failed, returns = time.monotonic(), 0, 0
    with progress_bar(work=options.runs, things=options.runs, name="runs that go back") as shown:
        for seed in range(options.first, options.first + options.runs):
            try:
                returns += come_right(seed).report["verification"]["returns"]
            except (AssertionError, pytest.fail.Exception) as error:
                failed += 1
                print(f"seed {seed}: {error}", file=sys.stderr)
            shown.advance(1, 1)
    seconds = time.monotonic() - began
    print(f"{options.runs} runs, planes went back {returns} times, {seconds:.0f} s")
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
