"""Jobs that are started again: on which hosts, how often, and what is refused."""

import json
from pathlib import Path

import pytest
from resprout.errors import UserError
from resprout.launch.lives.files import Files
from resprout.launch.lives.hosts import Hosts
from resprout.launch.lives.outcome import find_lost, how_it_ended
from resprout.launch.lives.patience import Patience
from resprout.launch.lives.watch import LossSight, is_lost
from resprout.launch.run import Request, make_plan
from resprout.report.launch_end import End
from resprout.report.ranks import read_parts

LINES = ["a slots=2", "b slots=2", "c slots=2", "d slots=3"]


def hosts(lines: list[str], ranks: int, spares: int = 0, spare_hosts: int = 0) -> Hosts:
    return Hosts(lines, ranks, spares, spare_hosts)


def test_a_spare_host_stands_where_the_lost_one_stood() -> None:
    some = hosts(LINES, 6, spare_hosts=1)
    assert some.lines == LINES[:3]
    some.lose(["b"])
    assert some.lines == ["a slots=2", "d slots=2", "c slots=2"]
    assert some.missing_slots == 0
    some.lose(["a"])
    assert some.lines == ["d slots=1", "d slots=2", "c slots=2"]
    assert some.missing_slots == 1
    some.lose(["d"])
    assert some.lines == ["c slots=2"]
    assert some.missing_slots == 4


def test_a_spare_host_may_be_lost_before_it_was_needed() -> None:
    some = hosts(LINES, 6, spare_hosts=1)
    some.lose(["d"])
    assert some.lines == LINES[:3]
    some.lose(["c"])
    assert some.lines == LINES[:2]


def test_several_spare_hosts_may_replace_one() -> None:
    some = hosts(["a slots=4", "b:4", "c slots=2", "d slots=3"], 8, spare_hosts=2)
    some.lose(["a"])
    assert some.lines == ["c slots=2", "d slots=2", "b:4"]


def test_of_hosts_with_unknown_slots_one_replaces_one() -> None:
    some = hosts(["a", "b", "c", "d"], 64, spare_hosts=2)
    some.lose(["a", "b"])
    assert some.lines == ["c", "d"]
    assert some.missing_slots == 0


def test_without_spares_all_ranks_run_on_what_is_left() -> None:
    some = hosts(LINES, 6, spares=3)
    assert some.lines == LINES
    some.lose(["a", "nobody"])
    assert some.lines == LINES[1:]
    assert some.missing_slots == 0


@pytest.mark.parametrize(
    ("spares", "spare_hosts", "says"),
    [(4, 0, "--spares 4 needs 10 slots"), (0, 2, "--spare-hosts 2 needs 6 slots"),
     (0, 4, "--spare-hosts 4 leaves none of the 4 hosts")],
)  # fmt: skip
def test_spares_that_are_not_there_are_refused(spares: int, spare_hosts: int, says: str) -> None:
    with pytest.raises(UserError, match=says):
        hosts(LINES, 6, spares, spare_hosts)


def test_three_short_lives_in_a_row_are_too_many_and_a_long_one_breaks_the_row() -> None:
    patience = Patience()
    assert patience.why_over([1.0, 1.0]) is None
    assert patience.why_over([1.0, 30.0, 1.0, 1.0]) is None
    assert "3 lives in a row" in (patience.why_over([30.0, 1.0, 1.0, 1.0]) or "")
    assert Patience(10, 0.0).why_over([1.0] * 10) is None


def test_no_more_restarts_than_are_allowed() -> None:
    assert Patience(2, 0.0).why_over([1.0] * 2) is None
    assert "2 times" in (Patience(2, 0.0).why_over([1.0] * 3) or "")
    assert "--max-restarts 0" in (Patience(0).why_over([100.0]) or "")


def ask(**options: object) -> None:
    texts = {"--on-loss": "restart", **options.pop("texts", {})}  # type: ignore[dict-item]
    make_plan(Request(ranks=2, program=["true"], texts=texts, **options), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"texts": {"--replicas": "2"}}, "--replicas does not go together with"),
        ({"texts": {"--missing": "last"}}, "--missing does not go together with"),
        ({"texts": {"--on-unanswered": "abort"}}, "--on-unanswered does not go together with"),
        ({"texts": {"--radix": "2"}}, "--radix does not go together with"),
        ({"max_restarts": "-1"}, "--max-restarts: '-1' is not valid"),
        ({"short_life": "soon"}, "--short-life: 'soon' is not valid"),
        ({"spares": "2"}, "--spares needs --hostfile"),
        ({"texts": {"--on-loss": "continue"}, "max_restarts": "3"}, "--max-restarts needs"),
        ({"texts": {"--on-loss": None}, "restart_command": "true"}, "--restart-command needs"),
        ({"restart_command": "true : -n 2 true"}, "--restart-command has 4 ranks, and the job 2"),
        ({"restart_command": "./nowhere --resume"}, "./nowhere is not a program"),
        ({"standby": True, "restart_command": "true"}, "--standby does not go together with"),
        ({"standby": True}, "--standby needs libresprout.so, which is not there"),
        ({"texts": {"--on-loss": "continue"}, "standby": True}, "--standby needs --on-loss"),
        ({"restart_command": "true 'and"}, "--restart-command: .*No closing quotation"),
    ],
)
def test_what_does_not_fit_is_refused_by_one_line(
    options: dict[str, object], says: str, fake_mpi: Path
) -> None:
    with pytest.raises(UserError, match=says) as refusal:
        ask(mpi=str(fake_mpi), **options)
    assert "\n" not in str(refusal.value)


