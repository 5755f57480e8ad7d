"""Draw a trace of `resprout sim --trace` as a timeline: processes down, time across.

resprout sim ftco-allreduce --procs 8 --latency 4 --fail-at 0@16 --trace trace.json
python docs/pictures/draw_trace.py trace.json docs/pictures/allreduce.svg --died 0@16 --title "..."
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

COLORS = {
    "contribution": "#4c78a8",
    "result": "#54a24b",
    "tree": "#4c78a8",
    "correction": "#e39c37",
    "pull": "#b279a2",
    "supply": "#54a24b",
}
LEFT, TOP, ROW, STEP, DEAD = 70, 54, 30, 15, "#c23b3b"


def draw(events: list[dict], died: dict[int, int], title: str) -> str:
    """The SVG text; times in ticks, `died` from rank to the tick of its death."""
    slices = [event for event in events if event["ph"] == "X"]
    ranks = 1 + max(event["tid"] for event in events if event["ph"] == "X")
    end = max(event["ts"] + event["dur"] for event in slices)
    width, height = LEFT + end * STEP + 30, TOP + ranks * ROW + 66
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT - 56}" y="24" font-size="15">{title}</text>',
    ]

    def x(tick: float) -> float:
        return LEFT + tick * STEP

    def y(rank: int) -> float:
        return TOP + rank * ROW + ROW / 2

    for rank in range(ranks):
        stop = died.get(rank, end)
        out.append(
            f'<text x="{LEFT - 56}" y="{y(rank) + 4}">rank {rank}</text>'
            f'<line x1="{x(0)}" y1="{y(rank)}" x2="{x(stop)}" y2="{y(rank)}" stroke="#cccccc"/>'
        )
        if rank in died:
            out.append(
                f'<text x="{x(stop)}" y="{y(rank) + 6}" text-anchor="middle" font-size="18" '
                f'fill="{DEAD}">✕</text>'
            )
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    for event in (event for event in events if event["ph"] == "f"):
        start = begins[event["id"]]
        out.append(
            f'<line x1="{x(start["ts"] + 0.5)}" y1="{y(start["tid"])}" x2="{x(event["ts"] + 0.5)}" '
            f'y2="{y(event["tid"])}" stroke="{COLORS[event["cat"]]}" stroke-width="1.2"/>'
        )
    for event in slices:
        is_send = event["name"].startswith("send")
        fill = COLORS[event["cat"]] if is_send else "white"
        out.append(
            f'<rect x="{x(event["ts"])}" y="{y(event["tid"]) - 6}" width="{event["dur"] * STEP}" '
            f'height="12" fill="{fill}" stroke="{COLORS[event["cat"]]}"/>'
        )
    for event in (event for event in events if event["name"] == "deliver"):
        out.append(f'<circle cx="{x(event["ts"])}" cy="{y(event["tid"])}" r="5" fill="#2b2b2b"/>')
    legend = [("contribution", "contribution"), ("result", "result")]
    if any(event["cat"] == "tree" for event in slices):
        legend = [("tree", "tree"), ("correction", "correction")]
    at = float(LEFT)
    base = TOP + ranks * ROW + 30
    for kind, text in legend:
        out.append(
            f'<rect x="{at}" y="{base - 10}" width="12" height="12" fill="{COLORS[kind]}"/>'
            f'<text x="{at + 18}" y="{base}">{text} (filled: sent, open: received)</text>'
        )
        at += 300
    out.append(
        f'<circle cx="{at + 6}" cy="{base - 4}" r="5" fill="#2b2b2b"/>'
        f'<text x="{at + 18}" y="{base}">call returns</text>'
        f'<text x="{LEFT}" y="{base + 22}" fill="#666666">time in LogP ticks: '
        f"0 … {end}</text></svg>"
    )
    return "\n".join(out) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw a trace of `resprout sim --trace` as SVG.")
    parser.add_argument("trace", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--died", action="append", default=[], metavar="RANK@TICK")
    parser.add_argument("--title", default="")
    options = parser.parse_args()
    died = dict(map(int, text.split("@")) for text in options.died)
    events = json.loads(options.trace.read_text())["traceEvents"]
    options.picture.write_text(draw(events, died, options.title), encoding="utf-8")


if __name__ == "__main__":
    main()
