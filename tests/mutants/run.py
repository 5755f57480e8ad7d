"""Are broken protocols found out? Runs unit tests, swarm and explorer on mutants of src/protocols.

    python tests/mutants/run.py --count 200 --seed 7
    MUTANT=17 build/mutants/bin/protocols_test

Each mutant is a change in one place (mutate.py); all of them are in one build, in build/mutants,
and the environment variable chooses one by its number. A mutant is *found* when a test fails, a
promise is broken, or a run takes ten times as long as without it. What survives is listed; the
exit status is 1 if fewer than --goal are found. Those of equivalent.toml behave as the original
does, and do not count.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import mutate

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/exhaustive"))
import test_explorer  # noqa: E402

SCENARIOS = sorted((ROOT / "tests/scenarios").glob("*.txt"))
BUILD = ROOT / "build/mutants"
TREE = BUILD / "tree"
TOOLS = ROOT / ".venv/bin"
# Explorations of so many seconds of a processor are worth it, in the first round and in the second.
SHORT, LONG = 0.5, 5.0
# What checks times and counts of messages, and takes seconds only.
SIMULATED = "*sim/steps/*,*sim/membership/*,*logp/corrections*,*logp/baselines*,*sim/shared_slots/*"
# A processor for so many seconds, 3 GiB, and no core file.
BOUNDED = 'ulimit -t "$0" -v 3145728 -c 0; exec "$@"'
# Which random and explored operations run the machines of a folder. The first words of a case of
# the explorer are the same as the swarm's, but for memberships.
REDUCTIONS = ["ftco-allreduce", "ftco-reduce", "ftco-broadcast", "native-until-loss", "agree"]
DRIVEN_BY = {
    "agreement": ["agree"],
    "broadcast": [
        "corrected-tree",
        "corrected-gossip",
        "reliable-broadcast",
        "acknowledged-tree",
        "multi-tree",
    ],
    "corrected_gossip": ["corrected-gossip", "reliable-gossip"],
    "corrected_tree": ["corrected-tree", "reliable-broadcast"],
    "correction": ["corrected-tree", "corrected-gossip", "reliable-broadcast", "corrected-reduce"],
    "failure_detector": [],
    "ftco_allreduce": [*REDUCTIONS, "reliable-broadcast"],
    "ftco_in_band": [],
    "membership": ["membership", "local-membership"],
    "reliable_broadcast": ["reliable-broadcast", "reliable-gossip"],
}


@dataclass(frozen=True)
class Hunt:
    """A command that ends with status 0 as long as no mutant is chosen."""

    command: tuple[str, ...]
    seconds: float = 0.0  # of a processor, without a mutant

    def run(self, mutant: int, seconds: float) -> tuple[int, float]:
        """Its status (negative: a signal, of which one is that of no time left), and its time."""
        program, *words = self.command
        process = subprocess.Popen(
            ["bash", "-c", BOUNDED, str(int(seconds) + 1), BUILD / "bin" / program, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MUTANT": str(mutant)},
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_utime + usage.ru_stime

    def __str__(self) -> str:
        return " ".join(
            f"'{word}'" if " " in word or "*" in word else word for word in self.command
        )


# --- the build ------------------------------------------------------------------------------------
def write(file: Path, text: str) -> None:
    """Touches nothing that stays as it is, so that little is compiled."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_text() != text:
        file.write_text(text)


def read_sources() -> dict[str, str]:
    """All that is built, as it is now: who goes on editing changes no mutant."""
    folders = ("core", "topology", "protocols", "registry", "sim")
    files = [file for folder in folders for file in ROOT.glob(f"src/{folder}/**/*.?pp")]
    return {str(file.relative_to(ROOT)): file.read_text() for file in files}


def write_tree(sources: dict[str, str], mutants: dict[int, mutate.Change]) -> None:
    TREE.mkdir(parents=True, exist_ok=True)
    for name in ("cmake", "include", "third_party", "tests"):
        if not (TREE / name).exists():
            (TREE / name).symlink_to(ROOT / name)
    for name, text in sources.items():
        own = {n: change for n, change in mutants.items() if change.file == name}
        write(TREE / name, mutate.with_mutants(name, text, own) if own else text)
    for file in TREE.glob("src/*/**/*.?pp"):
        if str(file.relative_to(TREE)) not in sources:
            file.unlink()
    write(TREE / "mutants.hpp", mutate.HEADER)
    write(TREE / "CMakeLists.txt", (Path(__file__).parent / "CMakeLists.txt").read_text())


