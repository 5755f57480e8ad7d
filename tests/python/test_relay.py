"""Output of planes of which some are started again: every line is shown once, whoever is lost."""

import os
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from resprout.launch.planes.lines import Key, Lines, Marker
from resprout.launch.planes.relay import Relay, Tagged

OUT = (0, "stdout")
JOB = "/tmp/resprout-k3x9a2lm"


def marker(number: int) -> bytes:
    return b"\x1eresprout-return %s/return-%d\n" % (JOB.encode(), number)


def test_a_plane_that_is_back_is_kept_until_the_leader_is_lost() -> None:
    lines = Lines(2)
    assert lines.take(0, OUT, b"1\n") == b"1\n"
    lines.lose(1, {})
    back = lines.add(1)
    assert lines.take(0, OUT, Marker(1)) == b""
    assert [lines.take(back, OUT, said) for said in (Marker(1), b"2\n", b"3\n")] == [b""] * 3
    assert lines.take(0, OUT, b"2\n") == b"2\n"
    assert lines.lose(0, {}) == [(OUT, b"3\n")]
    assert lines.take(back, OUT, b"4\n") == b"4\n"


def test_what_it_says_before_its_marker_is_not_shown() -> None:
    lines = Lines(2)
    back = lines.add(1)
    assert lines.take(back, OUT, b"said before\n") == b""
    lines.take(back, OUT, Marker(1))
    lines.take(0, OUT, Marker(1))
    lines.lose(1, {})
    assert lines.lose(0, {}) == []
    assert lines.take(back, OUT, b"1\n") == b"1\n"


def test_what_it_says_is_held_until_it_is_known_where_it_is() -> None:
    lines = Lines(2)
    lines.lose(0, {})
    back = lines.add(1)
    assert [lines.take(back, OUT, said) for said in (Marker(1), b"3\n", b"4\n")] == [b""] * 3
    assert [lines.take(1, OUT, text) for text in (b"1\n", b"2\n")] == [b"1\n", b"2\n"]
    lines.take(1, OUT, Marker(1))
    assert lines.take(1, OUT, b"3\n") == b"3\n"
    assert lines.lose(1, {}) == [(OUT, b"4\n")]


def test_a_line_that_others_have_begun_goes_on() -> None:
    lines = Lines(2)
    back = lines.add(1)
    lines.take(0, OUT, Marker(1, b"one, "))
    lines.take(back, OUT, Marker(1))
    lines.lose(1, {})
    assert lines.take(0, OUT, b"one, two\n") == b"one, two\n"
    lines.take(back, OUT, b"two\n")
    lines.take(back, OUT, b"three\n")
    assert lines.lose(0, {}) == [(OUT, b"three\n")]


def test_a_line_that_others_have_begun_and_nobody_goes_on_with_is_shown_at_the_end() -> None:
    lines = Lines(2)
    back = lines.add(1)
    lines.take(0, OUT, Marker(1, b"? "))
    lines.take(back, OUT, Marker(1))
    lines.lose(1, {})
    assert lines.lose(0, {}) == []
    assert lines.finish(back, {}) == [(OUT, b"? ")]


def test_who_is_lost_on_the_way_to_its_marker_stands_at_it() -> None:
    lines = Lines(2)
    lines.lose(0, {})
    back = lines.add(1)
    lines.take(back, OUT, Marker(1))
    lines.take(1, OUT, b"1\n")
    lines.take(back, OUT, b"wo\n")
    assert lines.lose(1, {OUT: b"t"}) == [(OUT, b"two\n")]


def test_a_second_one_may_know_where_it_is_only_with_the_first() -> None:
    lines = Lines(2)
    first = lines.add(1)
    for said in (Marker(1), b"2\n", Marker(2, b"3")):
        assert lines.take(first, OUT, said) == b""
    lines.lose(1, {})
    lines.take(0, OUT, b"1\n")
    second = lines.add(2)
    for said in (Marker(2), b"!\n"):
        assert lines.take(second, OUT, said) == b""
    assert lines.lose(0, {}) == [(OUT, b"2\n")]
    assert lines.lose(first, {OUT: b"3"}) == [(OUT, b"3!\n")]


