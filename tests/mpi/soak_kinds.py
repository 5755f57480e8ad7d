"""The command line of a soak that has several kinds of runs, each drawn from its seed."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping

import pytest
from resprout.progress import progress_bar


def main(
    words: list[str],
    about: str | None,
    kinds: Mapping[str, Callable[[int], int]],
    runs: int,
    what: str,
) -> int:
    """Each kind with `runs` seeds, whatever fails; a run says how many `what` there were."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--runs", type=int, default=runs, help="of each kind")
    parser.add_argument("--kind", choices=list(kinds), action="append", help="these alone")
    parser.add_argument("--first", type=int, default=1, help="the first run's seed")
    options = parser.parse_args(words)
    failed = 0
    for kind in options.kind or kinds:
        run, began, count = kinds[kind], time.monotonic(), 0
        with progress_bar(work=options.runs, things=options.runs, name=f"runs of {kind}") as shown:
            for seed in range(options.first, options.first + options.runs):
                try:
                    count += run(seed)
                except (AssertionError, pytest.fail.Exception) as error:
                    failed += 1
                    print(f"{kind} with seed {seed}: {error}", file=sys.stderr)
                shown.advance(1, 1)
        seconds = time.monotonic() - began
        print(f"{kind}: {options.runs} runs, {count} {what}, {seconds:.0f} s", flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0
