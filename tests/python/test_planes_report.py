"""The report of planes that are lost and come back."""

from dataclasses import replace

from resprout.report.as_json import to_json
from resprout.report.corruptions import Corruption, describe
from resprout.report.job import Loss, PlaneEnd, Report, Return
from resprout.report.plane_ends import decide
from resprout.report.planes import describe_planes


def plane(replica: int, how: str, status: int = 0) -> PlaneEnd:
    loss = Loss(3, 77, "here", "killed", None, None, None, 2_000, 0, ())
    losses = (loss,) if how == "lost" else ()
    report = Report((), "", "continue", 4, 1_000, 9_000, status, status, losses)
    return PlaneEnd(replica, how, status, 9_000, report)


BACK = replace(
    plane(0, "whole"), returns=(Return(plane(0, "lost", 137), 3_000, 1_000_001_000, 12),)
)


def test_a_plane_that_is_back_decides_as_any_other() -> None:
    assert decide([BACK, plane(1, "lost", 137)]) is BACK
    assert [one.how for one in BACK.launches] == ["lost", "whole"]
    in_vain = replace(plane(0, "lost"), returns=(Return(plane(0, "lost"), 3_000),))
    assert [one.how for one in in_vain.launches] == ["lost"]


def described(*planes: PlaneEnd) -> str:
    job = replace(planes[-1].report, planes=planes, replicas=len(planes), ended_ns=10**10)
    return "\n".join(describe_planes(job))


def test_the_report_says_who_came_back() -> None:
    words = described(BACK, plane(1, "whole"))
    assert "1 of 2 planes was lost and came back; " in words
    why = "rank 3 (pid 77) was killed"
    assert f"  plane 0 was lost: {why}; it came back at 1.000 s, from checkpoint 12" in words
    assert "2 planes were left" in words
    words = described(BACK, plane(1, "lost"))
    assert "2 of 2 planes were lost, 1 of them came back; " in words
    assert "1 plane was left" in words


def test_the_report_says_who_did_not_come_back() -> None:
    lost = plane(0, "lost", 137)
    words = described(replace(lost, returns=(Return(lost, 3_000),)), plane(1, "whole"))
    assert "1 of 2 planes was lost; " in words
    assert "rank 3 (pid 77) was killed; it was started again, and did not come back" in words
    assert "1 plane was left" in words


def test_the_report_has_every_return() -> None:
    job = replace(BACK.report, planes=(BACK, plane(1, "whole")), replicas=2)
    zero, one = to_json(job)["planes"]
    assert one["returns"] == []
    (returned,) = zero["returns"]
    (loss,) = returned.pop("losses")
    assert (loss["rank"], loss["at_ns"]) == (3, 1_000)
    assert returned == {
        "started_ns": 3_000, "joined_ns": 1_000_001_000, "checkpoint": 12, "how": "lost",
    }  # fmt: skip


def test_where_nobody_can_tell_it_is_said_that_the_one_that_came_back_is_excluded() -> None:
    found = Corruption(
        of="message", call="recv", sender=1, receiver=2, tag=7, communicator="world", number=3,
        bytes=24, wrong_replicas=(), tainted=False, replaced=False, end="undecided",
        then="exclude", rank=2, replica=0, found_ns=1,
    )  # fmt: skip
    (line,) = describe([found, replace(found, then="go_on", replica=1, rank=0)])
    assert line.endswith(
        "nobody can tell which copy is right; plane 0, which has come back last, is excluded"
    )
