"""Fuzzes every parser in turns for as long as one likes, each turn with another seed.

    python tests/fuzz/soak.py --minutes 10 --seed 7

What breaks a parser stays in build/fuzz; the command that repeats it is printed, and the exit
status is 1.
"""

import argparse
import re
import sys
import time
from collections import Counter

import fuzzers

TURN_SECONDS = 20.0
CHANGED = re.compile(r"(\d+) changed ones")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    if not fuzzers.is_built():
        print("no fuzzers: the compiler cannot report what code is reached")
        return 0
    end = time.monotonic() + 60 * given.minutes
    seed, failures = given.seed, 0
    inputs: Counter[str] = Counter()
    while (left := end - time.monotonic()) > 0:
        for target in fuzzers.TARGETS:
            seconds = min(TURN_SECONDS, left / len(fuzzers.TARGETS))
            ended = fuzzers.run(target, fuzzers.CORPUS / target, seconds=seconds, seed=seed)
            failures += ended.status != 0
            inputs[target] += sum(map(int, CHANGED.findall(ended.said)))
            said = str(ended) if ended.status else ended.said
            print(f"{target}, seed {seed}: {said}", end="", file=sys.stderr, flush=True)
        seed += 1
    for target, count in inputs.items():
        print(f"{target}: {count:,} changed inputs")
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
