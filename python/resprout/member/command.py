"""`resprout member`: serves one member and prints what happens to it."""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from resprout import log
from resprout.errors import UserError
from resprout.files import STATUS_NO_ROOM
from resprout.member import Member
from resprout.member.control import LEAVE, REMOVE, STATE, Door, ask
from resprout.member.figures import Figures
from resprout.member.hooks import Hook
from resprout.member.output import Output

_POLL_MS = 200
# For the user's command, at the member's end.
_HOOK_SECONDS = 5.0


@dataclass(frozen=True)
class Asked:
    """What the user asks for, unchecked."""

    listen: str
    join: str | None = None
    radix: int = 2
    period_ms: int = 500
    timeout_ms: int = 5000
    secret_files: Sequence[Path] = ()
    group: str | None = None
    order: Path | None = None
    views: str = "whole"
    on_event: str | None = None
    control: Path | None = None
    metrics: Path | None = None
    as_json: bool = False
    advertise: str | None = None
    tags: Sequence[str] = ()


def secret_of(file: Path | None, group: str | None) -> bytes | None:
    """What the members share: any bytes of a file, without the blanks around them, and a name.

    Members of another group do not know it, so they are rejected.
    """
    text = b""
    if file is not None:
        try:
            text = file.read_bytes().strip()
        except OSError as error:
            raise UserError(f"--secret-file: {file}: {error.strerror}") from error
        if not text:
            raise UserError(f"--secret-file: {file} is empty")
    if group is None:
        return hashlib.sha256(text).digest() if text else None
    return hashlib.sha256(hashlib.sha256(text).digest() + group.encode()).digest()


def secrets_of(files: Sequence[Path], group: str | None) -> list[bytes] | None:
    """That of each file, as `secret_of` has it."""
    found = [secret_of(file, group) for file in files or (None,)]
    secrets = [secret for secret in found if secret is not None]
    return list(dict.fromkeys(secrets)) or None


def tags_of(words: Sequence[str]) -> dict[str, str]:
    """KEY=VALUE each."""
    for word in words:
        if "=" not in word:
            raise UserError(f"--tag: '{word}' is not KEY=VALUE, as role=db")
    return dict(word.split("=", 1) for word in words)


def state_file(listen: str) -> Path | None:
    """Where the member that listens there keeps where the others are; None: it cannot.

    Who takes any free port is somebody else the next time, and keeps nothing.
    """
    if listen.endswith(":0"):
        return None
    try:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        folder = Path(base) / "resprout" / "members"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder / listen.replace("/", "_")


# Of events of which there is not more to say; the others say their names.
_SAYINGS = {
    "suspected": "suspects {about}",
    "message": "hears {bytes} bytes of {from}",
    "removed": "another member has removed it; it ends",
}


def describe(line: str) -> str:
    """An event for people."""
    event = json.loads(line)
    if event["event"] == "statistics":
        return (
            f"sent {event['messages_sent']} messages, {event['bytes_sent']} bytes; "
            f"received {event['messages_received']}, {event['bytes_received']} bytes; "
            f"{event['connections']} connections, {event['rejected']} rejected; "
            f"{event['own_bytes'] >> 10} KiB of memory"
        )
    who = "?" if event["self"] is None else event["self"]
    if event["event"] == "view":
        return f"{who}: view {event['epoch']}, root {event['root']}: {_members(event)}"
    if event["event"] == "rejected":
        return f"{who}: rejected {event['peer'] or 'somebody'}, {_reason(event)}"
    if event["event"] == "founding":
        return (
            f"{who}: nobody of the group that it was in before answers; it founds another one. "
            "If that group lives elsewhere, start this member with --join"
        )
    return f"{who}: {_SAYINGS.get(event['event'], '{event}').format(**event)}"


def _members(view: dict[str, Any]) -> str:
    if "members" in view:
        return " ".join(map(str, view["members"]))
    watched = " ".join(map(str, view["neighbors"])) or "-"
    return f"{view['count']} members, digest {view['digest']}; it watches {watched}"


def _reason(event: dict[str, Any]) -> str:
    if event["reason"] == "secret":
        return "which has another secret"
    return (
        f"which speaks version {event['peer_version']} of the protocol; "
        f"this member speaks version {event['version']}"
    )


def warn_of_place(order: Path | None, view: dict[str, Any]) -> None:
    """Says on stderr if a member's first view has it elsewhere than its order."""
    if view["place"] == view["self"]:
        return
    if view["place"] is None:
        why = f"{order} does not name {view['address']} nor this host"
    else:
        why = f"{order} has this member at {view['place']}, where another one is or was"
    print(f"resprout: order: {why}; it has place {view['self']}", file=sys.stderr, flush=True)