class Screen:
    """What is shown of launchers' words, without pipes and threads."""

    def __init__(self, planes: int) -> None:
        self.lines = Lines(planes)
        self.tagged = [self._tags(0) for _ in range(planes)]
        self.shown: defaultdict[Key, bytes] = defaultdict(bytes)

    def _tags(self, number: int) -> dict[str, Tagged]:
        return {stream: Tagged(number, JOB) for stream in ("stdout", "stderr")}

    def add(self, number: int) -> None:
        self.lines.add(number)
        self.tagged.append(self._tags(number))

    def take(self, copy: int, stream: str, chunk: bytes) -> None:
        for key, said in self.tagged[copy][stream].take(chunk):
            if key is not None:
                self.shown[key] += self.lines.take(copy, key, said)

    def end(self, copy: int, is_lost: bool) -> None:
        begun: dict[Key, bytes] = {}
        for tagged in self.tagged[copy].values():
            for key, said in tagged.take_end():
                assert key is not None and isinstance(said, bytes)
                begun[key] = said
        how = self.lines.lose if is_lost else self.lines.finish
        for key, text in how(copy, begun):
            self.shown[key] += text


KEYS: list[Key] = [(0, "stdout"), (0, "stderr"), (1, "stdout")]


class Story:
    """A job whose planes are lost one after the other and come back, drawn by a seed.

    What each copy says in a stream is a part of one text, with markers. It is lost anywhere behind
    the place where it came, or where the last one has come back; there it may be in front of the
    marker. The last copy that is left comes to its end.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.planes = self.random.choice([2, 3])
        self.returns = self.random.randrange(4)
        self.text = {key: self._some_lines(key) for key in KEYS}
        # Where those that come back do so: at the beginning of a line, in one, or at the end.
        self.places = {
            key: [0, *sorted(self.random.randrange(len(text) + 1) for _ in range(self.returns))]
            for key, text in self.text.items()
        }
        # Of each copy: who it follows, the number with which it comes, and when it is lost.
        self.follows: list[int | None] = [None] * self.planes
        self.comes = [0] * self.planes
        self.lost_in: dict[int, int] = {}
        for number in range(1, self.returns + 1):
            lost = self.random.choice(self._living())
            self.lost_in[lost] = number - 1
            self.follows.append(lost)
            self.comes.append(number)
        for lost in self.random.sample(self._living(), self.random.randrange(self.planes)):
            self.lost_in[lost] = self.returns

    def _living(self) -> list[int]:
        return [copy for copy in range(len(self.comes)) if copy not in self.lost_in]

    def _some_lines(self, key: Key) -> bytes:
        text = b"".join(b"%s %d\n" % (key[1].encode(), i) for i in range(self.random.randrange(12)))
        return text + self.random.choice([b"", b"without end"])

    def said(self, copy: int, key: Key) -> Iterator[tuple[int, bytes]]:
        """The pieces, and which start again must have been before each can be."""
        places = self.places[key]
        last = self.lost_in.get(copy, self.returns)
        text, begin = self.text[key], places[self.comes[copy]]
        end = len(text)
        if copy in self.lost_in:
            to = places[last + 1] if last < self.returns else len(text)
            end = self.random.randint(places[last], max(to, places[last]))
        if self.comes[copy]:
            yield self.comes[copy], marker(self.comes[copy])
        for number in range(self.comes[copy], last + 1):
            to = places[number + 1] if number < last else end
            for piece in self._pieces(text[begin:to]):
                yield number, piece
            begin = to
            is_on_the_way = copy in self.lost_in and number + 1 == last and end == to
            if number < last and not (is_on_the_way and self.random.random() < 0.5):
                yield number + 1, marker(number + 1)

    def _pieces(self, text: bytes) -> Iterator[bytes]:
        for line in text.splitlines(keepends=True):
            cut = self.random.randrange(len(line) + 1)
            yield from (piece for piece in (line[:cut], line[cut:]) if piece)

    def play(self) -> dict[Key, bytes]:
        """In any order in which it can be read."""
        screen = Screen(self.planes)
        copies = range(len(self.comes))
        to_say = {(copy, key): list(self.said(copy, key)) for copy in copies for key in KEYS}
        over: set[int] = set()
        number = 0
        while True:
            can = [
                (copy, key)
                for (copy, key), pieces in to_say.items()
                if pieces and pieces[0][0] <= number and self.comes[copy] <= number
            ]
            ends = [
                copy
                for copy in copies
                if copy not in over
                and self.lost_in.get(copy, self.returns) <= number
                and not any(to_say[copy, key] for key in KEYS)
            ]
            begins = number < self.returns and self.follows[self.planes + number] in over
            if not (can or ends or begins):
                return dict(screen.shown)
            ways = {"say": 2 * len(can), "end": len(ends), "begin": int(begins)}
            what = self.random.choice([name for name, count in ways.items() for _ in range(count)])
            if what == "say":
                copy, key = self.random.choice(can)
                _, piece = to_say[copy, key].pop(0)
                screen.take(copy, key[1], b"[1,%d]<%s>: " % (key[0], key[1].encode()) + piece)
            elif what == "end":
                copy = self.random.choice(ends)
                over.add(copy)
                screen.end(copy, copy in self.lost_in)
            else:
                number += 1
                screen.add(number)


@pytest.mark.parametrize("first", range(0, 3000, 500))
def test_whoever_is_lost_and_comes_back_each_line_is_shown_once(first: int) -> None:
    for seed in range(first, first + 500):
        story = Story(seed)
        expected = {key: text for key, text in story.text.items() if text}
        assert {k: t for k, t in story.play().items() if t} == expected, f"seed {seed}"


class Piped:
    """A relay with real pipes that shows into files."""

    def __init__(self, folder: Path, planes: int) -> None:
        self.paths = {stream: folder / stream for stream in ("stdout", "stderr")}
        self.files = {stream: path.open("wb") for stream, path in self.paths.items()}
        to = {stream: file.fileno() for stream, file in self.files.items()}
        self.relay = Relay(planes, JOB, to)
        self.pipes = [self._duplicates(index) for index in range(planes)]
        self.relay.start()

    def _duplicates(self, index: int) -> dict[str, int]:
        """The launcher's; the relay closes those that it has made."""
        return {stream: os.dup(self.relay.writing_end(index, stream)) for stream in self.paths}

    def add(self, number: int) -> int:
        index = self.relay.add(number)
        self.pipes.append(self._duplicates(index))
        self.relay.start()
        return index

    def say(self, index: int, text: bytes, stream: str = "stdout") -> None:
        os.write(self.pipes[index][stream], text)

    def end(self, index: int) -> None:
        for pipe in self.pipes[index].values():
            os.close(pipe)

    def shown(self, stream: str = "stdout") -> bytes:
        self.relay.join()
        for file in self.files.values():
            file.close()
        return self.paths[stream].read_bytes()


