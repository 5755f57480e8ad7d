"""`resprout member`: serves one member and prints what happens to it."""

import hashlib
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from resprout.errors import UserError
from resprout.files import STATUS_NO_ROOM
from resprout.member import Member
from resprout.member.output import Output


def secret_of(file: Path | None) -> bytes | None:
    """The members' secret: any bytes of a file, without the blanks around them."""
    if file is None:
        return None
    try:
        text = file.read_bytes().strip()
    except OSError as error:
        raise UserError(f"--secret-file: {file}: {error.strerror}") from error
    if not text:
        raise UserError(f"--secret-file: {file} is empty")
    return hashlib.sha256(text).digest()


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
    if event["event"] == "suspected":
        return f"{who}: suspects {event['about']}"
    return f"{who}: {event['event']}"


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


def serve(
    listen: str,
    join: str | None,
    radix: int,
    period_ms: int,
    timeout_ms: int,
    secret_file: Path | None,
    order: Path | None,
    views: str,
    as_json: bool,
) -> int:
    member = Member(
        listen,
        join,
        radix=radix,
        heartbeat_period_ms=period_ms,
        heartbeat_timeout_ms=timeout_ms,
        secret=secret_of(secret_file),
        order=order,
        views=views,
        state=state_file(listen),
    )
    is_ended = is_asked = False

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_ended
        is_ended = True

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_asked
        is_asked = True

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGUSR1, ask)
    of = (lambda line: line) if as_json else describe
    output = Output(sys.stdout.fileno())
    is_placed = order is None or views == "local"
    try:
        while not is_ended:
            line = member.poll(200)
            if line is not None:
                output.say(of(line))
                if not is_placed and '"event":"view"' in line:
                    is_placed = True
                    warn_of_place(order, json.loads(line))
            if is_asked:
                is_asked = False
                output.say(of(member.statistics()))
            output.move()
        output.say(of(member.statistics()))
        return 0 if output.end() else STATUS_NO_ROOM
    except BrokenPipeError:
        return 0
    finally:
        member.close()
