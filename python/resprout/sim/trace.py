"""A simulated run as Chrome trace events, for Perfetto or chrome://tracing.

One track a process; sends and receives are slices, messages are flows between them. A tick of the
simulation is a microsecond of the trace.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resprout.native import Trace, TracedMessage

Entry = dict[str, Any]


def trace_events(trace: "Trace", overhead: int) -> Iterator[Entry]:
    yield {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "resprout sim"}}
    messages, events = trace["messages"], trace["events"]
    ranks = {m["from"] for m in messages} | {m["to"] for m in messages}
    for rank in sorted(ranks | {event["rank"] for event in events}):
        track = {"pid": 0, "tid": rank}
        yield {"ph": "M", "name": "thread_name", **track, "args": {"name": f"rank {rank}"}}
        yield {"ph": "M", "name": "thread_sort_index", **track, "args": {"sort_index": rank}}
    for number, message in enumerate(messages):
        yield from _message_events(number, message, overhead)
    for event in events:
        place = {"pid": 0, "tid": event["rank"], "ts": event["at"], "s": "t"}
        yield {"ph": "i", "name": event["kind"], "cat": "event", **place}


def _message_events(number: int, message: "TracedMessage", overhead: int) -> Iterator[Entry]:
    sender, receiver, kind = message["from"], message["to"], message["kind"]
    send = {"pid": 0, "tid": sender, "ts": message["sent"]}
    yield {"ph": "X", "name": f"send {kind} to {receiver}", "cat": kind, **send, "dur": overhead}
    if message["received"] is None:  # its receiver is dead
        return
    begin = message["received"] - overhead
    receive = {"pid": 0, "tid": receiver, "ts": begin}
    name = f"receive {kind} from {sender}"
    yield {"ph": "X", "name": name, "cat": kind, **receive, "dur": overhead}
    flow = {"name": kind, "cat": kind, "id": number}
    yield {"ph": "s", **flow, **send}
    yield {"ph": "f", "bp": "e", **flow, **receive}


def write_trace(trace: "Trace", overhead: int, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ms", "traceEvents": [\n')
        for number, event in enumerate(trace_events(trace, overhead)):
            file.write((",\n" if number else "") + json.dumps(event))
        file.write("\n]}\n")