def test_a_relay_takes_up_launches_that_begin_later(tmp_path: Path) -> None:
    piped = Piped(tmp_path, 2)
    piped.say(0, b"[1,0]<stdout>: 1\n[1,0]<stdout>: tw")
    piped.say(0, b"its launcher complains\n", "stderr")
    piped.say(1, b"[1,0]<stdout>: 1\n[1,0]<stdout>: tw")
    piped.end(0)
    piped.relay.lose(0)
    assert piped.relay.own_words(0) == b"its launcher complains\n"
    back = piped.add(1)
    assert back == 2
    piped.say(back, b"[1,0]<stdout>: " + marker(1) + b"[1,0]<stdout>: o\n")
    piped.say(1, b"[1,0]<stdout>: " + marker(1))
    piped.end(1)
    piped.relay.lose(1)
    piped.say(back, b"[1,0]<stdout>: 3\n[1,0]<stdout>: without end")
    piped.end(back)
    piped.relay.finish(back)
    assert piped.shown() == b"1\ntwo\n3\nwithout end"


def test_a_relay_whose_last_launch_ends_before_another_begins_goes_on(tmp_path: Path) -> None:
    piped = Piped(tmp_path, 1)
    piped.end(0)
    piped.relay.finish(0)
    later = piped.add(1)
    piped.say(later, b"of its own\n", "stderr")
    piped.end(later)
    assert piped.relay.own_words(later) == b"of its own\n"
    piped.relay.lose(later)
    assert piped.shown() == b""
