"""`resprout report`: says what a report has, or writes it as a page."""

import json
from pathlib import Path

from resprout.errors import UserError
from resprout.files import replacing
from resprout.report.page.events import Json, check_schema, events_of, headline
from resprout.report.page.page import page


def tell(file: Path, html: Path | None) -> int:
    report = _read(file)
    if html is not None:
        try:
            with replacing(html) as temporary:
                temporary.write_text(page(report), encoding="utf-8")
        except OSError as error:
            raise UserError(f"--html: {html} cannot be written: {error.strerror}") from error
        return 0
    print(headline(report))
    for event in events_of(report):
        print(f"{(event.at_ns - report['started_ns']) / 1e9:12.6f} s  {event.text}")
    return 0


def _read(file: Path) -> Json:
    try:
        return check_schema(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        what = str(error) if str(error).startswith(("is no", "has")) else f"is no JSON: {error}"
        raise UserError(f"{file} {what}") from error
