"""Commands that say before a long job what will become of it."""

from pathlib import Path
from typing import Annotated

import typer

from resprout.cli_words import PROGRAM, RANKS, with_examples

foresight_app = typer.Typer()

ADVISE_HELP = """How often to write checkpoints, and what each way to bear losses costs a job.

    resprout advise --nodes 1000 --work 7d --mtbf 5y --checkpoint 2min
    resprout advise --nodes 64 --work 30d --mtbf 3y --measure /scratch --size 8GiB --queue 4h
    resprout advise --nodes 64 --work 30d --mtbf 3y --checkpoint 90s --back 10min --json

Expected values, by Daly's formulas. Two replicas compute on a half of the nodes each.
docs/how-to/advise.md says what is assumed."""


@foresight_app.command("advise", help=with_examples(ADVISE_HELP), no_args_is_help=True)
def advise_command(
    nodes: Annotated[int, typer.Option(min=1, help="Of the job.")],
    work: Annotated[str, typer.Option(help="How long it takes on them without losses, as 7d.")],
    mtbf: Annotated[str, typer.Option(help="The mean time between losses of one node, as 5y.")],
    checkpoint: Annotated[
        str | None, typer.Option(help="How long a checkpoint takes, as 60s.")
    ] = None,
    measure: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Instead: try it in this folder,")
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="BYTES", help="with so many bytes, as 2GiB.")
    ] = None,
    restart: Annotated[str, typer.Option(help="From a loss until it computes again.")] = "30s",
    queue: Annotated[
        str | None, typer.Option(help="What a start by the batch system takes besides, as 4h.")
    ] = None,
    back: Annotated[
        str | None,
        typer.Option(help="From the loss of a plane until it is back. Without it: it stays away."),
    ] = None,
    replica_cost: Annotated[
        float, typer.Option(help="By so much two replicas are slower than one.")
    ] = 1.03,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    from resprout.advise.command import Asked, advise

    asked = Asked(nodes, work, mtbf, checkpoint, measure, size, restart, queue, back, replica_cost)
    return advise(asked, json)


PLAN_HELP = """How far correction reaches so that a broadcast misses nobody, on these hosts.

    resprout plan hosts
    resprout plan hosts --order racks --rack-mtbf 20y --target 1e-12
    resprout plan hosts --host-mtbf 3y --noticed-after 1min --samples 5000 --json

Ranks, hosts and racks fail each with a probability of its own. A host takes its ranks along, a
rack its hosts. docs/how-to/plan.md says what is computed."""


@foresight_app.command("plan", help=with_examples(PLAN_HELP), no_args_is_help=True)
def plan_command(
    hosts: Annotated[Path, typer.Argument(help="The file for --hostfile: NAME slots=N a line.")],
    order: Annotated[
        Path | None,
        typer.Option("--order", metavar="FILE", help="Racks, as `resprout run --order` reads."),
    ] = None,
    target: Annotated[float, typer.Option(help="Missed ranks a broadcast, at most.")] = 1e-12,
    noticed_after: Annotated[
        str, typer.Option(help="So long a failure is not known, and the tree is as before.")
    ] = "10s",
    rank_mtbf: Annotated[str, typer.Option(help="Between failures of one rank alone.")] = "100y",
    host_mtbf: Annotated[str, typer.Option(help="Of one host.")] = "5y",
    rack_mtbf: Annotated[str, typer.Option(help="Of one rack.")] = "50y",
    latency: Annotated[int, typer.Option("--latency", "-L", help="Of the network, ticks.")] = 2,
    overhead: Annotated[int, typer.Option("--overhead", "-o", help="Of a message, ticks.")] = 1,
    samples: Annotated[
        int, typer.Option(min=0, help="Simulated broadcasts that miss somebody; 0: none.")
    ] = 1000,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    from resprout.plan.command import Asked, plan

    asked = Asked(
        hosts, order, target, noticed_after, rank_mtbf, host_mtbf, rack_mtbf,
        latency, overhead, samples,
    )  # fmt: skip
    return plan(asked, json)


TORTURE_HELP = """Kill every rank of a program at every call of MPI, and look at the others.

    resprout torture -n 4 -- ./program
    resprout torture -n 4 --points 500 --pairs 100 --state tried.jsonl -- ./program
    resprout torture -n 4 --check 'grep -q "pi is 3.14159"' -- ./program
    resprout torture -n 4 --options "--on-loss error" -- ./ulfm_program

One job after the other, each with one fault; then pairs of faults that did no harm alone. Jobs that
hang, wrong output (by --check) and ranks that die without a fault are shown with the shortest
--inject that leads there, and give status 1. The rest is counted: whether output and status are
those of a run without faults. A torture with --state goes on where it was broken off."""


@foresight_app.command(
    "torture",
    help=with_examples(TORTURE_HELP),
    context_settings={"allow_interspersed_args": False},
    no_args_is_help=True,
)
def torture_command(
    ranks: Annotated[int, RANKS],
    program: Annotated[list[str], PROGRAM],
    points: Annotated[
        int, typer.Option(min=1, help="Jobs with one fault; of more places some are drawn.")
    ] = 100,
    pairs: Annotated[int, typer.Option(min=0, help="Jobs with two faults.")] = 0,
    kind: Annotated[str, typer.Option(metavar="kill|stop|exit", help="What a fault is.")] = "kill",
    seed: Annotated[int, typer.Option(help="Draws the places.")] = 1,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1,
            help="A job that takes longer hangs. Without it: 10 times what it takes without a "
            "fault, and at least 20.",
        ),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="Gets the output; its status 0 says that it is right."
        ),
    ] = None,
    options: Annotated[str, typer.Option(metavar="WORDS", help="Of `resprout run`.")] = "",
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keeps what was tried, and goes on there.")
    ] = None,
    jobs: Annotated[int, typer.Option("-j", "--jobs", min=1, help="At the same time.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    import shlex

    from resprout.torture.command import Torture, torture
    from resprout.torture.trial import Job

    job = Job(ranks, tuple(program), tuple(shlex.split(options)))
    asked = Torture(job, points, pairs, kind, seed, timeout, check, state, jobs)
    return torture(asked, json)
