"""Every interleaving and every crash point of small operations: no promise is broken in any state.

Bounds: up to 4 processes, 5 where it fits; up to 3 of them may die. `slander` is a process that is
suspected while it still runs, `loss` are messages of the dead that never arrive. The cases of LONG
take 10 to 30 s of a processor each, and run with EVERY_CASE=1, as in `make soak`.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
IS_EVERY_CASE_WANTED = os.environ.get("EVERY_CASE", "") not in ("", "0")
BUILD = Path(os.environ.get("RESPROUT_BUILD", ROOT / "build" / "release"))
ALL_FAULTS = "--slander --loss"

ALLREDUCE = [
    f"--procs 2 --crashes 1 {ALL_FAULTS}",
    f"--procs 3 --crashes 2 {ALL_FAULTS}",
    f"--procs 4 --crashes 2 {ALL_FAULTS}",
    f"--procs 4 --crashes 3 {ALL_FAULTS}",
    "--procs 5 --crashes 2",
]
# All, or the largest power of two, exchange by recursive doubling.
ALLREDUCE_DOUBLING = [
    f"--procs 3 --crashes 2 {ALL_FAULTS}",
    f"--procs 4 --crashes 1 {ALL_FAULTS}",
    "--procs 4 --crashes 3",
    "--procs 5 --crashes 1",
]
ALLREDUCE_TERNARY = [f"--procs 4 --crashes 2 {ALL_FAULTS}"]
REDUCE = [
    f"--procs 3 --crashes 2 {ALL_FAULTS} --root 1",
    f"--procs 4 --crashes 2 {ALL_FAULTS} --root 2",
]
# `dead` have died before the operation, `crashes` die in it. Each correction is held to what it
# promises of both (src/sim/checkers/coloring.hpp).
CORRECTED_TREE = {
    "correction=checked": [
        "--procs 3 --crashes 2 --loss",
        "--procs 4 --root 2",
        "--procs 4 --crashes 1 --dead 1 --loss",
        "--procs 5 --dead 2 --enter-first",
    ],
    "correction=checked,early=abstain": ["--procs 4 --crashes 1 --dead 1 --loss --enter-first"],
    "correction=failure-proof,f=3": [
        "--procs 3 --crashes 2 --loss",
        "--procs 4 --crashes 2 --dead 1 --loss --enter-first",
        "--procs 5 --crashes 2 --dead 2 --loss --enter-first",
    ],
    "correction=delayed": ["--procs 4", "--procs 4 --dead 1", "--procs 4 --dead 2 --root 3"],
    "correction=delayed,early=abstain": ["--procs 4 --dead 1", "--procs 3 --crashes 1 --loss"],
    "correction=opportunistic,d=1": [
        "--procs 4 --crashes 2 --enter-first",
        "--procs 5 --dead 1 --enter-first",
    ],
    "correction=optimized-opportunistic,d=1": ["--procs 4 --crashes 2", "--procs 4 --dead 1"],
    "correction=optimized-opportunistic,d=2,heed=right": ["--procs 5 --dead 2 --enter-first"],
    "correction=optimized-opportunistic,d=3,sides=right": ["--procs 5 --dead 2 --enter-first"],
}
SYNCHRONIZED = ["--procs 4 --dead 1 --crashes 1 --loss --enter-first"]
RELIABLE_BROADCAST = {
    "correction=checked": [
        f"--procs 2 --crashes 1 {ALL_FAULTS}",
        "--procs 3 --crashes 2 --root 2",
    ],
    "correction=optimized-opportunistic": [
        f"--procs 3 --crashes 2 {ALL_FAULTS}",
        "--procs 4 --crashes 1 --enter-first",
    ],
    "correction=none": [f"--procs 3 --crashes 2 {ALL_FAULTS} --root 1", "--procs 4 --crashes 2"],
    "correction=checked,early=abstain": [
        f"--procs 3 --crashes 2 {ALL_FAULTS} --offers",
        "--procs 4 --crashes 2 --offers --enter-first",
    ],
    "correction=failure-proof": ["--procs 3 --crashes 2 --loss"],
    "correction=delayed": ["--procs 3 --crashes 2 --loss"],
}
RELIABLE_GOSSIP = {
    "rounds=2,correction=checked": [
        f"--procs 3 --crashes 2 {ALL_FAULTS}",
        "--procs 4 --root 1 --enter-first",
    ],
    "rounds=2,correction=opportunistic,d=1": ["--procs 3 --crashes 2 --loss --root 2"],
    "rounds=1,correction=failure-proof,f=1": [f"--procs 3 --crashes 2 {ALL_FAULTS} --offers"],
    "rounds=1,correction=none": ["--procs 4 --crashes 1"],
}
NATIVE_UNTIL_LOSS = [
    f"--procs 2 --crashes 1 {ALL_FAULTS}",
    f"--procs 3 --crashes 2 {ALL_FAULTS}",
    "--procs 4 --crashes 3 --loss",
    "--procs 4 --crashes 2 --slander --enter-first",
    "--procs 5 --crashes 1",
]
# Whoever returns, also who dies afterwards, returns the same.
AGREE = {
    "agree": [
        f"--procs 2 --crashes 1 {ALL_FAULTS}",
        f"--procs 3 --crashes 2 {ALL_FAULTS}",
        f"--procs 4 --crashes 2 {ALL_FAULTS}",
        "--procs 4 --crashes 3 --loss",
        f"--procs 5 --crashes 1 {ALL_FAULTS}",
        "--procs 5 --crashes 2",
    ],
    "agree:k=4": [f"--procs 4 --crashes 1 {ALL_FAULTS}"],
}
BASELINES = {
    "corrected-gossip:rounds=2,correction=checked": ["--procs 3 --crashes 1 --dead 1 --loss"],
    "corrected-gossip:rounds=2,correction=failure-proof,f=2": [
        "--procs 4 --crashes 2 --loss --enter-first"
    ],
    "acknowledged-tree": ["--procs 5", "--procs 4 --crashes 2 --loss --root 1"],
    "multi-tree:trees=2,k=3": ["--procs 5 --crashes 1 --loss", "--procs 5 --dead 2"],
    "multi-tree:trees=3,k=4": ["--procs 4 --crashes 2 --loss"],
    "corrected-reduce": ["--procs 3 --crashes 1 --loss", "--procs 4 --enter-first --root 2"],
}
REVOKE = {
    "revoke": [
        f"--procs 2 --crashes 1 {ALL_FAULTS}",
        f"--procs 3 --crashes 2 {ALL_FAULTS} --initiators 3",
        f"--procs 3 --crashes 2 {ALL_FAULTS} --initiators 0",
        f"--procs 4 --crashes 2 {ALL_FAULTS}",
        "--procs 4 --crashes 3 --loss --initiators 2",
        "--procs 4 --crashes 2 --loss --initiators 4",
        "--procs 5 --crashes 1 --enter-first",
    ],
    # Nobody closes the ring: who is linked over survivors hears of it all the same.
    "revoke:ring=open": ["--procs 4 --crashes 3 --loss", "--procs 5 --crashes 1 --enter-first"],
}
# With and without proofs of deaths, with joiners at either end of the list.
MEMBERSHIP = {
    "membership": [
        "--procs 2 --crashes 1 --slander --loss --proofs",
        "--procs 3 --crashes 2 --slander --loss",
        "--procs 3 --crashes 2 --slander --loss --proofs",
        "--procs 4 --crashes 2 --slander --loss",
        "--procs 4 --joiners 1 --crashes 1 --slander --loss",
        "--procs 4 --joiners 1 --low --crashes 1 --slander --loss",
        "--procs 4 --joiners 1 --crashes 2 --loss --proofs",
        "--procs 5 --crashes 1 --slander --loss",
        "--procs 5 --joiners 1 --crashes 1 --loss",
    ],
    "membership:radix=4": [
        "--procs 4 --crashes 2 --slander --loss",
        "--procs 5 --crashes 1 --slander --loss",
    ],
    "membership:views=local": [
        "--procs 2 --crashes 1 --slander --loss --proofs",
        "--procs 3 --crashes 2 --slander --loss",
        "--procs 4 --crashes 2 --slander --loss --proofs",
        "--procs 4 --crashes 3 --slander --loss",
        "--procs 5 --crashes 1 --slander --loss",
        "--procs 5 --crashes 3 --loss --proofs",
        "--procs 6 --crashes 2 --loss",
        # Who joins, and who comes back under its identifier.
        "--procs 3 --joiners 1 --crashes 2 --slander --loss",
        "--procs 3 --joiners 2 --crashes 2 --slander",
        "--procs 4 --joiners 1 --crashes 2 --loss --proofs",
        "--procs 4 --joiners 1 --low --crashes 1 --slander --loss",
        "--procs 4 --joiners 2 --low --crashes 1 --loss --proofs",
        "--procs 5 --joiners 1 --crashes 1 --loss",
        "--procs 3 --crashes 1 --returns 1 --slander --loss",
        "--procs 3 --joiners 1 --returns 1 --crashes 1 --loss",
        "--procs 4 --crashes 1 --returns 1 --loss --proofs",
    ],
    "membership:radix=4,views=local": [
        "--procs 4 --crashes 2 --slander --loss",
        "--procs 5 --crashes 2 --loss",
    ],
}
# Who is isolated probes those whom it suspects: of few, as each probe is one thing more that may
# cross all others.
MEMBERSHIP["membership"] += [
    "--probes --procs 3 --crashes 2 --slander --loss",
    "--probes --procs 3 --crashes 2 --slander --loss --proofs",
    "--probes --procs 4 --crashes 3 --loss --proofs",
]
MEMBERSHIP["membership:views=local"] += [
    "--probes --procs 3 --crashes 2 --slander --loss",
    "--probes --procs 3 --crashes 2 --slander --loss --proofs",
    "--probes --procs 3 --joiners 1 --crashes 1 --slander --loss",
    "--probes --procs 4 --crashes 3 --loss --proofs",
]
# One thing is silently corrupted at any moment, and somebody dies at any moment.
DIGEST_VOTE = {
    **{
        f"digest-vote:degree=2,method={method}": [
            f"--procs 4 --crashes 1 --corruption {ALL_FAULTS}",
            f"--procs 4 --crashes 2 --corruption {ALL_FAULTS}",
        ]
        for method in ("all-to-all", "msg-plus-hash", "async", "async-hash")
    },
    **{
        f"digest-vote:degree=3,method={method}": [
            "--procs 6 --corruption",
            "--procs 6 --crashes 1 --corruption --enter-first --loss",
        ]
        for method in ("all-to-all", "async")
    },
    **{
        f"digest-vote:degree=3,method={method}": [
            "--procs 6 --corruption",
            f"--procs 6 --crashes 1 --corruption {ALL_FAULTS} --enter-first",
            "--procs 6 --crashes 2 --loss --enter-first",
        ]
        for method in ("msg-plus-hash", "async-hash")
    },
    # A lazy receiver gives out no other replica's copy before it is proven.
    **{
        f"digest-vote:degree={degree},method={method},unproven=own": [
            f"--procs {2 * degree} --crashes 1 --corruption --enter-first --loss"
        ]
        for degree in (2, 3)
        for method in ("async", "async-hash")
    },
}
# Who decides, and who follows, dies at any moment.
DECISION_LOG = {
    "decision-log:degree=2,window=2,decisions=5": [f"--procs 2 --crashes 2 {ALL_FAULTS}"],
    "decision-log:degree=3,window=1,decisions=2": [f"--procs 3 --crashes 2 {ALL_FAULTS}"],
    "decision-log:degree=3,window=1,decisions=3": [f"--procs 3 --crashes 1 {ALL_FAULTS}"],
    "decision-log:degree=3,window=2,decisions=2": [
        f"--procs 3 --crashes 1 {ALL_FAULTS}",
        "--procs 3 --crashes 2 --loss",
    ],
    "decision-log:degree=3,window=2,decisions=3": ["--procs 3 --crashes 2"],
}
# All programs of so many operations; who dies may have written its slot, or half of it, or not.
# over=again: of those who are left, who may die in their new shared slots.
SHARED_SLOTS = {
    "shared-slots:operations=4,over=again": ["--procs 2 --crashes 2 --slander"],
    "shared-slots:operations=3,over=again": ["--procs 3 --crashes 2"],
    "shared-slots:operations=3,broadcasts=1,over=again": ["--procs 3 --crashes 1 --slander"],
    "shared-slots:operations=2,over=again": ["--procs 3 --crashes 2 --slander"],
    "shared-slots:operations=2,broadcasts=1,over=again": ["--procs 4 --crashes 1"],
    "shared-slots:operations=2,broadcasts=1,revoked=maybe,over=again": ["--procs 3 --crashes 1"],
    "shared-slots:operations=1": ["--procs 4 --crashes 2 --slander", "--procs 5 --crashes 1"],
    # With gathers and scans: all members are known to take part, or not yet, or one does not.
    "shared-slots:operations=3,gathers=met,over=again": ["--procs 2 --crashes 2 --slander"],
    "shared-slots:operations=2,gathers=met,over=again": ["--procs 3 --crashes 2 --slander"],
    "shared-slots:operations=2,broadcasts=1,gathers=met,over=again": ["--procs 4 --crashes 1"],
    "shared-slots:operations=1,gathers=met": [
        "--procs 4 --crashes 2 --slander",
        "--procs 5 --crashes 1",
    ],
    "shared-slots:operations=3,broadcasts=1,gathers=met,over=again": [
        "--procs 3 --crashes 1 --slander"
    ],
    "shared-slots:operations=2,broadcasts=1,gathers=met,revoked=maybe,over=again": [
        "--procs 3 --crashes 1"
    ],
    "shared-slots:operations=2,gathers=fresh,over=again": ["--procs 3 --crashes 1 --slander"],
    "shared-slots:operations=2,gathers=lacking,over=again": ["--procs 3 --crashes 1 --slander"],
    # With groups of two, whose records anybody may write, or half of one.
    "shared-slots:operations=2,groups=2,over=again": ["--procs 3 --crashes 1 --slander"],
    "shared-slots:operations=1,groups=2,over=again": ["--procs 4 --crashes 1"],
}
# Data links that are cut at any moment, processes that come late or are starved: only ends of cut
# links go, of one cut one side, and all others end.
LINK_WATCH = {
    "link-watch:cuts=0,late=2": ["--procs 2", "--procs 3 --crashes 1 --enter-first"],
    "link-watch:cuts=2,late=3": ["--procs 2"],
    "link-watch:cut=link,late=3": ["--procs 2 --crashes 1"],
    "link-watch:late=0": ["--procs 3", "--procs 3 --crashes 1 --enter-first"],
    "link-watch:late=1": ["--procs 3 --enter-first"],
    "link-watch:cut=link,late=0": ["--procs 3 --enter-first"],
}
ALL_CASES = [
    f"--spec {spec} {options}"
    for spec, cases in [
        ("ftco-allreduce", ALLREDUCE),
        ("ftco-allreduce:k=3", ALLREDUCE_TERNARY),
        ("ftco-allreduce:roots=doubling", ALLREDUCE_DOUBLING),
        ("ftco-reduce", REDUCE),
        *((f"corrected-tree:start=overlapped,{rest}", o) for rest, o in CORRECTED_TREE.items()),
        ("corrected-tree:correction=checked,start=synchronized", SYNCHRONIZED),
        *((f"reliable-broadcast:{rest}", o) for rest, o in RELIABLE_BROADCAST.items()),
        *((f"reliable-gossip:{rest}", o) for rest, o in RELIABLE_GOSSIP.items()),
        ("native-until-loss", NATIVE_UNTIL_LOSS),
        *AGREE.items(),
        *BASELINES.items(),
        *REVOKE.items(),
        *MEMBERSHIP.items(),
        *DIGEST_VOTE.items(),
        *DECISION_LOG.items(),
        *SHARED_SLOTS.items(),
        *LINK_WATCH.items(),
    ]
    for options in cases
]
LONG = {
    f"--spec ftco-allreduce --procs 4 --crashes 3 {ALL_FAULTS}",
    "--spec native-until-loss --procs 4 --crashes 2 --slander --enter-first",
    "--spec corrected-tree:start=overlapped,correction=failure-proof,f=3"
    " --procs 5 --crashes 2 --dead 2 --loss --enter-first",
    "--spec reliable-broadcast:correction=checked,early=abstain"
    " --procs 4 --crashes 2 --offers --enter-first",
}
CASES = [case for case in ALL_CASES if IS_EVERY_CASE_WANTED or case not in LONG]


def explore(options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILD / "bin" / "resprout_explore", *options.split()],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def check_found_out(done: "subprocess.CompletedProcess[str]", violation: str, way: str) -> None:
    """It ended with a violation, to which this way leads."""
    print(done.stdout, done.stderr)
    assert done.returncode == 1
    assert violation in done.stdout
    assert way in done.stdout


def test_the_long_cases_are_cases() -> None:
    assert set(ALL_CASES) >= LONG


@pytest.mark.parametrize("options", CASES)
def test_all_promises_are_kept_in_every_state(options: str) -> None:
    done = explore(options)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, f"replay: resprout_explore {options}\n{done.stdout}{done.stderr}"
    states = re.search(r"(\d+) states, (\d+) steps, (\d+) ends", done.stdout)
    assert states is not None
    assert int(states[1]) > int(states[3]) > 0
    assert "all promises kept in every state" in done.stdout


@pytest.mark.parametrize(
    ("options", "violation"),
    [
        ("--spec ftco-allreduce --defect promise", "never returned"),
        ("--spec ftco-allreduce --defect memory", "disagrees"),
        ("--spec ftco-allreduce --defect suspicions", "never returned"),
        ("--spec ftco-allreduce:roots=doubling --defect memory", "disagrees"),
        ("--spec ftco-allreduce:roots=doubling --defect suspicions", "never returned"),
        ("--spec reliable-broadcast --defect suspicions", "never returned"),
        ("--spec reliable-gossip --defect suspicions", "never returned"),
        ("--spec native-until-loss --defect suspicions", "never returned"),
        ("--spec native-until-loss --defect memory", "never returned"),
        ("--spec revoke --defect forwarding", "never heard"),
        ("--spec agree --defect promise", "never returned"),
        ("--spec agree --defect suspicions", "never returned"),
    ],
)
def test_a_rule_that_is_broken_on_purpose_is_found_with_the_way_to_it(
    options: str, violation: str
) -> None:
    done = explore(f"{options} --procs 3 --crashes 1")
    assert done.returncode == 1
    assert violation in done.stdout
    way = done.stdout.split("steps:\n")[1].splitlines()
    assert any(step.strip() == "0 dies" for step in way)


@pytest.mark.parametrize(
    ("options", "violation", "way"),
    [
        # An allreduce: 0 has what all gave and dies, the others go on without it.
        ("--procs 2 --defect confirmation", "0 got -4 and no failure", "0 dies"),
        # By what it has acknowledged itself, not by what all have.
        ("--procs 3 --defect acknowledgment", "1 got -7 and no failure", "1 suspects 0"),
        # 0 and 1 take each other for dead; 2 has confirmed the word of 0, and does not say so to 1.
        (
            "--procs 3 --crashes 2 --slander --defect memory",
            "0 got -6",
            "0 suspects 1, which still",
        ),
    ],
)
def test_an_agreement_that_is_not_uniform_is_found_out(
    options: str, violation: str, way: str
) -> None:
    check_found_out(explore(f"--spec agree --crashes 1 {options}"), violation, way)


@pytest.mark.parametrize(
    ("options", "violation"),
    [
        ("--spec membership:radix=4 --procs 4 --crashes 2 --defect fence", "different views"),
        ("--spec membership --procs 2 --crashes 2 --defect proof", "different views"),
        ("--spec membership:views=local --procs 2 --crashes 2 --defect proof", "different views"),
    ],
)
def test_a_membership_without_one_of_its_rules_is_found_out(options: str, violation: str) -> None:
    done = explore(f"{options} --slander")
    print(done.stdout, done.stderr)
    assert done.returncode == 1
    assert violation in done.stdout
    assert "which still runs" in done.stdout


@pytest.mark.parametrize("views", ["whole", "local"])
def test_what_is_received_in_any_view_is_found_out(views: str) -> None:
    done = explore(f"--spec membership:views={views} --procs 3 --crashes 1 --defect view")
    print(done.stdout, done.stderr)
    assert done.returncode == 1
    assert "what was said in another view, of epoch 1" in done.stdout


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--procs 4 --joiners 4", "--joiners is from 0 to less than --procs"),
        ("--procs 4 --defect fence", "--defect is proof or view with views=local"),
    ],
)
def test_what_local_views_do_not_have_is_refused(options: str, complaint: str) -> None:
    done = explore(f"--spec membership:views=local {options}")
    assert done.returncode == 2
    assert complaint in done.stderr


@pytest.mark.parametrize(
    ("options", "violation"),
    [
        ("--defect origins", "confirms a corrupted copy"),
        ("--defect shares", "ends while a copy or a digest is due"),
        ("--defect suspicions --crashes 1", "never ended"),
    ],
)
def test_a_vote_without_one_of_its_rules_is_found_out(options: str, violation: str) -> None:
    done = explore(f"--spec digest-vote:degree=3 --procs 6 --corruption --enter-first {options}")
    print(done.stdout, done.stderr)
    assert done.returncode == 1
    assert violation in done.stdout
    assert "receives from" in done.stdout


@pytest.mark.parametrize(
    ("options", "violation", "way"),
    [
        ("late=3 --defect detector", "reports the link with", "is starved"),
        ("late=9,cuts=0 --defect reading", "which is not silent", "runs again, and looks"),
        ("late=3,cut=link --defect verdict", "both sides of one cut", "receives from 1: lost 0"),
        # An answer to an earlier question, read very late, passes for one to the last.
        ("late=12,cuts=0 --defect answers", "which is not silent", "I am at work"),
    ],
)
def test_a_watch_over_links_without_one_of_its_rules_is_found_out(
    options: str, violation: str, way: str
) -> None:
    check_found_out(explore(f"--procs 2 --spec link-watch:{options}"), violation, way)


@pytest.mark.parametrize(
    ("defect", "violation", "way"),
    [
        ("settling", "contradicts what 0 has shown", "0 dies"),
        ("inquiry", "sends a decision that it does not hold", "1 decides 1"),
        ("promise", "sends a decision that it does not hold", "2 receives from 1: an inquiry"),
        ("suspicions", "never ended", "0 dies"),
    ],
)
def test_a_decision_log_without_one_of_its_rules_is_found_out(
    defect: str, violation: str, way: str
) -> None:
    spec = "--spec decision-log:degree=3,window=2,decisions=2 --procs 3"
    check_found_out(explore(f"{spec} --crashes 1 --slander --defect {defect}"), violation, way)


@pytest.mark.parametrize(
    ("options", "violation", "way"),
    [
        (" --procs 3 --defect silence", "waits for ever", "0 is interrupted in operation 1"),
        (" --procs 3 --defect finality", "over at the other", "operation 1 empty for ever"),
        (" --procs 3 --defect slots", "waits for ever", "0 begins operation 2, a rendezvous"),
        (" --procs 2 --defect stamp", "what is not of its operation", "0 for operation 1 full"),
        (" --procs 2 --defect suspicions", "waits for ever", "0 dies"),
        (
            ",over=again --procs 3 --defect lives",
            "member 1 waits for ever",
            "1 begins operation 2, a broadcast of 0",
        ),
        (
            ",over=again --procs 3 --defect names",
            "what is not of its operation 2",
            "1 finds the slot of 0 for operation 2 full",
        ),
    ],
)
def test_shared_slots_without_one_of_their_rules_are_found_out(
    options: str, violation: str, way: str
) -> None:
    check_found_out(
        explore(f"--crashes 1 --slander --spec shared-slots:operations=2{options}"), violation, way
    )


@pytest.mark.parametrize(
    ("options", "violation", "way"),
    [
        (" --procs 3 --defect areas", "over at the other", "for operation 1 left"),
        (
            " --procs 2 --defect finality",
            "what was left out",
            "operation 1 empty for ever",
        ),
        (
            " --procs 3 --defect hearsay",
            "leaves out what 1 has written",
            "operation 1 full",
        ),
        (" --procs 2 --defect stamp", "what is not of its operation", "1 for operation 1 full"),
        (" --procs 2 --defect suspicions", "waits for ever", "a gather to 0"),
        (",broadcasts=1 --procs 3 --defect rendezvous", "waits for ever", "2, a gather to 0"),
    ],
)
def test_gathers_over_shared_slots_without_one_of_their_rules_are_found_out(
    options: str, violation: str, way: str
) -> None:
    check_found_out(
        explore(f"--crashes 1 --slander --spec shared-slots:operations=2,gathers=met{options}"),
        violation,
        way,
    )


@pytest.mark.parametrize(
    ("options", "violation", "way"),
    [
        (
            ",gathers=met --procs 3 --defect haste",
            "has a record of what",
            "finds the record of members",
        ),
        (
            ",gathers=met --procs 3 --defect shortness",
            "has a record of what",
            "finds the record of members",
        ),
        (" --procs 3 --defect patience", "waits for ever", "has seen all slots of a group full"),
    ],
)
def test_groups_of_shared_slots_without_one_of_their_rules_are_found_out(
    options: str, violation: str, way: str
) -> None:
    check_found_out(
        explore(f"--crashes 1 --spec shared-slots:operations=1,groups=2{options}"), violation, way
    )


def test_shared_slots_without_rendezvous_behind_broadcasts_are_found_out() -> None:
    done = explore("--spec shared-slots:operations=2,broadcasts=1 --procs 2 --defect rendezvous")
    print(done.stdout, done.stderr)
    assert done.returncode == 1
    assert "member 1 waits for ever" in done.stdout
    assert "0 begins operation 2, a broadcast of 0" in done.stdout


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--root 1", "--root is 0 for shared slots"),
        ("--dead 1", "use --crashes"),
        ("--defect fence", "--defect is silence, finality, slots, rendezvous, stamp, suspicions"),
    ],
)
def test_shared_slots_that_make_no_sense_are_refused(options: str, complaint: str) -> None:
    done = explore(f"--spec shared-slots --procs 3 {options}")
    assert done.returncode == 2
    assert complaint in done.stderr


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("--procs 2", "--procs is 3 for a rank of 3 replicas"),
        ("--procs 3 --dead 1", "use --crashes"),
        ("--procs 3 --defect fence", "--defect is settling, inquiry, promise or suspicions"),
    ],
)
def test_a_decision_log_that_makes_no_sense_is_refused(options: str, complaint: str) -> None:
    done = explore(f"--spec decision-log:degree=3 {options}")
    assert done.returncode == 2
    assert complaint in done.stderr
