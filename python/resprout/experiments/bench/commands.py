"""`resprout bench` and its subcommands: their options, and nothing that they do."""

import signal
from pathlib import Path
from typing import Annotated

import typer

from resprout.cli_words import table_option, with_examples

BENCH_HELP = """Measure MPI_Bcast as osu_bcast does, by several protocols in turns in the same job.

    resprout bench bcast
    resprout bench bcast -n 8 --sizes 8,256 --repetitions 1000 --output results
    resprout bench bcast --dead 0,1,2 --variants binomial,binomial+2,checked --format json
    resprout bench bcast --bcast corrected-tree:tree=kary,k=3 --transport tcp

A repetition is a barrier and a broadcast, timed from the root's begin until the last rank has
returned. Ranks that are to be dead are killed before anything is measured and stay in the trees.
docs/lab/bcast.md says what the variants are."""

bench_app = typer.Typer(rich_markup_mode="markdown", no_args_is_help=True)


@bench_app.callback(help="Measure collectives of real processes.")
def end_as_asked() -> None:
    # Between two jobs, too, nothing of ours stays behind: SIGTERM is as Ctrl-C.
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)


BenchOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="For JSON, CSV, Markdown and pictures."),
]
BenchRanks = Annotated[str, typer.Option("--ranks", "-n", metavar="N,...", help="Processes.")]
BenchFormat = Annotated[str, typer.Option(metavar="table|json|csv", help="Of the output.")]


@bench_app.command("bcast", help=with_examples(BENCH_HELP))
def bench_bcast_command(
    ranks: BenchRanks = "4,8",
    sizes: Annotated[
        str, typer.Option(metavar="SIZE,...", help="Of the payload, as 8, 64KiB or 4MiB.")
    ] = "8,256,4KiB,64KiB,1MiB,4MiB",
    dead: Annotated[str, typer.Option(metavar="N,...", help="How many are killed before.")] = "0,1",
    variants: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Without it: all there are.")
    ] = None,
    bcast: Annotated[
        list[str] | None,
        typer.Option(metavar="SPEC", help="One of your own besides; as often as you like."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="How often a job is started.")] = 3,
    repetitions: Annotated[int, typer.Option(help="Of each in a job, in turns.")] = 100,
    calls: Annotated[int, typer.Option(help="Broadcasts back to back in a repetition.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the order of turns.")] = 1,
    output: BenchOutput = None,
    format: BenchFormat = "table",
    mpi: Annotated[str | None, table_option("--mpi")] = None,
    transport: Annotated[str, table_option("--transport")] = "auto",
) -> int:
    from resprout.experiments.bench.bcast.command import bench_bcast
    from resprout.experiments.bench.bcast.plan import Request

    request = Request(ranks, sizes, dead, variants, bcast or [], jobs, repetitions, calls, seed)
    return bench_bcast(request, format, output, mpi, transport)


RECOVERY_HELP = """Measure an allreduce into which ranks die: ours, and ULFM's way on the same MPI.

    resprout bench recovery
    resprout bench recovery -n 8,16,32 --repetitions 20 --output results
    resprout bench recovery -n 8 --format json

ULFM's way is what its users write: revoke the communicator, shrink it, call again. Each job loses
no rank, one, two in different subtrees, two of which one stands below the other, or three of both
kinds; the ways take turns. docs/lab/recovery.md has the figures."""


@bench_app.command("recovery", help=with_examples(RECOVERY_HELP))
def bench_recovery_command(
    ranks: Annotated[
        str, typer.Option("--ranks", "-n", metavar="N,...", help="Processes, 8 or more.")
    ] = "8,16",
    repetitions: Annotated[int, typer.Option(min=1, help="Jobs of each kind.")] = 5,
    output: BenchOutput = None,
    format: BenchFormat = "table",
    mpi: Annotated[str | None, table_option("--mpi")] = None,
) -> int:
    from resprout.experiments.bench.recovery.command import bench_recovery

    return bench_recovery(ranks, repetitions, format, output, mpi)


REVOKE_HELP = """Measure how fast a revocation ends a collective: ours, and ULFM's on the same MPI.

    resprout bench revoke
    resprout bench revoke -n 2,4,8 --repetitions 200 --output results

A barrier or an allreduce is repeated until one rank revokes the communicator instead, then on
another one: by ranks, and with the most of them by initiator and size. Both ways take turns.
docs/lab/revocation.md has the figures."""


