"""The server's side of PMI-1, line by line."""

from resprout.launch.own.pmi import Reply, Server


def job(size: int = 2) -> Server:
    return Server(size, "job_of_a_test")


def test_a_rank_learns_what_it_asks_for() -> None:
    server = job()
    asks = {
        "cmd=init pmi_version=1 pmi_subversion=1": "cmd=response_to_init pmi_version=1",
        "cmd=get_maxes": "cmd=maxes kvsname_max=256",
        "cmd=get_appnum": "cmd=appnum appnum=0",
        "cmd=get_my_kvsname": "cmd=my_kvsname kvsname=job_of_a_test",
        "cmd=get_universe_size": "cmd=universe_size size=2",
    }
    for line, begin in asks.items():
        (reply,) = server.handle(1, line)
        assert reply.rank == 1 and reply.line.startswith(begin)
    assert server.entered == {1}


def test_what_one_has_put_others_get_with_its_blanks() -> None:
    server = job()
    server.handle(0, "cmd=put kvsname=job_of_a_test key=addr value=a b=c value=d")
    (reply,) = server.handle(1, "cmd=get kvsname=job_of_a_test key=addr")
    assert reply.line == "cmd=get_result rc=0 msg=success value=a b=c value=d"
    (reply,) = server.handle(1, "cmd=get kvsname=job_of_a_test key=other")
    assert "rc=-1" in reply.line


def test_all_are_on_one_host() -> None:
    (reply,) = job(3).handle(0, "cmd=get kvsname=job_of_a_test key=PMI_process_mapping")
    assert reply.line.endswith("value=(vector,(0,1,3))")


def test_a_barrier_opens_for_all_when_the_last_one_has_come() -> None:
    server = job(3)
    assert server.handle(2, "cmd=barrier_in") == []
    assert server.handle(0, "cmd=barrier_in") == []
    out = "cmd=barrier_out rc=0"
    assert server.handle(1, "cmd=barrier_in") == [Reply(0, out), Reply(1, out), Reply(2, out)]
    assert server.handle(1, "cmd=barrier_in") == []


def test_nobody_waits_in_a_barrier_for_the_dead() -> None:
    server = job(3)
    server.handle(0, "cmd=barrier_in")
    server.handle(1, "cmd=barrier_in")
    out = "cmd=barrier_out rc=0"
    assert server.handle_gone(2) == [Reply(0, out), Reply(1, out)]
    server.handle(0, "cmd=barrier_in")
    assert server.handle_gone(1) == [Reply(0, out)]


def test_who_dies_in_a_barrier_gets_no_answer() -> None:
    server = job(3)
    server.handle(0, "cmd=barrier_in")
    assert server.handle_gone(0) == []
    server.handle(1, "cmd=barrier_in")
    assert [reply.rank for reply in server.handle(2, "cmd=barrier_in")] == [1, 2]


def test_a_finalized_rank_is_answered_and_waited_for_no_more() -> None:
    server = job()
    server.handle(0, "cmd=barrier_in")
    replies = server.handle(1, "cmd=finalize")
    assert replies == [Reply(1, "cmd=finalize_ack rc=0"), Reply(0, "cmd=barrier_out rc=0")]
    assert server.finalized == {1}


def test_the_first_abort_counts() -> None:
    server = job()
    assert server.handle(1, "cmd=abort exitcode=7") == []
    server.handle(0, "cmd=abort exitcode=8")
    assert server.aborted_with == 7


def test_nobody_can_be_spawned_and_that_is_said() -> None:
    server = job()
    for line in ("mcmd=spawn", "nprocs=1", "execname=./a"):
        assert server.handle(0, line) == []
    (reply,) = server.handle(0, "endcmd")
    assert reply.line.startswith("cmd=spawn_result rc=-1")
    (reply,) = server.handle(0, "cmd=get_appnum")
    assert reply.line.startswith("cmd=appnum")


def test_an_unknown_command_is_answered() -> None:
    (reply,) = job().handle(0, "cmd=something new=1")
    assert reply.line == "cmd=something_result rc=-1 msg=unknown_command"
