"""How ranks of MPICH are dealt to hosts."""

from pathlib import Path

from resprout.launch.own.hosts import Host, deal, own_addresses, read_hosts
from resprout.launch.own.pmi import Server


def test_a_host_file_says_names_and_slots(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("# ours\nnode1 slots=4\nnode2:2  # two\n\nnode3\nnode1 slots=1 max_slots=9\n")
    assert read_hosts(file) == [Host("node1", 5), Host("node2", 2), Host("node3", 1)]


def test_slots_are_filled_in_order_and_what_is_left_is_dealt_in_turns() -> None:
    hosts = [Host("a", 2), Host("b", 1)]
    assert [deal(hosts, ranks) for ranks in (1, 2, 3, 4, 6)] == [
        [1, 0], [2, 0], [2, 1], [3, 1], [4, 2],
    ]  # fmt: skip


def test_ranks_learn_who_is_on_which_host() -> None:
    server = Server(5, "job", [3, 2])
    (reply,) = server.handle(0, "cmd=get kvsname=job key=PMI_process_mapping")
    assert reply.line.endswith("value=(vector,(0,1,3),(1,1,2))")


def test_a_host_names_others_before_itself() -> None:
    addresses = own_addresses()
    assert addresses and addresses[-1].startswith("127."), addresses
