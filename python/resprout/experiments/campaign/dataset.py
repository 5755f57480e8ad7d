"""The results of a campaign: a folder with one Parquet file for each of its finished parts.

1. Which parts are finished is said by which files are there, and by nothing else.
2. A file has the same bytes whoever made it, wherever and when; its name has the part's number, so
   the rows of all files in the order of their names are in the order of the plan.
3. One process at a time writes into a folder.

docs/how-to/campaign.md names the columns. Whoever changes them, or their meaning, raises SCHEMA.
"""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from resprout import __version__, native
from resprout.errors import UserError
from resprout.experiments.campaign.parts import Part, Piece
from resprout.experiments.campaign.plan import PARAMETERS, Plan
from resprout.files import remove_temporaries, replacing

SCHEMA = 3
_PREFIX = "resprout."
_LOCK = ".lock"
# A digest of each run would be more bytes than all else; the seed gives the run again.
_MEASURED = [name for name in native.MEASURED if name != "trace_digest"]
# Numbers that count up: their differences take no room.
_COUNTING = ["repetition", "seed"]


@dataclass(frozen=True)
class Header:
    """What a file says of itself."""

    version: str
    campaign: str
    part: int
    parts: int


def read_header(path: Path) -> Header:
    """Refuses files that are not results of this schema."""
    try:
        found = pq.read_schema(path).metadata or {}
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else error
        raise UserError(f"{path} cannot be read: {why}") from error
    except pa.ArrowException as error:
        raise UserError(f"{path} is not a whole Parquet file") from error
    schema = found.get(f"{_PREFIX}schema".encode())
    if schema is None:
        raise UserError(f"{path} has no results of a campaign")
    if schema != str(SCHEMA).encode():
        text = schema.decode(errors="replace")
        raise UserError(f"{path} has schema {text}; this version reads and writes {SCHEMA}")
    try:
        said = {
            name: found[f"{_PREFIX}{name}".encode()].decode()
            for name in ("version", "campaign", "part", "parts")
        }
        return Header(said["version"], said["campaign"], int(said["part"]), int(said["parts"]))
    except (KeyError, ValueError) as error:
        raise UserError(f"{path} does not say which part of which campaign it is") from error


def part_files(folder: Path) -> list[Path]:
    """The finished parts, in the order of the plan."""
    return sorted(folder.glob("part-*.parquet"))


class Dataset:
    """The folder of one campaign, locked while it is open. It is made if it is not there."""

    def __init__(self, folder: Path, plan: Plan, parts: int) -> None:
        self._folder = folder
        self._header = {"schema": SCHEMA, "version": __version__, "campaign": plan.digest()}
        self._header["parts"] = parts
        self._lock: int | None = None

    def __enter__(self) -> "Dataset":
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
            _take(self._lock, self._folder)
            remove_temporaries(self._folder)
        except OSError as error:
            self._unlock()
            raise UserError(
                f"--output: {self._folder} cannot be written: {error.strerror}"
            ) from error
        except UserError:
            self._unlock()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        (self._folder / _LOCK).unlink(missing_ok=True)
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def finished(self) -> set[int]:
        """The numbers of the finished parts. Refuses results that are not of this campaign."""
        numbers = set()
        for path in part_files(self._folder):
            header = read_header(path)
            if header.version != __version__:
                raise UserError(
                    f"--output: {path} was made by version {header.version}, this is "
                    f"{__version__}; give another folder"
                )
            if header.campaign != self._header["campaign"] or path != self._path(header.part):
                raise UserError(
                    f"--output: {self._folder} has results of another campaign; give another folder"
                )
            numbers.add(header.part)
        return numbers

    def write(self, part: Part, rows: bytes) -> None:
        """Adds the part whose rows simulate() gave."""
        header = {**self._header, "part": part.number}
        metadata = {_PREFIX + key: str(value) for key, value in header.items()}
        table = _table(part, rows).replace_schema_metadata(metadata)
        data = pa.BufferOutputStream()
        pq.write_table(
            table,
            data,
            compression="zstd",
            use_dictionary=[name for name in table.column_names if name not in _COUNTING],
            column_encoding=dict.fromkeys(_COUNTING, "DELTA_BINARY_PACKED"),
        )
        with replacing(self._path(part.number)) as path:
            path.write_bytes(data.getvalue())

    def _path(self, number: int) -> Path:
        return self._folder / f"part-{number:05}.parquet"


def _take(lock: int, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UserError(f"--output: another campaign is writing to {folder}") from error
    except OSError:
        # A file system without locks: it is up to the user to start a campaign once.
        pass


def _table(part: Part, rows: bytes) -> Any:
    asked = pa.concat_tables([_asked(piece) for piece in part.pieces])
    # A row of `rows` has one integer of 8 bytes for each of native.MEASURED.
    cells = memoryview(rows).cast("q")
    columns = {}
    for place, name in enumerate(native.MEASURED):
        if name in _MEASURED:
            buffer = pa.py_buffer(cells[place :: len(native.MEASURED)].tobytes())
            column = pa.Array.from_buffers(pa.int64(), part.runs, [None, buffer])
            is_none = pc.equal(column, native.NONE)
            columns[name] = pc.if_else(is_none, pa.scalar(None, pa.int64()), column)
    for name, column in columns.items():
        asked = asked.append_column(name, column)
    messages = columns["messages"].cast(pa.float64())
    per_process = pc.divide(messages, asked["procs"].cast(pa.float64()))
    place = asked.column_names.index("messages") + 1
    return asked.add_column(place, "messages_per_process", per_process).combine_chunks()


def _asked(piece: Piece) -> Any:
    """What was asked for, a row for each run."""
    columns = {name: pa.repeat(getattr(piece.point, name), piece.count) for name in PARAMETERS}
    for name, first in (("repetition", piece.repetition), ("seed", piece.seed)):
        columns[name] = pa.array(range(first, first + piece.count), pa.int64())
    return pa.table(columns)
