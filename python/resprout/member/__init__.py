"""One member of a membership over TCP, without MPI: who is alive, agreed on by all members."""

import ctypes
import json
import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from resprout.errors import UserError

LIBRARY = Path(__file__).resolve().parent.parent / "libresprout_sim.so"
SECRET_BYTES = 32
SECRETS_MAX = 4
TAGS_BYTES_MAX = 512
"""Of all tags of a member, as lines of KEY=VALUE."""
_KEY = re.compile(r"[A-Za-z0-9_.-]+")
_VALUE = re.compile(r"[ !#-\[\]-~]*")
EVERYBODY = -1


class _COptions(Structure):
    _fields_ = [
        ("listen", c_char_p),
        ("join", c_char_p),
        ("radix", c_int),
        ("heartbeat_period_ms", c_int64),
        ("heartbeat_timeout_ms", c_int64),
        ("secret", c_char_p),
        ("order", c_char_p),
        ("views", c_char_p),
        ("state", c_char_p),
        ("advertise", c_char_p),
        ("tags", c_char_p),
        ("secrets", c_int),
    ]


def _library() -> Any:
    if not LIBRARY.exists():
        raise UserError(f"{LIBRARY} is missing; `make build` or `pip install` puts it there")
    library = ctypes.CDLL(str(LIBRARY))
    library.resprout_member_new.restype = c_void_p
    library.resprout_member_new.argtypes = [POINTER(_COptions)]
    library.resprout_member_refusal.restype = c_char_p
    library.resprout_member_run.restype = c_char_p
    library.resprout_member_run.argtypes = [c_void_p, c_int]
    library.resprout_member_data.restype = c_void_p
    library.resprout_member_data.argtypes = [c_void_p, POINTER(c_size_t)]
    library.resprout_member_send.restype = c_uint64
    library.resprout_member_send.argtypes = [c_void_p, c_int, c_char_p, c_size_t]
    library.resprout_member_remove.restype = c_int
    library.resprout_member_remove.argtypes = [c_void_p, c_int]
    library.resprout_member_use_secrets.restype = c_int
    library.resprout_member_use_secrets.argtypes = [c_void_p, c_char_p, c_int]
    library.resprout_member_members.restype = c_char_p
    library.resprout_member_members.argtypes = [c_void_p]
    library.resprout_member_statistics.restype = c_char_p
    library.resprout_member_statistics.argtypes = [c_void_p]
    library.resprout_member_free.restype = None
    library.resprout_member_free.argtypes = [c_void_p]
    return library


