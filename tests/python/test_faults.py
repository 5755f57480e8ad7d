"""The texts of faults: what is understood, what is refused, and how random ones are chosen."""

import random

import pytest
from resprout.errors import UserError
from resprout.faults import Fault, Flip, parse_faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("kill:rank=3,at=2s", Fault("kill", 3, "2s")),
        ("kill:rank=0,at=allreduce#40", Fault("kill", 0, "allreduce#40")),
        ("stop:rank=2,at=1.5s", Fault("stop", 2, "1.5s")),
        ("exit:rank=1,at=bcast#3", Fault("exit", 1, "bcast#3", 1)),
        ("exit:rank=1,at=80us,status=7", Fault("exit", 1, "80us", 7)),
        ("kill:at=150ms,rank=2", Fault("kill", 2, "150ms")),
    ],
)
def test_a_valid_text_is_understood(text: str, fault: Fault) -> None:
    assert parse_faults([text], ranks=4) == [fault]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "burn:rank=1,at=1s",
        "kill",
        "kill:rank=1",
        "kill:at=1s",
        "kill:rank=4,at=1s",
        "kill:rank=-1,at=1s",
        "kill:rank=x,at=1s",
        "kill:rank=1,rank=2,at=1s",
        "kill:rank=1,at=1",
        "kill:rank=1,at=1h",
        "kill:rank=1,at=bcast#0",
        "kill:rank=1,at=MPI_Bcast#1",
        "kill:rank=1,at=bcats#1",
        "kill:rank=1,at=comm_rank#1",
        "kill:rank=1,at=1s,status=2",
        "exit:rank=1,at=1s,status=256",
        "kill:count=4,within=1s",
        "kill:count=0,within=1s",
        "kill:count=1",
        "kill:count=1,within=soon",
        "kill:count=1,within=1s,rank=2",
        "flip:rank=1",
        "flip:message=1",
        "flip:rank=4,message=1",
        "flip:rank=1,message=0",
        "flip:rank=1,message=1,bit=x",
        "flip:rank=1,message=1,at=1s",
        "flip:rank=1,message=1,replica=1",
        "flip:count=0",
        "flip:count=401",
        "flip:count=5,messages=1",
        "flip:count=1,within=1s",
        "flip:rank=1,collective=0",
        "flip:rank=1,collective=1,message=1",
        "flip:rank=1,collective=1,where=memory",
        "flip:count=5,collectives=1",
        "flip:count=5,collectives=10,messages=10",
        "flip:rank=1,where=memory",
        "flip:rank=1,where=disk,checkpoint=1",
        "flip:rank=1,where=memory,message=1",
        "flip:rank=1,where=memory,checkpoint=0",
        "flip:rank=1,checkpoint=1",
        "flip:rank=1,where=heap",
        "flip:rank=1,where=heap,message=1",
        "flip:rank=1,where=heap,at=1s,checkpoint=1",
        "flip:rank=1,where=heap,at=soon",
        "flip:rank=4,where=heap,at=1s",
        "flip:count=3,where=heap",
        "kill:rank=1,where=heap,at=1s",
        "flip:count=41,where=memory",
        "flip:count=5,where=memory,messages=10",
    ],
)
def test_a_wrong_text_is_refused_in_one_line_that_names_the_valid_forms(text: str) -> None:
    if text == "":
        assert parse_faults([text], ranks=4) == []
        return
    with pytest.raises(UserError) as refusal:
        parse_faults([text], ranks=4)
    message = str(refusal.value)
    assert "\n" not in message
    assert "--inject" in message
    assert text in message
    assert "kill:rank=3,at=2s" in message


def test_several_faults_may_stand_in_one_text() -> None:
    together = parse_faults(["kill:rank=0,at=1s;stop:rank=1,at=2s"], ranks=4)
    assert together == parse_faults(["kill:rank=0,at=1s", "stop:rank=1,at=2s"], ranks=4)


def test_what_is_written_reads_back_the_same() -> None:
    generator = random.Random(5)
    for _ in range(500):
        kind = generator.choice(["kill", "stop", "exit"])
        moment = generator.choice(
            [f"{generator.randrange(999)}ms", f"send#{generator.randint(1, 9)}"]
        )
        status = generator.randrange(256) if kind == "exit" else 1
        fault = Fault(kind, generator.randrange(16), moment, status)
        assert parse_faults([str(fault)], ranks=16) == [fault]


def test_a_seed_chooses_the_same_ranks_and_times_always() -> None:
    chosen = parse_faults(["kill:count=2,seed=7,within=5s"], ranks=8)
    # These very values, or the same seed would mean something else in another version.
    assert [str(f) for f in chosen] == CHOSEN_BY_SEED_7
    assert chosen != parse_faults(["kill:count=2,seed=8,within=5s"], ranks=8)


CHOSEN_BY_SEED_7 = ["kill:rank=6,at=187478us", "kill:rank=3,at=2168228us"]


def test_a_flip_is_of_one_bit_of_one_message() -> None:
    assert parse_faults(["flip:rank=3,message=100,bit=17"], ranks=4) == [Flip(3, 100, 17)]
    assert parse_faults(["flip:message=1,rank=0"], ranks=4) == [Flip(0, 1, 0)]
    assert str(Flip(3, 100, 17)) == "flip:rank=3,message=100,bit=17"


