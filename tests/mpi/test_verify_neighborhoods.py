"""`resprout run --verify` and neighborhood collectives, in all forms and on all topologies."""

import jobs
import pytest

RANKS = 3
PROGRAM = jobs.PROGRAMS / "neighborhoods"
KINDS = ["allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"]
FORMS = [
    form
    for kind in KINDS
    for form in (f"neighbor_{kind}", f"ineighbor_{kind}", f"neighbor_{kind}_init")
]
TOPOLOGIES = ["world/1", "world/2", "world/3", "world/4"]


def run(replicas: int, method: str, *options: str, program: tuple[str, ...] = ()) -> jobs.Ended:
    chosen = ["--replicas", str(replicas), "--verify", method, *options]
    return jobs.resprout_run(RANKS, [PROGRAM, *program], chosen)


@pytest.mark.parametrize(
    ("replicas", "method"),
    [(2, "all-to-all"), (2, "msg-plus-hash"), (2, "async"), (2, "async-hash"), (3, "async-hash")],
)
def test_what_neighbors_give_and_get_is_verified_and_nobody_is_accused(
    replicas: int, method: str
) -> None:
    ended = run(replicas, method)
    assert ended.status == 0, str(ended)
    assert ended.out == ""
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole"] * replicas
    assert ended.report["corruptions"] == []
    done = ended.report["verification"]
    # Of each both sides are compared.
    assert done["verified"] == 2 * len(FORMS) * len(TOPOLOGIES) * RANKS * replicas, str(ended)
    assert (done["unverified"], done["skipped"]) == (0, 0)


@pytest.mark.parametrize("method", ["msg-plus-hash", "async-hash"])
def test_a_wrong_number_that_a_neighbor_is_given_is_found_in_every_form(method: str) -> None:
    ended = run(2, method, "--on-corruption", "report", program=("corrupt",))
    assert ended.status == 0, str(ended)
    found = ended.report["corruptions"]
    given = [one for one in found if one["of"] == "contribution"]
    assert {one["sender"] for one in given} == {1}
    assert {(one["communicator"], one["call"]) for one in given} == {
        (topology, form) for topology in TOPOLOGIES for form in FORMS
    }
    # Who gets it is its neighbor.
    got = {one["receiver"] for one in found if one["of"] == "result"}
    assert got == {0, 2}, str(ended)


def test_of_three_planes_the_one_that_gives_it_is_excluded() -> None:
    ended = run(3, "async-hash", program=("corrupt",))
    assert ended.status == 0, str(ended)
    assert [plane["how"] for plane in ended.report["planes"]] == ["whole", "excluded", "whole"]
    assert all(one["wrong_replicas"] == [1] for one in ended.report["corruptions"]), str(ended)


def test_without_replicas_they_are_the_library_s_own_and_counted() -> None:
    ended = jobs.resprout_run(RANKS, [PROGRAM])
    assert (ended.status, ended.out) == (0, ""), str(ended)
    assert [ended.calls(form) for form in FORMS] == [RANKS * len(TOPOLOGIES)] * len(FORMS)
