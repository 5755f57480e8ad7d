"""`resprout member`: serves one member and prints what happens to it."""

import hashlib
import json
from pathlib import Path

from resprout.errors import UserError
from resprout.member import Member


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


def describe(line: str) -> str:
    """An event for people."""
    event = json.loads(line)
    who = "?" if event["self"] is None else event["self"]
    if event["event"] == "view":
        members = " ".join(map(str, event["members"]))
        return f"{who}: view {event['epoch']}, root {event['root']}: {members}"
    if event["event"] == "suspected":
        return f"{who}: suspects {event['about']}"
    return f"{who}: {event['event']}"


def serve(
    listen: str,
    join: str | None,
    radix: int,
    period_ms: int,
    timeout_ms: int,
    secret_file: Path | None,
    as_json: bool,
) -> int:
    member = Member(
        listen,
        join,
        radix=radix,
        heartbeat_period_ms=period_ms,
        heartbeat_timeout_ms=timeout_ms,
        secret=secret_of(secret_file),
    )
    try:
        while True:
            line = member.poll(1000)
            if line is not None:
                print(line if as_json else describe(line), flush=True)
    except (KeyboardInterrupt, BrokenPipeError):
        return 0
    finally:
        member.close()