def build(sources: dict[str, str], mutants: dict[int, mutate.Change]) -> dict[int, mutate.Change]:
    """Builds those that compile, and returns them."""
    mutants = dict(mutants)
    while True:
        write_tree(sources, mutants)
        configure = [TOOLS / "cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja"]
        configure += [f"-DCMAKE_MAKE_PROGRAM={TOOLS}/ninja", "-DCMAKE_BUILD_TYPE=Release"]
        configure += ["-DCMAKE_CXX_FLAGS_RELEASE=-O1", "--log-level=WARNING"]
        subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(
            [TOOLS / "ninja", "-C", BUILD, "-k", "0"], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return mutants
        stillborn = {int(n) for n in re.findall(r"^mutant-(\d+):\d+:\d+: error", done.stdout, re.M)}
        stillborn |= {int(n) for n in re.findall(r"from mutant-(\d+):\d+", done.stdout)}
        stillborn &= set(mutants)
        if not stillborn:
            sys.exit(f"the build fails, and not by a mutant:\n{done.stdout[-4000:]}")
        print(f"{len(stillborn)} do not compile", flush=True)
        for number in stillborn:
            del mutants[number]


# --- who looks for them ---------------------------------------------------------------------------
def protocol_of(text: str) -> str:
    """That of a case of the explorer, by the name that the swarm has for it."""
    spec = re.search(r"--spec (\S+)", text)
    assert spec is not None, text
    return "local-membership" if "views=local" in spec[1] else spec[1].split(":")[0]


def hunts(file: str, is_second: bool) -> Iterator[tuple[str, ...]]:
    """The commands that look at the machines of a file, the quickest first."""
    folder = file.split("/")[2]
    names = DRIVEN_BY.get(folder, [folder.replace("_", "-")])
    if not is_second:
        yield ("protocols_test", f"--source-file=*protocols/{folder}/*", "--abort-after=1")
    for name in names:
        runs = 4000 if is_second else 500
        seed = 1_000_001 if is_second else 1
        yield ("resprout_swarm", "--protocol", name, "--seed", str(seed), "--runs", str(runs))
    for scenario in SCENARIOS:
        if protocol_of(scenario.read_text()) in names:
            yield ("resprout_explore", "--scenario", str(scenario))
    for case in test_explorer.ALL_CASES:
        if protocol_of(case) in names:
            yield ("resprout_explore", *case.split())
    if is_second:
        yield ("protocols_test", "--abort-after=1")
        yield ("sim_test", f"--source-file={SIMULATED}", "--abort-after=1")


class Hunts:
    """What each command takes without a mutant, measured once."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, ...], float] = {}

    def of(self, file: str) -> Iterator[Hunt]:
        for is_second in (False, True):
            for command in hunts(file, is_second):
                hunt = self.measured(command)
                is_explorer = command[0] == "resprout_explore"
                if is_explorer and (hunt.seconds < SHORT) == is_second:
                    continue
                if hunt.seconds < LONG or not is_explorer:
                    yield hunt

    def measured(self, command: tuple[str, ...]) -> Hunt:
        if command not in self.known:
            limit = LONG if command[0] == "resprout_explore" else 300
            status, seconds = Hunt(command).run(0, limit)
            if status > 0:
                sys.exit(f"{Hunt(command)} fails without a mutant")
            self.known[command] = seconds if status == 0 else limit
        return Hunt(command, self.known[command])


def find(number: int, change: mutate.Change, all_hunts: Hunts) -> Hunt | None:
    """Who has found it."""
    for hunt in all_hunts.of(change.file):
        status, _ = hunt.run(number, 10 * hunt.seconds + 1)
        if status != 0:
            return hunt
    return None


# --- what came of it ------------------------------------------------------------------------------
def name_of(change: mutate.Change, sources: dict[str, str]) -> str:
    return f"{Path(change.file).name}: {change.key(sources[change.file])}"


def equivalents() -> dict[str, str]:
    text = (Path(__file__).parent / "equivalent.toml").read_text()
    return {entry["mutant"]: entry["why"] for entry in tomllib.loads(text)["equivalent"]}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200, help="so many mutants are drawn")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--minutes", type=float, default=1e9, help="begins no mutant after them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many at a time")
    parser.add_argument("--goal", type=float, default=0.95, help="the share that has to be found")
    given = parser.parse_args()
    end = time.monotonic() + 60 * given.minutes
    print(f"seed {given.seed}", flush=True)
    sources = read_sources()
    drawn = mutate.draw(sources, given.seed, given.count)
    known = equivalents()
    names = {n: name_of(change, sources) for n, change in enumerate(drawn, 1)}
    mutants = {n: it for n, it in enumerate(drawn, 1) if names[n] not in known}
    mutants = build(sources, mutants)
    all_hunts = Hunts()
    survivors, tried = [], 0

    def hunt_down(number: int) -> tuple[int, str]:
        if time.monotonic() > end:
            return number, ""
        hunter = find(number, mutants[number], all_hunts)
        return number, "survives" if hunter is None else str(hunter)

    with ThreadPoolExecutor(given.jobs) as pool:
        for number, how in pool.map(hunt_down, mutants):
            tried += how != ""
            if how == "survives":
                survivors.append(number)
            print(f"{number} {names[number]}\n    {how or 'not tried'}", flush=True)
    print("\nsurvivors:" if survivors else "\nno survivors")
    for number in survivors:
        print(f"  MUTANT={number} {names[number]}")
    found = tried - len(survivors)
    share = found / tried if tried else 0.0
    print(f"{len(drawn)} drawn, {len(drawn) - len(mutants)} equivalent or not compiling")
    print(f"{tried} mutants tried, {found} found: {share:.1%}, seed {given.seed}")
    return 0 if share >= given.goal else 1


if __name__ == "__main__":
    sys.exit(main())