@bench_app.command("revoke", help=with_examples(REVOKE_HELP))
def bench_revoke_command(
    ranks: BenchRanks = "2,4,8,16",
    sizes: Annotated[
        str, typer.Option(metavar="SIZE,...", help="Of an allreduce, as 8, 64KiB or 4MiB.")
    ] = "8,512,4KiB,64KiB,512KiB,4MiB",
    repetitions: Annotated[int, typer.Option(help="Of each, in turns.")] = 50,
    pause: Annotated[int, typer.Option(help="Of the initiator before it revokes, in µs.")] = 0,
    output: BenchOutput = None,
    format: BenchFormat = "table",
    mpi: Annotated[str | None, table_option("--mpi")] = None,
    collectives: Annotated[str, table_option("--collectives")] = "auto",
) -> int:
    from resprout.experiments.bench.revoke.command import bench_revoke
    from resprout.experiments.bench.revoke.plan import make_measurement

    measurement = make_measurement(ranks, sizes, repetitions, pause)
    return bench_revoke(measurement, format, output, mpi, collectives)


MEMBERSHIP_HELP = """Measure how long a dead member stays in some view: real ones, over TCP.

    resprout bench membership
    resprout bench membership -n 8,128 --radix 2,16 --repetitions 20 --output results
    resprout bench membership -n 16 --format json

Members of `resprout member` on the loopback; one of them, or the root, is killed (SIGKILL). Timed
are when the first survivor suspects it, when the root has decided (from suspicion to there is the
paper's T_s), and when the last one has the new view. The dead one is started again, then the next
one dies. docs/lab/dead-member.md has the figures."""


@bench_app.command("membership", help=with_examples(MEMBERSHIP_HELP))
def bench_membership_command(
    members: Annotated[
        str, typer.Option("--members", "-n", metavar="N,...", help="Processes, 3 or more.")
    ] = "8,16,32,64,128",
    radix: Annotated[
        str, typer.Option(metavar="N,...", help="Children in the tree, powers of two.")
    ] = "2,4,8,16",
    groups: Annotated[int, typer.Option(min=1, help="How often each is founded.")] = 3,
    repetitions: Annotated[int, typer.Option(min=1, help="Deaths of each kind in each.")] = 5,
    output: BenchOutput = None,
    format: BenchFormat = "table",
) -> int:
    from resprout.experiments.bench.membership.command import bench_membership

    return bench_membership(members, radix, groups, repetitions, format, output)


RETURNS_HELP = """Measure what checkpoints in memory cost, and how soon a job computes again.

    resprout bench returns
    resprout bench returns -n 8 --mib 256 --repetitions 7 --output results
    resprout bench returns --work 0 --format json

A checkpoint is measured beside a plain copy of the same memory and an exchange of as many bytes
with a neighbor; a job with one every so many seconds beside one without. Then a rank is killed: the
job starts again from memory, from files, by hand under the MPI's own launcher, or has two replicas.
docs/lab/returns.md has the figures."""


@bench_app.command("returns", help=with_examples(RETURNS_HELP))
def bench_returns_command(
    ranks: Annotated[int, typer.Option("--ranks", "-n", metavar="N", help="Of the job.")] = 4,
    mib: Annotated[int, typer.Option(help="What each rank protects, in MiB.")] = 64,
    checkpoints: Annotated[int, typer.Option(min=1, help="In a job, each one measured.")] = 10,
    every: Annotated[float, typer.Option(help="Seconds from one to the next in a job.")] = 10,
    work: Annotated[
        float, typer.Option(help="Seconds that a job works, with or without them. 0: none does.")
    ] = 21,
    repetitions: Annotated[int, typer.Option(min=1, help="Jobs of each kind, in turns.")] = 3,
    output: BenchOutput = None,
    format: BenchFormat = "table",
    mpi: Annotated[str | None, table_option("--mpi")] = None,
) -> int:
    from resprout.experiments.bench.returns.command import bench_returns
    from resprout.experiments.bench.returns.measure import Measurement

    measurement = Measurement(ranks, mib, checkpoints, repetitions, every, work)
    return bench_returns(measurement, format, output, mpi)


REPLICATION_HELP = """Measure what comparing replicas costs: kernels plain, as copies, by method.

    resprout bench replication --output results
    resprout bench replication --full --output results
    resprout bench replication --only ft,mg --replicas 3 --methods none,async,async-hash

Copies that do not know of each other and begin together are the limit where they share cores: every
method is compared with as many of them, in turns. docs/lab/replication.md says what the figures
are, and how long it takes."""


KernelsFolder = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Sources of the kernels. Without it: examples/kernels."),
]