def leave(directory: Path, rank: int, *names: str, losses: tuple[int, ...] = ()) -> None:
    for name in names:
        (directory / f"{name}-{rank}").write_text("3\n")
    if losses:
        seen = [{"rank": r, "detected_ns": 5, "kind": "exited", "found_by": rank} for r in losses]
        part = {"finalized": False, "losses": seen}
        (directory / f"rank-{rank}.json").write_text(json.dumps(part))


def test_who_was_lost_is_told_from_who_ended_with_the_lost(tmp_path: Path) -> None:
    leave(tmp_path, 0, "entered", losses=(1,))
    leave(tmp_path, 1, "entered")
    leave(tmp_path, 2, "entered", "exit")
    leave(tmp_path, 3, "exit")
    assert [is_lost(tmp_path, rank) for rank in range(4)] == [False, True, True, False]


def test_of_ranks_that_were_ended_together_the_words_of_others_tell_the_first(
    tmp_path: Path,
) -> None:
    leave(tmp_path, 0, "entered", losses=(2,))
    leave(tmp_path, 1, "entered")
    leave(tmp_path, 2, "entered")
    sight = LossSight(tmp_path, None, False)  # type: ignore[arg-type]
    assert find_lost(tmp_path, read_parts(tmp_path), End(137, 0, 1), sight) == (2,)


def test_who_was_killed_first_on_another_host_is_told_from_whom_the_launcher_ended(
    tmp_path: Path,
) -> None:
    for rank in range(4):
        leave(tmp_path, rank, "entered")
    sight = LossSight(tmp_path, None, False)  # type: ignore[arg-type]
    sight.lost = (0,)
    end = End(137, 0, 1)
    assert find_lost(tmp_path, read_parts(tmp_path), end, sight) == (0,)
    lines = [f"rank {rank} signal 9\n{100 + rank} signal 9\n" for rank in (3, 1, 0)]
    (tmp_path / "ended").write_text("rank 2 exit 0\n" + "".join(lines))
    assert find_lost(tmp_path, read_parts(tmp_path), end, sight) == (3,)


def test_a_life_of_which_nothing_is_known_is_lost_if_mpirun_says_so(tmp_path: Path) -> None:
    parts = read_parts(tmp_path)
    assert how_it_ended(parts, End(137, 0, 1), 2, has_lost=False) == "lost"
    assert how_it_ended(parts, End(1, 0, 1), 2, has_lost=False) == "whole"
    assert how_it_ended(parts, End(0, 0, 1), 2, has_lost=False) == "whole"


def test_options_of_checkpoint_files_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--files-every needs --checkpoint-dir or --resume"):
        Files(every="3").variables(2)
    with pytest.raises(UserError, match="give a whole number from 1"):
        Files(tmp_path, every="0").variables(2)
    with pytest.raises(UserError, match="is no folder that can be written to"):
        Files(tmp_path / "none").variables(2)
    with pytest.raises(UserError, match="has no checkpoints"):
        Files(resume=tmp_path).variables(2)
    assert Files(tmp_path, every="3").variables(2) == {
        "RESPROUT_CHECKPOINT_DIR": str(tmp_path), "RESPROUT_FILES_EVERY": "3"
    }  # fmt: skip
    assert Files(code="xor:4").variables(2) == {"RESPROUT_CHECKPOINT_CODE": "xor:4"}
    for wrong in ("xor", "xor:1", "xor:17", "raid"):
        with pytest.raises(UserError, match="give copy, or xor: and a number of ranks"):
            Files(code=wrong).variables(2)
    (tmp_path / "checkpoint-40.rank-0-of-4").touch()
    with pytest.raises(UserError, match="has checkpoints of an earlier job"):
        Files(tmp_path).variables(4)
    with pytest.raises(UserError, match="has checkpoints of 4 ranks, and the job 2"):
        Files(resume=tmp_path).variables(2)
    both = Files(tmp_path, resume=tmp_path).variables(4)
    assert both["RESPROUT_RESUME"] == both["RESPROUT_CHECKPOINT_DIR"] == str(tmp_path)


def test_checkpoint_files_need_a_job_that_is_started_again(tmp_path: Path) -> None:
    request = Request(ranks=2, program=["true"], files=Files(tmp_path))
    with pytest.raises(UserError, match="--checkpoint-dir needs --on-loss restart"):
        make_plan(request, None)
