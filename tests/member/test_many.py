"""128 members as processes of this machine: what they agree on, and what each of them costs."""

import os
import random
import signal
from collections.abc import Callable

from groups import Group

Make = Callable[..., Group]

MANY = 128
RADIX = 4


def test_a_killed_member_of_many_is_in_nobodys_view(group: Make) -> None:
    members = group(MANY, radix=RADIX)
    members.kill(77)
    members.agree(set(range(MANY)) - {77})


def test_when_the_root_of_many_is_killed_the_next_one_is_root(group: Make) -> None:
    members = group(MANY, radix=RADIX)
    members.kill(0)
    members.agree(range(1, MANY))


def test_the_root_its_successor_and_another_of_many_may_be_killed_at_once(group: Make) -> None:
    members = group(MANY, radix=RADIX)
    members.kill(0, 1, 50)
    members.agree(set(range(MANY)) - {0, 1, 50})


def test_a_stopped_member_of_many_is_excluded_and_joins_again(group: Make) -> None:
    members = group(MANY, radix=RADIX, heartbeat_timeout_ms=8000)
    stopped = members.of(9)
    os.kill(stopped.pid, signal.SIGSTOP)
    members.wait(lambda: all(9 not in p.view[1] for p in members.processes if p is not stopped))
    os.kill(stopped.pid, signal.SIGCONT)
    members.wait(lambda: bool(stopped.said("excluded")))
    members.agree(range(MANY))
    assert stopped.id == 9


def test_many_admit_a_new_one_and_one_that_was_there(group: Make) -> None:
    members = group(MANY, radix=RADIX)
    address = members.of(20).address
    members.kill(20)
    members.start(join=members.of(100).address, listen=address)
    members.start(join=members.of(101).address)
    members.agree(range(MANY + 1))
    assert members.processes[-2].id == 20
    assert members.processes[-1].id == MANY


def test_a_fifth_of_many_is_killed_and_replaced_while_views_change(group: Make) -> None:
    """The root among them; half of the replaced are started where they were, half are new."""
    members = group(MANY, radix=RADIX)
    chance = random.Random(20)
    killed = [0, *chance.sample(range(1, MANY - 1), MANY // 5 - 1)]
    friend = members.of(MANY - 1).address
    returned = set()
    while killed:
        batch, killed = killed[:5], killed[5:]
        addresses = {victim: members.of(victim).address for victim in batch}
        members.kill(*batch)
        for place, victim in enumerate(batch):
            if place % 2 == 0:
                members.start(join=friend, listen=addresses[victim])
                returned.add(victim)
            else:
                members.start(join=friend)
    together = members.settle()
    assert len(together) == MANY
    assert returned <= together


def test_many_idle_members_send_nothing_but_heartbeats_to_their_neighbors(group: Make) -> None:
    members = group(MANY, radix=RADIX)
    before = members.statistics()
    beaten = [one["heartbeats_sent"] + 3 for one in before]

    def have_all_beaten() -> bool:
        now = members.statistics()
        return all(one["heartbeats_sent"] >= least for one, least in zip(now, beaten, strict=True))

    members.wait(have_all_beaten)
    for start, end in zip(before, members.statistics(), strict=True):
        sent = {key: end[key] - start[key] for key in end if key.endswith("_sent")}
        assert sent["messages_sent"] == sent["heartbeats_sent"]
        # 4 of length, 1 of kind.
        assert sent["bytes_sent"] == 5 * sent["heartbeats_sent"]


def test_a_member_of_many_holds_little_memory_and_says_how_much(group: Make) -> None:
    members = group(MANY, radix=RADIX)
    for one in members.statistics():
        assert 0 < one["own_bytes"] <= one["resident_bytes"]
        assert one["own_bytes"] < 16 << 20
        assert one["messages_received"] > 0
        assert one["connections"] > 0
