"""One file of HTML: the report with pictures. It loads nothing, and runs no script."""

import shlex
from collections.abc import Iterator, Sequence
from html import escape

from resprout.report.page.events import Event, Json, events_of, headline
from resprout.report.page.pictures import CLOSE_UPS_MAX, close_ups, whole_job
from resprout.report.show import duration

_EVENTS_MAX = 2000
_STYLE = """
:root { --text: #1c2526; --soft: #5c6b6d; --back: #fff; --line: #d9e0e0; --alive: #9ccbc2;
  --loss: #c0392b; --recovery: #e08e0b; --view: #3f6fb5; --other: #8e44ad; }
@media (prefers-color-scheme: dark) { :root { --text: #e4ebea; --soft: #9fb0b0; --back: #14191a;
  --line: #344042; --alive: #2f6f64; --loss: #ff7b6b; --recovery: #f0b04a; --view: #8ab4f8;
  --other: #d2a8ff; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } p.sub { color: var(--soft); margin-top: .2rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; display: block; margin: .5rem 0 1rem; }
svg text { font: 12px system-ui, sans-serif; fill: var(--soft); }
svg .name { text-anchor: end; } svg .axis { text-anchor: middle; }
svg .grid { stroke: var(--line); } svg .mark { fill: none; stroke-width: 2; }
svg .alive { fill: var(--alive); } svg .starting { fill: var(--line); }
svg .unknown { fill: var(--loss); opacity: .45; } svg .recovery { fill: var(--recovery); }
svg rect.view { fill: var(--view); } svg .loss { stroke: var(--loss); }
svg path.view { stroke: var(--view); stroke-dasharray: 3 3; }
svg .unanswered, svg .waiting { stroke: var(--recovery); fill: var(--recovery); }
svg .flip, svg .corruption { stroke: var(--other); }
"""
_LEGEND = (
    "A bar is a rank, a plane or a life that runs; pale: it starts. A cross is a loss, or what "
    "else went wrong. A dashed line is a view that was agreed on. Point at them to read more."
)
_LEGEND_CLOSE = (
    "From a cross until the end of the red bar nobody knew of the loss. Below stand the operations "
    "that recovered, and the views that were agreed on."
)


def page(report: Json) -> str:
    """REQUIRES: its schema was checked."""
    events = events_of(report)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta http-equiv="Content-Security-Policy" '
            "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Resprout: {escape(headline(report))}</title>",
            f"<style>{_STYLE}</style></head><body>",
            f"<h1>{escape(headline(report))}</h1>",
            f'<p class="sub"><code>{escape(shlex.join(report["command"]))}</code></p>',
            *_facts(report),
            *_pictures(report, events),
            *_events(report, events),
            *_calls(report),
            "</body></html>\n",
        ]
    )


def _facts(report: Json) -> Iterator[str]:
    facts = {
        "ranks": report["ranks"],
        "replicas of each": report["replicas"],
        "MPI": report["mpi"],
        "a loss": report["on_loss"],
        "exit status": report["exit_status"],
        "recovery": f"{duration(report['recovery_ns'])} of the slowest rank",
        "Resprout": report["resprout"],
    }
    if report.get("unprotected"):
        facts["not protected"] = ", ".join(map(str, report["unprotected"]))
    if report.get("missing"):
        facts["killed, seen by nobody"] = ", ".join(map(str, report["missing"]))
    if (verified := report.get("verification")) is not None:
        facts["compared"] = f"{verified['share']:.2%} of {verified['total']}, {verified['method']}"
    yield "<table>"
    for name, value in facts.items():
        yield f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
    yield "</table>"


def _pictures(report: Json, events: Sequence[Event]) -> Iterator[str]:
    picture, remark = whole_job(report, events)
    yield f"<h2>The job</h2><p>{_LEGEND} {escape(remark)}</p>"
    yield picture
    closer = close_ups(report, events)
    if closer:
        yield f"<h2>Around the losses</h2><p>{_LEGEND_CLOSE}</p>"
    if len(closer) == CLOSE_UPS_MAX:
        yield f"<p>The first {CLOSE_UPS_MAX} are shown.</p>"
    for one in closer:
        yield f"<h3>{escape(one.title)}</h3>"
        yield one.picture


def _events(report: Json, events: Sequence[Event]) -> Iterator[str]:
    if not events:
        return
    yield "<h2>What happened</h2><table>"
    yield '<tr><th class="n">at</th><th>what</th></tr>'
    for event in events[:_EVENTS_MAX]:
        at = (event.at_ns - report["started_ns"]) / 1e9
        yield f'<tr><td class="n">{at:.6f} s</td><td>{escape(event.text)}</td></tr>'
    yield "</table>"
    if (more := len(events) - _EVENTS_MAX) > 0:
        yield f"<p>{more} more stand in the file of JSON.</p>"


def _calls(report: Json) -> Iterator[str]:
    if not report["operations"]:
        return
    yield "<h2>Calls of MPI, of all ranks that came to their ends</h2><table>"
    names = ("calls", "native", "touched", "errors")
    heads = ("calls", "by the MPI library", "touched by a loss", "with an error")
    yield "<tr><th>call</th>" + "".join(f'<th class="n">{h}</th>' for h in heads) + "</tr>"
    for name, tally in report["operations"].items():
        cells = "".join(f'<td class="n">{tally[one]:,}</td>' for one in names)
        yield f"<tr><td>{escape(name)}</td>{cells}</tr>"
    yield "</table>"
