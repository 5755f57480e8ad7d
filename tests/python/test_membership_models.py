"""The models of Scalable Membership, by the numbers of its text and by cases counted by hand."""

import pytest
from resprout import native
from resprout.experiments.reproduce.membership import models
from resprout.experiments.reproduce.membership.machines import ETHERNET_L, O_CP, SERVICE, TORUS_L


def test_a_tree_of_four_children_grows_above_5_21_and_85_nodes() -> None:
    grows = [n for n in range(1, 200) if models.height(n, 4) < models.height(n + 1, 4)]
    assert grows == [1, 5, 21, 85]


@pytest.mark.parametrize(
    ("procs", "height"), [(1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11)]
)
def test_a_binary_tree_has_a_level_for_each_power_of_two(procs: int, height: int) -> None:
    assert models.height(procs, 2) == height


def test_equations_1_and_2() -> None:
    # Ten levels to pass, there and back; eleven to calculate on.
    assert models.base_model(1024, 2, TORUS_L, O_CP) == pytest.approx(2 * 4.6 * 10 + 2 * 11)
    assert models.base_model(47, 4, ETHERNET_L, O_CP) == pytest.approx(2 * 118 * 3 + 2 * 4)


def test_hops_are_those_of_a_torus_of_midplanes() -> None:
    assert models.hops(0, 7, 8) == 1
    assert models.hops(0, 4 + 8 * 4 + 64 * 4, 512) == 12
    assert (models.hops(0, 512, 1024), models.hops(0, 960, 1024)) == (8, 1)
    for one, other in ((3, 500), (511, 0), (77, 402)):
        assert models.hops(one, other, 512) == models.hops(other, one, 512)


def test_the_distance_model_adds_the_longest_way_of_each_level() -> None:
    # Level 1: 0-1 one hop, 0-2 two. Level 2: 1-3 two, 1-4 three, 2-5 three, 2-6 four.
    assert models.longest_ways(7, 2) == [2, 4]
    assert models.distance_model(7, 2, 10.0, 1.0) == 2 * 6 * 10 + 3
    assert models.printed_distance_model(7, 2, 10.0, 1.0) == 2 * 6 * 10 * 2 + 3


def test_the_distance_model_is_never_below_the_protocol_in_the_same_torus() -> None:
    """It takes the longest way of each level; the protocol waits for the longest path."""
    for procs in (16, 64, 100):
        for leaf in (procs - 2, procs - 3):
            found = native.stabilize(
                procs=procs, radix=4, victim=leaf, network="torus", latency=4600, processing=2000
            )
            assert found["stabilized"] / 1e3 <= models.distance_model(procs, 4, TORUS_L, O_CP)


@pytest.mark.parametrize("children", [1, 2, 4])
def test_contention_is_what_a_serializing_switch_does(children: int) -> None:
    for groups in (1, 3, 6, 9):
        nodes = groups * (children + 1)
        found = native.contention_latency(nodes, children, latency=118_000, service=19_667)
        model = models.contention_latency(nodes, children, ETHERNET_L, SERVICE)
        assert found / 1e3 == pytest.approx(model, rel=0.1)


def test_twelve_nodes_in_pairs_just_fill_the_switch() -> None:
    assert models.contention_latency(12, 1, ETHERNET_L, SERVICE) == pytest.approx(ETHERNET_L)
    assert models.contention_latency(14, 1, ETHERNET_L, SERVICE) > 1.1 * ETHERNET_L


def test_the_contention_model_is_the_base_model_with_that_latency() -> None:
    latency = models.contention_latency(47, 2, ETHERNET_L, SERVICE)
    model = models.contention_model(47, 2, ETHERNET_L, O_CP, SERVICE)
    assert model == models.base_model(47, 2, latency, O_CP)


def test_a_tree_keeps_its_height_if_somebody_of_its_last_level_keeps_his_place() -> None:
    # 3 alone is on the last level, below 1.
    assert [models.keeps_height(4, 2, dead) for dead in (1, 2, 3)] == [False, True, False]
    assert all(models.keeps_height(7, 2, dead) for dead in range(1, 7))


@pytest.mark.parametrize(
    ("scene", "complaint"),
    [
        ({"procs": 1}, "procs: 1 is not from 2 to 4096"),
        ({"radix": 3}, "radix: 3"),
        ({"victim": 0}, "victim: 0 is not from 1 to 7"),
        ({"latency": -1}, "latency"),
        ({"service": 2}, "service"),
        ({"talkers": 8}, "talkers: 8"),
        ({"network": "pigeons"}, "uniform, torus, ethernet"),
    ],
)
def test_what_cannot_be_simulated_is_refused(scene: dict[str, int], complaint: str) -> None:
    good = {"procs": 8, "radix": 2, "victim": 1, "latency": 1, "processing": 0}
    with pytest.raises(ValueError, match=complaint):
        native.stabilize(**{**good, **scene})
    with pytest.raises(ValueError, match="children < nodes"):
        native.contention_latency(2, 2, latency=1, service=0)
