"""Random deaths, silences, joins and returns among many members, for as long as one likes.

    python tests/member/soak.py --minutes 10 --members 128 --seed 7

Every round kills, stops and starts some, mostly without waiting for the last round's view, and the
root is a favorite; every tenth round waits until all who live are in one view. A failure prints
what the processes said last and the seed.
"""

import argparse
import os
import random
import signal
import sys
import time

from groups import Group, Process
from resprout.errors import UserError

VICTIMS_MAX = 8


class Soak:
    def __init__(self, members: int, radix: int, seed: int) -> None:
        self.chance = random.Random(seed)
        # A hung member is found while others come and go.
        self.group = Group(radix=radix, heartbeat_timeout_ms=5000)
        self.size = members
        self.homes: list[str] = []
        self.friends: dict[int, Process] = {}
        self.stopped: list[Process] = []
        self.counts = dict.fromkeys(("killed", "stopped", "started", "returned", "views"), 0)

    def start(self, listen: str) -> None:
        running = [p for p in self.group.processes if p not in self.stopped and p.view[0]]
        friend = self.chance.choice(running)
        process = self.group.start(join=friend.address, listen=listen)
        self.friends[process.pid] = friend

    def may_die(self) -> list[Process]:
        """Who joins needs one whom it knows until it is a member."""
        joining = [p for p in self.group.processes if not p.view[0]]
        needed = [self.friends[p.pid] for p in joining]
        return [p for p in self.group.processes if p.view[0] and p not in needed]

    def round(self) -> None:
        for process in self.stopped:
            os.kill(process.pid, signal.SIGCONT)
        self.stopped.clear()
        members = self.may_die()
        victims = self.chance.sample(members, self.chance.randrange(1, VICTIMS_MAX))
        if self.chance.random() < 0.5:
            root = min(members, key=lambda p: p.id)
            victims = [*(v for v in victims if v is not root), root]
        for victim in victims:
            if self.chance.random() < 0.2:
                os.kill(victim.pid, signal.SIGSTOP)
                self.stopped.append(victim)
                self.counts["stopped"] += 1
            else:
                victim.kill()
                self.group.processes.remove(victim)
                if victim.address.startswith("127.0.0.2:"):
                    self.homes.append(victim.address)
                self.counts["killed"] += 1
        while len(self.group.processes) < self.size:
            if self.homes and self.chance.random() < 0.5:
                home = self.homes.pop(self.chance.randrange(len(self.homes)))
                self.start(home)
                self.counts["returned"] += 1
            else:
                self.start("127.0.0.1:0")
                self.counts["started"] += 1

    def settle(self) -> None:
        for process in self.stopped:
            os.kill(process.pid, signal.SIGCONT)
        self.stopped.clear()
        self.group.settle()
        self.counts["views"] = max(p.view[0] for p in self.group.processes)

    def run(self, minutes: float) -> None:
        self.group.found(self.size)
        end = time.monotonic() + 60 * minutes
        rounds = 0
        while time.monotonic() < end:
            self.round()
            self.group.wait_for(self.chance.random())
            rounds += 1
            if rounds % 10 == 0:
                self.settle()
        self.settle()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--members", type=int, default=128)
    parser.add_argument("--radix", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    soak = Soak(given.members, given.radix, given.seed)
    try:
        soak.run(given.minutes)
    except (AssertionError, TimeoutError, UserError) as error:
        print(f"failed with --seed {given.seed}: {error}", file=sys.stderr)
        return 1
    finally:
        soak.group.end()
    print(f"{given.members} members, seed {given.seed}: {soak.counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
