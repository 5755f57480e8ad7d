"""Random operations with random faults in an asynchronous world: every promise is kept.

All protocols, 1 to 64 processes, all roots; more than 190,000 operations in all. A failing one
prints the command that replays it.
"""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("RESPROUT_BUILD", ROOT / "build" / "release"))
RUNS = 16_000
# A run of these takes as long as two of any other, and more.
RUNS_OF_LOCAL_MEMBERSHIP = 6_000
RELIABLE = ["reliable-broadcast", "reliable-gossip"]
MAY_FAIL = ["ftco-broadcast", *RELIABLE, "membership", "local-membership"]
WITH_DETECTOR = [
    "ftco-allreduce",
    "ftco-reduce",
    "native-until-loss",
    "patient-allreduce",
    "revoke",
    "agree",
    *MAY_FAIL,
]
PROTOCOLS = [
    *WITH_DETECTOR,
    "corrected-tree",
    "corrected-gossip",
    "acknowledged-tree",
    "multi-tree",
    "corrected-reduce",
]
COUNTS = re.compile(
    r"(?P<operations>\d+) operations of (?P<processes>\d+) processes, (?P<messages>\d+) messages, "
    r"(?P<crashes>\d+) crashes \((?P<roots>\d+) of a root\), (?P<slanders>\d+) false suspicions, "
    r"(?P<failures>\d+) rightly without a result"
)


def swarm(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILD / "bin" / "resprout_swarm", *options],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def counted(protocol: str, runs: int) -> dict[str, int]:
    """What so many random operations had, all of which kept their promises."""
    done = swarm("--protocol", protocol, "--seed", "1", "--runs", str(runs))
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stdout + done.stderr
    found = COUNTS.search(done.stdout)
    assert found is not None
    counts = {name: int(count) for name, count in found.groupdict().items()}
    assert counts["operations"] == runs
    return counts


# Proposed again for ever, because somebody wanted to join since; a predecessor's proven death that
# nobody has to remember; removed as the predecessor, and never told; excluded by a message whose
# sender waits for an answer; a predecessor's proven death that was told as silence; isolated
# members for whom no time passed; a joiner whose contacts were all gone;
# one that was left behind, and took an excluded member of the next view for dead in its own.
@pytest.mark.parametrize(
    "seed",
    [76206, 51162, 2111247, 4029647, 359179397780, 900035890, 359179329804, 11654],
)
def test_what_was_found_in_memberships_with_local_views_stays_mended(seed: int) -> None:
    done = swarm("--protocol", "local-membership", "--seed", str(seed), "--runs", "1")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_random_operations_with_random_faults_keep_all_promises(protocol: str) -> None:
    runs = RUNS_OF_LOCAL_MEMBERSHIP if protocol == "local-membership" else RUNS
    counts = counted(protocol, runs)
    # The faults did happen.
    assert counts["processes"] > 10 * runs
    assert counts["crashes"] > runs
    assert counts["roots"] > runs / 20
    assert (counts["slanders"] > runs) == (protocol in WITH_DETECTOR)
    assert (counts["failures"] > 0) == (protocol in MAY_FAIL)


def test_random_exchanges_of_replicas_with_corruption_and_crashes_keep_all_promises() -> None:
    runs = 10 * RUNS
    counts = counted("digest-vote", runs)
    assert counts["processes"] > 4 * runs
    assert counts["crashes"] > runs / 2
    assert counts["slanders"] > runs / 20
    # Degree 2 cannot decide who is right; nor can anybody if too many have died.
    assert runs / 20 < counts["failures"] < runs / 2


def test_random_decisions_of_replicas_with_crashes_keep_all_promises() -> None:
    runs = 10 * RUNS
    counts = counted("decision-log", runs)
    assert counts["crashes"] > runs / 4
    assert counts["roots"] > runs / 8
    assert counts["slanders"] > runs / 20
    assert counts["failures"] == 0


def test_random_programs_over_shared_slots_with_crashes_keep_all_promises() -> None:
    runs = 3 * RUNS
    counts = counted("shared-slots", runs)
    assert counts["processes"] > 5 * runs
    assert counts["crashes"] > runs
    assert counts["roots"] > runs / 5
    assert counts["slanders"] > runs / 4
    # The shared slots were over here, and were not there.
    assert runs / 4 < counts["failures"] < 3 * runs / 4


def test_random_cuts_of_data_links_with_late_processes_and_crashes_keep_all_promises() -> None:
    runs = RUNS // 2
    counts = counted("link-watch", runs)
    assert counts["crashes"] > runs / 4
    # Somebody had to go for a silent link.
    assert runs / 20 < counts["failures"] < runs


def test_one_seed_replays_with_every_step() -> None:
    once = swarm("--protocol", "ftco-allreduce", "--seed", "7", "--runs", "1", "--verbose")
    again = swarm("--protocol", "ftco-allreduce", "--seed", "7", "--runs", "1", "--verbose")
    assert once.returncode == 0
    assert once.stdout == again.stdout
    assert "all promises kept" in once.stdout
    assert " enters\n" in once.stdout


def test_an_unknown_protocol_is_refused_with_the_valid_names() -> None:
    done = swarm("--protocol", "allreduce")
    assert done.returncode == 2
    assert all(
        protocol in done.stderr
        for protocol in [*PROTOCOLS, "digest-vote", "decision-log", "shared-slots", "link-watch"]
    )


def test_who_is_interrupted_says_what_was_run_until_then() -> None:
    words = [BUILD / "bin" / "resprout_swarm", "--protocol", "agree", "--runs", "1000000000"]
    with subprocess.Popen([*words, "--verbose"], stdout=subprocess.PIPE, text=True) as swarming:
        assert swarming.stdout is not None
        swarming.stdout.readline()  # it is at work
        swarming.send_signal(signal.SIGINT)
        said = swarming.stdout.read()
    found = COUNTS.search(said)
    assert found is not None and int(found["operations"]) > 0, said[-1000:]
    assert swarming.returncode == 128 + signal.SIGINT