def test_a_flip_may_name_a_replica() -> None:
    flips = parse_faults(["flip:rank=3,replica=1,message=100,bit=17"], ranks=4, replicas=2)
    assert flips == [Flip(3, 100, 17, replica=1)]


def test_a_flip_may_be_of_memory_after_a_checkpoint() -> None:
    flip = Flip(3, 2, 17, where="memory")
    assert parse_faults(["flip:rank=3,where=memory,checkpoint=2,bit=17"], ranks=4) == [flip]
    assert str(flip) == "flip:rank=3,where=memory,checkpoint=2,bit=17"
    chosen = parse_faults(["flip:count=20,where=memory,checkpoints=5,seed=3"], 4, replicas=3)
    flips = [flip for flip in chosen if isinstance(flip, Flip)]
    assert len({(flip.rank, flip.number) for flip in flips}) == 20
    assert {flip.number for flip in flips} <= set(range(1, 6))
    assert {flip.where for flip in flips} == {"memory"}


def test_a_flip_may_be_of_what_goes_into_a_collective() -> None:
    flip = Flip(3, 20, 17, where="collective")
    assert parse_faults(["flip:rank=3,collective=20,bit=17"], ranks=4) == [flip]
    assert str(flip) == "flip:rank=3,collective=20,bit=17"
    chosen = parse_faults(["flip:count=20,collectives=5,seed=3"], 4, replicas=3)
    flips = [flip for flip in chosen if isinstance(flip, Flip)]
    assert {(flip.rank, flip.number) for flip in flips} == {
        (rank, number) for rank in range(4) for number in range(1, 6)
    }
    assert {flip.where for flip in flips} == {"collective"}


def test_a_flip_may_be_anywhere_in_a_process() -> None:
    fault = Fault("flip", 3, "send#9", area="heap", bit=17)
    assert parse_faults(["flip:rank=3,where=heap,at=send#9,bit=17"], ranks=4) == [fault]
    assert str(fault) == "flip:rank=3,where=heap,at=send#9,bit=17"
    again = parse_faults([f"flip:rank=3,replica=1,where=process,at=2ms;{fault}"], 4, replicas=2)
    assert again == [Fault("flip", 3, "2ms", replica=1, area="process"), fault]
    # Who has a wrong bit may live on: it is no reason to choose another one to be killed.
    (_, killed) = parse_faults([str(fault), "kill:count=1,within=1s"], ranks=4)
    assert isinstance(killed, Fault) and killed.kind == "kill"


def test_a_seed_chooses_the_same_flips_always() -> None:
    chosen = parse_faults(["flip:count=3,seed=7,messages=10"], ranks=4, replicas=2)
    # These very values, or the same seed would mean something else in another version.
    assert chosen == FLIPS_CHOSEN_BY_SEED_7
    assert chosen != parse_faults(["flip:count=3,seed=8,messages=10"], ranks=4, replicas=2)


FLIPS_CHOSEN_BY_SEED_7 = [
    Flip(0, 5, 76806850483, replica=0),
    Flip(1, 2, 715710022027, replica=0),
    Flip(2, 4, 63770492188, replica=1),
]


def test_random_flips_hit_different_messages_of_all_ranks_and_replicas() -> None:
    chosen = parse_faults(["flip:count=300,messages=100"], ranks=4, replicas=3)
    flips = [flip for flip in chosen if isinstance(flip, Flip)]
    assert len({(flip.rank, flip.number) for flip in flips}) == 300
    assert {flip.rank for flip in flips} == set(range(4))
    assert {flip.replica for flip in flips} == set(range(3))
    assert {flip.number for flip in flips} <= set(range(1, 101))
    assert {flip.bit % 64 for flip in flips} == set(range(64))
    all_messages = parse_faults(["flip:count=20,messages=10,replica=1"], ranks=2, replicas=3)
    assert {flip.replica for flip in all_messages if isinstance(flip, Flip)} == {1}


def test_flips_do_not_keep_ranks_from_being_killed() -> None:
    faults = parse_faults(["flip:count=5", "kill:count=1,within=1s"], ranks=2)
    assert len(faults) == 6


def test_random_faults_hit_different_ranks_in_time_and_leave_one_alive() -> None:
    for seed in range(200):
        ranks = 2 + seed % 15
        count = 1 + seed % (ranks - 1)
        text = f"kill:count={count},seed={seed},within=20ms"
        chosen = parse_faults([text], ranks)
        victims = {fault.rank for fault in chosen}
        assert len(victims) == len(chosen) == count < ranks
        assert victims <= set(range(ranks))
        assert all(0 <= int(fault.at.removesuffix("us")) < 20_000 for fault in chosen)


def test_random_faults_spare_the_ranks_that_are_named() -> None:
    for seed in range(50):
        first, *others = parse_faults(
            ["kill:rank=1,at=1s", f"stop:count=2,seed={seed},within=1s"], ranks=4
        )
        assert first.rank == 1
        assert 1 not in {fault.rank for fault in others}


def test_who_misspells_a_call_is_told_what_is_close_to_it() -> None:
    with pytest.raises(UserError, match="'alreduce' is no call that is counted; close to it"):
        parse_faults(["kill:rank=1,at=alreduce#2"], ranks=4)