def serve(asked: Asked) -> int:
    member = Member(
        asked.listen,
        asked.join,
        radix=asked.radix,
        heartbeat_period_ms=asked.period_ms,
        heartbeat_timeout_ms=asked.timeout_ms,
        secret=secrets_of(asked.secret_files, asked.group),
        order=asked.order,
        views=asked.views,
        state=state_file(asked.listen),
        advertise=asked.advertise,
        tags=tags_of(asked.tags),
    )
    try:
        return _Service(member, asked).run()
    finally:
        member.close()


class _Service:
    """A member, what it says, and those who ask it."""

    def __init__(self, member: Member, asked: Asked) -> None:
        self._member = member
        self._asked = asked
        self._is_ended = self._is_asked = self._has_new_secrets = False
        self._output = Output(sys.stdout.fileno())
        self._hook = Hook(asked.on_event)
        self._figures = Figures(asked.metrics, asked.listen)
        self._door = Door(asked.control)
        self._view: dict[str, Any] | None = None
        self._is_placed = asked.order is None or asked.views == "local"

    def run(self) -> int:
        signal.signal(signal.SIGINT, self._end)
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGUSR1, self._ask)
        if self._asked.secret_files:
            signal.signal(signal.SIGHUP, self._renew)
        try:
            while not self._is_ended:
                self._turn()
            self._say(self._member.statistics())
            self._hook.end(_HOOK_SECONDS)
            return 0 if self._output.end() else STATUS_NO_ROOM
        except BrokenPipeError:
            return 0
        finally:
            self._door.close()

    def _turn(self) -> None:
        line = self._member.poll(_POLL_MS)
        if line is not None:
            self._say(line)
            self._note(line)
        if self._is_asked:
            self._is_asked = False
            self._say(self._member.statistics())
        if self._has_new_secrets:
            self._has_new_secrets = False
            self._read_secrets()
        self._output.move()
        self._hook.move()
        self._figures.write(self._statistics)
        self._door.serve(self._answer)

    def _note(self, line: str) -> None:
        event = json.loads(line)
        self._hook.note(line)
        self._figures.note(event)
        if event["event"] == "view":
            self._view = event
            if not self._is_placed:
                self._is_placed = True
                warn_of_place(self._asked.order, event)
        elif event["event"] in ("excluded", "isolated", "joining", "removed"):
            self._view = None
            self._is_ended |= event["event"] == "removed"

    def _read_secrets(self) -> None:
        """Of the same files. Without all of them it keeps those that it has."""
        try:
            secrets = secrets_of(self._asked.secret_files, self._asked.group)
        except UserError as error:
            log.warn(f"SIGHUP: {error}; the member goes on with the secrets that it had")
            return
        if secrets is not None:
            self._member.use_secrets(secrets)
            log.info(f"SIGHUP: secrets read anew: {len(secrets)}")

    def _answer(self, request: str) -> dict[str, Any] | None:
        word, _, rest = request.partition(" ")
        if word == LEAVE:
            self._is_ended = True
        elif word == REMOVE:
            try:
                self._member.remove(int(rest))
            except (UserError, ValueError) as error:
                return {"error": str(error)}
        elif word != STATE:
            return None
        return self._state()

    def _statistics(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._member.statistics())
        return found

    def _state(self) -> dict[str, Any]:
        known = json.loads(self._member.members())["members"]
        return {"view": self._view, "members": known, "statistics": self._statistics()}

    def _say(self, line: str) -> None:
        self._output.say(line if self._asked.as_json else describe(line))

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self._is_ended = True

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._is_asked = True

    def _renew(self, _number: int, _frame: FrameType | None) -> None:
        self._has_new_secrets = True


def tell(control: Path, leave: bool, remove: int | None, as_json: bool) -> int:
    """`resprout members`: what the member that answers at `control` knows. Status 1: it is none."""
    if leave and remove is not None:
        raise UserError("--leave and --remove: give one of them")
    state = ask(control, LEAVE if leave else STATE if remove is None else f"{REMOVE} {remove}")
    view = state["view"]
    if as_json:
        print(json.dumps(state))
    else:
        print("in no view" if view is None else describe(json.dumps(view)))
        for number, known in state["members"].items():
            words = [f"{key}={value}" for key, value in known["tags"].items()]
            print("  ".join([f"{number:>5}", known["address"], *words]))
        print(describe(json.dumps(state["statistics"])))
    return 0 if view is not None else 1
