"""MPIX_Comm_revoke ends whatever waits on a communicator, on all its members, and nothing else."""

import jobs
import pytest

CALLS = ["recv", "recv_any", "send", "ssend", "isend", "sends_wait", "sends_waitall",
         "sends_waitany", "sends_waitsome", "sends_testall", "sends_testany", "sends_testsome",
         "starts_wait", "starts_waitall", "starts_testsome", "sendrecv", "probe", "mprobe",
         "wait", "test", "waitany", "waitall", "start", "barrier", "bcast", "bcast_large",
         "reduce", "allreduce", "allreduce_large", "allgather", "alltoall", "iallreduce",
         "ibarrier", "alltoall_large", "scan", "scan_large",
         "create_group", "win_create"]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_whoever_waits_in_a_call_on_a_revoked_communicator_leaves_it(call: str) -> None:
    ranks = 2 + 3 * (CALLS.index(call) % 3)
    ended = jobs.resprout_run(ranks, [jobs.PROGRAMS / "revoke", call])
    assert ended.status == 0 and not ended.lost, str(ended)
    assert ended.out == "all is over\n", str(ended)


@pytest.mark.parametrize("call", ["recv", "allreduce"])
def test_several_may_revoke_at_once(call: str) -> None:
    ended = jobs.resprout_run(8, [jobs.PROGRAMS / "revoke", call, "5"])
    assert ended.status == 0 and ended.out == "all is over\n", str(ended)


@pytest.mark.parametrize("options", [
    ["--collectives", "trees"], ["--collectives", "native"], ["--transport", "tcp"],
])  # fmt: skip
def test_a_revocation_interrupts_collectives_whoever_carries_them(options: list[str]) -> None:
    for call in ("allreduce", "bcast_large", "barrier"):
        ended = jobs.resprout_run(4, [jobs.PROGRAMS / "revoke", call], options)
        assert ended.status == 0 and ended.out == "all is over\n", str(ended)