@bench_app.command("replication", help=with_examples(REPLICATION_HELP))
def bench_replication_command(
    ranks: Annotated[
        int, typer.Option("--ranks", "-n", metavar="N", help="Of each copy: 1, 2, 4, 8 or 16.")
    ] = 4,
    only: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Kernels. Without it: all.")
    ] = None,
    replicas: Annotated[str, typer.Option(metavar="2,3", help="Processes a rank.")] = "2,3",
    methods: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Of run --verify. Without it: all.")
    ] = None,
    size: Annotated[
        str, typer.Option(metavar="smallest|short|long", help="Of the kernels' problems.")
    ] = "short",
    repetitions: Annotated[int, typer.Option(min=1, help="Of each, in turns.")] = 2,
    full: Annotated[
        bool, typer.Option("--full", help="The same as --size long --repetitions 7.")
    ] = False,
    output: BenchOutput = None,
    format: BenchFormat = "table",
    mpi: Annotated[str | None, table_option("--mpi")] = None,
    kernels: KernelsFolder = None,
) -> int:
    from resprout.experiments.bench.replication.command import Request, bench_replication

    extent = ("long", 7) if full else (size, repetitions)
    request = Request(ranks, only, replicas, methods, *extent)
    return bench_replication(request, format, output, mpi, kernels)


INJECTION_HELP = """Flip bits of messages and count: detected, corrected, missed, falsely accused.

    resprout bench injection --output results
    resprout bench injection --full --output results
    resprout bench injection --injections 120 --alone 10 --kernel-jobs 0 --steps-jobs 0

Replicas compare what they send, by every method of run --verify, with 2 and 3 of them. A program
whose messages do not depend on each other takes many flips at once, which the report tells apart;
kernels take one each, in a message or in what goes into a collective, and so does a program that
takes checkpoints, in its messages or its memory.
Jobs without a flip must accuse nobody. docs/lab/injection.md says more."""


@bench_app.command("injection", help=with_examples(INJECTION_HELP))
def bench_injection_command(
    ranks: Annotated[int, typer.Option("--ranks", "-n", metavar="N", help="2, 4, 8 or 16.")] = 4,
    replicas: Annotated[str, typer.Option(metavar="2,3", help="Processes a rank.")] = "2,3",
    methods: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Of run --verify. Without it: all.")
    ] = None,
    injections: Annotated[
        int, typer.Option(min=1, help="Flips of which several share a job.")
    ] = 1200,
    per_job: Annotated[int, typer.Option(help="So many do.")] = 25,
    alone: Annotated[
        int, typer.Option(min=0, help="With lazy methods and 3 replicas: jobs with one each.")
    ] = 40,
    kernel_jobs: Annotated[int, typer.Option(min=0, help="Of each kernel, by each method.")] = 2,
    steps_jobs: Annotated[
        int, typer.Option(min=0, help="Of a program with checkpoints, by each method.")
    ] = 6,
    full: Annotated[
        bool,
        typer.Option("--full", help="As --per-job 1 --alone 200 --kernel-jobs 10 --steps-jobs 50."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of which bits are flipped.")] = 1,
    output: BenchOutput = None,
    format: BenchFormat = "table",
    mpi: Annotated[str | None, table_option("--mpi")] = None,
    kernels: KernelsFolder = None,
) -> int:
    from resprout.experiments.bench.injection.command import bench_injection, cases_of
    from resprout.experiments.bench.injection.plan import Request

    extent = (1, 200, 10, 50) if full else (per_job, alone, kernel_jobs, steps_jobs)
    request = Request(ranks, cases_of(replicas, methods), injections, *extent, seed)
    return bench_injection(request, format, output, mpi, kernels)


FLIPS_HELP = """Count what becomes of bits that are flipped anywhere in the memory of a process.

    resprout bench flips --output results
    resprout bench flips --flips 100 --replicas 3 --methods none,async-hash

Each job runs a kernel by a method of run --verify and has one flip, in its stack, its heap, its
data, or anywhere in what the process has written. The result of a job says whether the flip was
masked, corrected, detected, or silent. docs/lab/flips.md says more."""


@bench_app.command("flips", help=with_examples(FLIPS_HELP))
def bench_flips_command(
    ranks: Annotated[int, typer.Option("--ranks", "-n", metavar="N", min=2, max=16)] = 2,
    replicas: Annotated[str, typer.Option(metavar="2,3", help="Processes a rank.")] = "2,3",
    methods: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="Of run --verify. Without it: all.")
    ] = None,
    flips: Annotated[int, typer.Option(min=1, help="So many jobs, over all methods.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of which bits are flipped.")] = 1,
    output: BenchOutput = None,
    format: BenchFormat = "table",
    mpi: Annotated[str | None, table_option("--mpi")] = None,
    kernels: KernelsFolder = None,
) -> int:
    from resprout.experiments.bench.flips.command import bench_flips, cases_of
    from resprout.experiments.bench.flips.plan import Request

    request = Request(ranks, cases_of(replicas, methods), flips, seed)
    return bench_flips(request, format, output, mpi, kernels)