def addresses_of(option: str, address: str) -> list[str]:
    """HOST:PORT with the name of a host replaced by each of its addresses, those of IPv4 first.

    What is no HOST:PORT stays as it is. UserError: nobody knows the name.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not host or host.startswith("[") or ":" in host or not port.isdigit():
        return [address]
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UserError(f"{option}: '{address}': no host has the name {host}") from error
    found.sort(key=lambda entry: entry[0] != socket.AF_INET)
    return [
        f"{where[0]}:{port}" if family == socket.AF_INET else f"[{where[0]}]:{port}"
        for family, *_, where in found
    ]


def numeric(option: str, address: str) -> str:
    """The first of `addresses_of`."""
    return addresses_of(option, address)[0]


def _seeds(join: str) -> str:
    """All addresses of all that it names."""
    found = [where for seed in join.split(",") for where in addresses_of("join", seed.strip())]
    return ",".join(dict.fromkeys(found))


def _secrets(given: bytes | Sequence[bytes]) -> list[bytes]:
    """UserError: they are none."""
    secrets = [given] if isinstance(given, bytes) else list(given)
    for secret in secrets:
        if len(secret) != SECRET_BYTES:
            raise UserError(f"secret: {len(secret)} bytes are not {SECRET_BYTES}")
    if not 1 <= len(secrets) <= SECRETS_MAX:
        raise UserError(f"secret: {len(secrets)} secrets are not 1 to {SECRETS_MAX}")
    return secrets


def _tags(tags: Mapping[str, str]) -> bytes:
    """UserError: one of them cannot be, or they are too long."""
    for key, value in tags.items():
        if not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
            word = f"{key}={value}"
            raise UserError(
                f"tag: {word!r} is not KEY=VALUE. A key has letters, digits, _ - and .; a value is "
                "printable ASCII without quotation marks and backslashes"
            )
    text = "".join(f"{key}={tags[key]}\n" for key in sorted(tags)).encode()
    if len(text) > TAGS_BYTES_MAX:
        raise UserError(f"tag: all tags together have {len(text)} bytes, at most {TAGS_BYTES_MAX}")
    return text


class Member:
    """A member, served by the thread that iterates over `events`.

    `listen` and `join` are HOST:PORT; without `join` it is the first one of a new membership.
    `join` may name several members, with commas between them, which are asked in turn. The others
    reach it at `advertise`, HOST:PORT, if that is not where it listens. All members show its
    `tags`. With several secrets it proves itself by the first one and accepts any of them.
    `state` is a file in which it keeps where the others are: started again without `join`, it asks
    these before it founds a membership. `order` is a file with the places of members in the tree;
    with `views` local a member knows its neighborhood only, and `order` has where all listen; see
    resprout/member.h.
    Raises UserError with one line if it cannot be. Closing it is its death.
    """

    def __init__(
        self,
        listen: str,
        join: str | None = None,
        *,
        radix: int = 2,
        heartbeat_period_ms: int = 500,
        heartbeat_timeout_ms: int = 5000,
        secret: bytes | Sequence[bytes] | None = None,
        order: str | os.PathLike[str] | None = None,
        views: str = "whole",
        state: str | os.PathLike[str] | None = None,
        advertise: str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        secrets = [] if secret is None else _secrets(secret)
        self._library = _library()
        options = _COptions(
            numeric("listen", listen).encode(),
            None if join is None else _seeds(join).encode(),
            radix,
            heartbeat_period_ms,
            heartbeat_timeout_ms,
            b"".join(secrets) if secrets else None,
            None if order is None else os.fsencode(order),
            views.encode(),
            None if state is None else os.fsencode(state),
            None if advertise is None else numeric("advertise", advertise).encode(),
            _tags(tags) if tags else None,
            len(secrets),
        )
        self._handle = self._library.resprout_member_new(ctypes.byref(options))
        if self._handle is None:
            raise self._refusal()

    def _refusal(self) -> UserError:
        return UserError(self._library.resprout_member_refusal().decode(errors="replace"))

    def poll(self, timeout_ms: int) -> str | None:
        """What has happened, as one line of JSON; None: nothing in that time."""
        line = self._library.resprout_member_run(self._handle, timeout_ms)
        return None if line is None else str(line.decode())

    def data(self) -> bytes:
        """What was said, if the last `poll` has returned an event `message`."""
        size = c_size_t()
        start = self._library.resprout_member_data(self._handle, ctypes.byref(size))
        return ctypes.string_at(start, size.value) if size.value else b""

    def send(self, data: bytes, to: int = EVERYBODY) -> int:
        """Says it to the member `to`, or to all others of the view; the epoch of that view.

        Whoever receives it is in this view then, or does not receive it. UserError: it was not
        said.
        """
        epoch = self._library.resprout_member_send(self._handle, to, data, len(data))
        if epoch == 0:
            raise self._refusal()
        return int(epoch)

    def remove(self, member: int) -> None:
        """Has another member leave; the others go on without it, even if it does not answer.

        UserError: there is no such member, or this process is in no view.
        """
        if self._library.resprout_member_remove(self._handle, member) != 0:
            raise self._refusal()

    def use_secrets(self, secrets: bytes | Sequence[bytes]) -> None:
        """For connections that begin from now on; see resprout/member.h."""
        kept = _secrets(secrets)
        self._library.resprout_member_use_secrets(self._handle, b"".join(kept), len(kept))

    def members(self) -> str:
        """Who is in its view, and where, as one line of JSON; see resprout/member.h."""
        return str(self._library.resprout_member_members(self._handle).decode())

    def statistics(self) -> str:
        """What it has cost since it was made, as one line of JSON; see resprout/member.h."""
        return str(self._library.resprout_member_statistics(self._handle).decode())

    def events(self) -> Iterator[dict[str, Any]]:
        """All that happens, for ever; each has the keys that resprout/member.h names.

        A `message` has also `data`, what was said.
        """
        while True:
            line = self.poll(1000)
            if line is not None:
                event = json.loads(line)
                yield event | {"data": self.data()} if event["event"] == "message" else event

    def close(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self._library.resprout_member_free(self._handle)
            self._handle = None

    __del__ = close

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
