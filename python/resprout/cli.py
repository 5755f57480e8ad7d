"""The command `resprout`: its subcommands and their options, and nothing that they do."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from resprout import __version__
from resprout.cli_foresight import foresight_app
from resprout.cli_member import member_app
from resprout.cli_words import PROGRAM, RANKS, table_option, with_examples
from resprout.configuration import config_option
from resprout.errors import UserError
from resprout.experiments.bench.commands import bench_app
from resprout.extras import need
from resprout.files import NO_ROOM, STATUS_NO_ROOM
from resprout.options import OPTIONS
from resprout.stderr import make_unfailing

STATUS_USAGE = 2

app = typer.Typer(
    name="resprout",
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Keeps MPI programs running when processes die.",
    epilog="`resprout COMMAND --help` has examples; `resprout doctor` says what works here.",
)
app.add_typer(bench_app, name="bench")
app.add_typer(foresight_app)
app.add_typer(member_app)


RUN_HELP = """Run an MPI program that goes on when some of its processes die.

The program stays as it is: C, C++ or mpi4py, dynamically linked. Its exit status is ours.

    resprout run -n 8 -- ./program argument
    resprout run -n 8 --report report.json --strict -- python program.py
    resprout run -n 8 --inject kill:rank=0,at=2s --inject kill:rank=3,at=allreduce#40 -- ./program
    resprout run -n 8 --on-loss error -- ./program-with-ulfm
    resprout run -n 8 --on-loss restart -- ./program-with-checkpoints
    resprout run -n 8 --replicas 2 --inject kill:rank=3,replica=1,at=2s -- ./program
    resprout run -n 16 --hostfile hosts --run-dir /shared -- ./program
    resprout run -n 2 -- ./ocean : -n 6 ./ice     # 8 ranks, of two programs

A fault is `kill:rank=3,at=2s` · `kill:rank=0,at=allreduce#40` (entering its 40th call) ·
`stop:rank=2,at=1s` · `exit:rank=1,at=bcast#3,status=1` · `kill:count=2,seed=7,within=5s` ·
`flip:rank=3,message=100,bit=17` (a bit of the 100th message that it sends) ·
`flip:rank=3,collective=20,bit=17` (of what it gives to its 20th collective) ·
`flip:count=50,seed=1` (of 50 messages, by a seed). `replica=1` in a fault names a plane.

Every option has a variable in the environment, and a key in `resprout.toml`. The option goes before
the variable, and that before the file."""


@app.command(
    "run",
    help=with_examples(RUN_HELP),
    context_settings={"allow_interspersed_args": False},
    no_args_is_help=True,
)
def run_command(
    ranks: Annotated[int, RANKS],
    program: Annotated[list[str], PROGRAM],
    bcast: Annotated[str | None, table_option("--bcast")] = None,
    allreduce: Annotated[str | None, table_option("--allreduce")] = None,
    collectives: Annotated[str, table_option("--collectives")] = "auto",
    calibration: Annotated[str | None, table_option("--calibration")] = None,
    replicas: Annotated[str | None, table_option("--replicas")] = None,
    replica_hosts: Annotated[str | None, table_option("--replica-hosts")] = None,
    on_replica_loss: Annotated[str | None, table_option("--on-replica-loss")] = None,
    verify: Annotated[str | None, table_option("--verify")] = None,
    clocks: Annotated[str | None, table_option("--clocks")] = None,
    system: Annotated[str | None, table_option("--system")] = None,
    on_corruption: Annotated[str | None, table_option("--on-corruption")] = None,
    on_unverified: Annotated[str | None, table_option("--on-unverified")] = None,
    commit_output: Annotated[str | None, table_option("--commit-output")] = None,
    shadow_lag: Annotated[str | None, table_option("--shadow-lag")] = None,
    straggler_wait: Annotated[str | None, table_option("--straggler-wait")] = None,
    call_timeout: Annotated[str | None, table_option("--call-timeout")] = None,
    on_call_timeout: Annotated[str | None, table_option("--on-call-timeout")] = None,
    on_loss: Annotated[str, table_option("--on-loss")] = "continue",
    max_restarts: Annotated[str | None, table_option("--max-restarts")] = None,
    restart_command: Annotated[str | None, table_option("--restart-command")] = None,
    short_life: Annotated[str | None, table_option("--short-life")] = None,
    spares: Annotated[str | None, table_option("--spares")] = None,
    spare_hosts: Annotated[str | None, table_option("--spare-hosts")] = None,
    standby: Annotated[bool, table_option("--standby")] = False,
    checkpoint_code: Annotated[str | None, table_option("--checkpoint-code")] = None,
    checkpoint_dir: Annotated[Path | None, table_option("--checkpoint-dir")] = None,
    files_every: Annotated[str | None, table_option("--files-every")] = None,
    resume: Annotated[Path | None, table_option("--resume")] = None,
    on_unanswered: Annotated[str | None, table_option("--on-unanswered")] = None,
    inject: Annotated[list[str] | None, table_option("--inject")] = None,
    report: Annotated[Path | None, table_option("--report")] = None,
    strict: Annotated[bool, table_option("--strict")] = False,
    mpi: Annotated[str | None, table_option("--mpi")] = None,
    sum_: Annotated[str | None, table_option("--sum")] = None,
    missing: Annotated[str | None, table_option("--missing")] = None,
    transport: Annotated[str, table_option("--transport")] = "auto",
    network: Annotated[str | None, table_option("--network")] = None,
    heartbeat_period: Annotated[str | None, table_option("--heartbeat-period")] = None,
    heartbeat_timeout: Annotated[str | None, table_option("--heartbeat-timeout")] = None,
    radix: Annotated[str | None, table_option("--radix")] = None,
    order: Annotated[Path | None, table_option("--order")] = None,
    hostfile: Annotated[str | None, typer.Option(help="Hosts, as mpirun reads them.")] = None,
    mpirun_arg: Annotated[list[str] | None, table_option("--mpirun-arg")] = None,
    run_dir: Annotated[Path | None, table_option("--run-dir")] = None,
    metrics: Annotated[Path | None, table_option("--metrics")] = None,
    log_level: Annotated[str | None, table_option("--log-level")] = None,
    verbose: Annotated[bool, table_option("--verbose", "-v")] = False,
    config: Annotated[Path | None, config_option()] = None,
) -> int:
    from resprout.launch.lives.files import Files
    from resprout.launch.run import Request, run

    texts = _by_flag(
        heartbeat_timeout=heartbeat_timeout, heartbeat_period=heartbeat_period, allreduce=allreduce,
        on_replica_loss=on_replica_loss, on_call_timeout=on_call_timeout, call_timeout=call_timeout,
        straggler_wait=straggler_wait, on_corruption=on_corruption, on_unverified=on_unverified,
        commit_output=commit_output, on_unanswered=on_unanswered, collectives=collectives, sum=sum_,
        shadow_lag=shadow_lag, transport=transport, replicas=replicas, on_loss=on_loss, bcast=bcast,
        missing=missing, network=network, clocks=clocks, system=system, verify=verify, radix=radix,
    )  # fmt: skip
    return run(Request(
        ranks, program, texts, inject or [], report, strict, calibration, mpi, order, hostfile,
        replica_hosts, mpirun_arg or [], run_dir, verbose=verbose, max_restarts=max_restarts,
        restart_command=restart_command, short_life=short_life, spares=spares, standby=standby,
        spare_hosts=spare_hosts, metrics=metrics, log_level=log_level, config=config,
        files=Files(checkpoint_dir, files_every, resume, checkpoint_code),
    ))  # fmt: skip


def _by_flag(**texts: str | None) -> dict[str, str | None]:
    return {f"--{name.replace('_', '-')}": text for name, text in texts.items()}


REPORT_HELP = """Say what a report of `resprout run --report` has, in the order of time.

    resprout report report.json
    resprout report report.json --html report.html

The page has pictures: a timeline of ranks, losses, recoveries and views. It is one file that loads
nothing from elsewhere."""


@app.command("report", help=with_examples(REPORT_HELP), no_args_is_help=True)
def report_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", show_default=False)],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page there, instead.")
    ] = None,
) -> int:
    from resprout.report.page.command import tell

    return tell(file, html)


SIM_HELP = """Simulate a protocol on the LogP machine.

    resprout sim corrected-tree:tree=binomial,correction=checked --procs 1024
    resprout sim corrected-tree:tree=kary,k=4 --procs 65536 --faults 1% --runs 100 --format csv
    resprout sim ftco-allreduce --procs 64 --fail-at 0@5 --fail-at 3@12 --format json
    resprout sim ftco-allreduce:k=9,roots=multi,detection=in-band --procs 65536 --latency 10 \\
        --faults 10+5@50 --late uniform:256
    resprout sim revoke --procs 6000 --initiators 0,17@5 --faults 10% --fail-at 0@12
    resprout sim corrected-tree --procs 16 --trace trace.json     # open it in ui.perfetto.dev

Times are ticks; in-band detection runs in FTCO's model of steps. One run is one row, or one JSON
object a line; run i has the seed S + i."""


@app.command("sim", help=with_examples(SIM_HELP), no_args_is_help=True)
def sim_command(
    spec: Annotated[str, typer.Argument(help="PROTOCOL[:OPTION=VALUE,...], see `protocols`.")],
    procs: Annotated[int, typer.Option("--procs", "-P", help="Processes.")],
    latency: Annotated[int, typer.Option("--latency", "-L", help="Of the network.")] = 2,
    overhead: Annotated[int, typer.Option("--overhead", "-o", help="Of a send or receive.")] = 1,
    gap: Annotated[int, typer.Option("--gap", "-g", help="Between starts at one port.")] = 0,
    faults: Annotated[
        str, typer.Option(metavar="none|N|X%|N+M@T|3,7,9", help="Who is dead from the start.")
    ] = "none",
    fail_at: Annotated[
        list[str] | None, typer.Option(metavar="RANK@T", help="Who dies on the way.")
    ] = None,
    late: Annotated[
        str,
        typer.Option(metavar="none|uniform:S|normal:S", help="Who enters when: in-band detection."),
    ] = "none",
    root: Annotated[int, typer.Option(help="Of a broadcast or reduction.")] = 0,
    initiators: Annotated[
        str, typer.Option(metavar="root|none|RANK[@T],...", help="Who revokes when: revoke.")
    ] = "root",
    noise: Annotated[
        str, typer.Option(metavar="none|MEAN", help="What a receive takes longer by chance, ticks.")
    ] = "none",
    seed: Annotated[int, typer.Option(min=0, help="Of the first run.")] = 0,
    runs: Annotated[int, typer.Option(min=1, help="How many.")] = 1,
    format: Annotated[str, typer.Option(metavar="table|json|csv", help="Of the output.")] = "table",
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the first run for Perfetto.")
    ] = None,
) -> int:
    from resprout.sim.command import simulate
    from resprout.sim.runs import Experiment

    machine = (spec, procs, latency, overhead, gap, root, faults, fail_at or [], seed, runs)
    experiment = Experiment(*machine, late=late, initiators=initiators, noise=noise)
    return simulate(experiment, format, trace)


TIMELINE_HELP = """Draw a simulated run: processes down, time across.

    resprout timeline corrected-tree:tree=lame,k=3 --procs 9 --latency 1 -o lame.svg
    resprout timeline corrected-tree:correction=checked --procs 16 --faults 2,3 -o gap.png
    resprout timeline ftco-allreduce --procs 8 --latency 4 --fail-at 0@16
    resprout timeline corrected-tree --procs 4096 --faults 1% --ranks 0-7,4090-4095

Times are ticks. Of more than 64 processes it shows those that tell the story, or those named."""


@app.command("timeline", help=with_examples(TIMELINE_HELP), no_args_is_help=True)
def timeline_command(
    spec: Annotated[str, typer.Argument(help="PROTOCOL[:OPTION=VALUE,...], see `protocols`.")],
    procs: Annotated[int, typer.Option("--procs", "-P", help="Processes.")],
    latency: Annotated[int, typer.Option("--latency", "-L", help="Of the network.")] = 2,
    overhead: Annotated[int, typer.Option("--overhead", help="Of a send or receive.")] = 1,
    gap: Annotated[int, typer.Option("--gap", "-g", help="Between starts at one port.")] = 0,
    faults: Annotated[
        str, typer.Option(metavar="none|N|X%|3,7,9", help="Who is dead from the start.")
    ] = "none",
    fail_at: Annotated[
        list[str] | None, typer.Option(metavar="RANK@T", help="Who dies on the way.")
    ] = None,
    root: Annotated[int, typer.Option(help="Of a broadcast or reduction.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the faults.")] = 0,
    ranks: Annotated[
        str | None, typer.Option(metavar="0-5,9", help="Which processes to show.")
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.svg|.png|.pdf", help="The picture.")
    ] = Path("timeline.svg"),
) -> int:
    need("a timeline", "plot")
    from resprout.sim.runs import Experiment
    from resprout.timeline.command import draw_timeline

    experiment = Experiment(
        spec, procs, latency, overhead, gap, root, faults, fail_at or [], seed, runs=1
    )
    return draw_timeline(experiment, ranks, output)


CAMPAIGN_HELP = """Simulate all combinations of parameters in a file, on all cores.

    resprout campaign faults.toml
    resprout campaign faults.toml --output results --jobs 4
    resprout campaign faults.toml --scheduler tcp://login1:8786     # a Dask cluster, also on Slurm

The results are Parquet files, for `resprout query`. Whatever stops a campaign, the same command
goes on from where it was. docs/how-to/campaign.md says what is in the file, which begins so:

    repetitions = 1000
    [[product]]
    protocol = ["corrected-tree:tree=binomial", "corrected-tree:tree=lame,k=2"]
    procs = 65536
    faults = ["0.1%", "1%", "4%"]"""


@app.command("campaign", help=with_examples(CAMPAIGN_HELP), no_args_is_help=True)
def campaign_command(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="For the results. Without it: FILE.results."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Cores. Without it: all.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a Dask cluster that does the work.")
    ] = None,
) -> int:
    need("a campaign", "campaign", *([] if scheduler is None else ["cluster"]))
    from resprout.experiments.campaign.command import campaign

    return campaign(file, output, jobs, scheduler)


QUERY_HELP = """Ask the results of campaigns, by SQL (DuckDB's). The table is `runs`.

    resprout query 'SELECT faults, avg(quiescence_latency) FROM runs GROUP BY ALL' faults.results
    resprout query 'DESCRIBE runs' faults.results
    resprout query 'SELECT * FROM runs' a.results b.results --format csv --output all.csv

docs/how-to/campaign.md says what the columns are."""


@app.command("query", help=with_examples(QUERY_HELP), no_args_is_help=True)
def query_command(
    sql: Annotated[str, typer.Argument(metavar="SQL", show_default=False)],
    sources: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE|DIR]...", show_default=False)
    ] = None,
    format: Annotated[
        str, typer.Option(metavar="table|json|csv|parquet", help="Of the answer.")
    ] = "table",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the answer there.")
    ] = None,
) -> int:
    need("a query", "campaign")
    from resprout.experiments.campaign.query import query

    return query(sql, sources or [], format, output)


CALIBRATE_HELP = """Measure which collectives the MPI library carries faster here, and keep it.

    resprout calibrate
    resprout calibrate -n 4,16 --seconds 30
    resprout calibrate --output calibration.json --json

It takes turns between the library's own and Resprout's trees, in one job for each number of ranks,
on this host. `resprout run` chooses by it from then on. Have the machine to yourself meanwhile.
docs/how-to/calibrate.md says what is kept and when it is used."""


@app.command("calibrate", help=with_examples(CALIBRATE_HELP))
def calibrate_command(
    ranks: Annotated[
        str | None,
        typer.Option(
            "--ranks",
            "-n",
            metavar="N,...",
            help="Processes. Without it: powers of two up to the cores, twice and four times them.",
            show_default=False,
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long it may take, about.")] = 60.0,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Keep it there. Without it: ~/.config/resprout/calibration.json.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    mpi: Annotated[str | None, table_option("--mpi")] = None,
) -> int:
    from resprout.experiments.calibrate.command import calibrate

    return calibrate(ranks, seconds, output, mpi, json)


REPRODUCE_HELP = """Simulate again what a paper claims, and compare: figures, tables, lemmas.

    resprout reproduce corrected-trees
    resprout reproduce corrected-trees fig8 --output again --format json
    resprout reproduce corrected-trees all --full      # at the paper's sample sizes; hours
    resprout reproduce ftco table2
    resprout reproduce membership fig6
    resprout reproduce revoke fig3
    resprout reproduce lazy-replication table5.1
    resprout reproduce corrected-trees --against ./flogsim

It writes pictures (SVG, PNG), data (Parquet) and, of `all`, a page with the verdict on each claim.
What has been simulated is not simulated again. docs/how-to/reproduce.md has more."""


@app.command("reproduce", help=with_examples(REPRODUCE_HELP), no_args_is_help=True)
def reproduce_command(
    paper: Annotated[
        str,
        typer.Argument(
            help="`corrected-trees`, `ftco`, `membership`, `revoke` or `lazy-replication`.",
            show_default=False,
        ),
    ],
    figure: Annotated[
        str,
        typer.Argument(
            metavar="FIGURE",
            help="Of corrected-trees: `fig1b`, `fig6`, `fig7`, `fig8`, `fig9`, `fig10`, `fig14`, "
            "`table1`, `opportunistic`, `overlapped`, `lemmas`; of ftco: `fig6`, `fig7`, `fig8`, "
            "`fig9`, `fig10`, `table1`, `table2`; of membership: `fig4`, `fig5`, `fig6`, `fig7`, "
            "`fig8`; of revoke: `fig3`, `fig4`, `fig5`, `overlay`; of lazy-replication: "
            "`table5.1`, `table5.2`, `fig5.1` to `fig5.5`, `appendix-a`; or `all`.",
        ),
    ] = "all",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="For all that is written.")
    ] = Path("reproduction"),
    full: Annotated[bool, typer.Option("--full", help="The paper's sample sizes.")] = False,
    format: Annotated[str, typer.Option(metavar="table|json", help="Of the verdicts.")] = "table",
    cores: Annotated[
        int | None, typer.Option("--cores", min=1, help="To use. Without it: all.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="PROGRAM", help="Compare with the authors' simulator, case by case."),
    ] = None,
) -> int:
    need("a reproduction", "plot", "campaign")
    from resprout.experiments.reproduce.command import compare_with, reproduce

    if against is not None:
        return compare_with(against, paper, figure, format)
    return reproduce(paper, figure, output, full, format, cores)


@app.command("protocols")
def protocols_command() -> None:
    """List the protocols and their options."""
    from resprout.sim.command import list_protocols

    list_protocols()


@app.command("doctor")
def doctor_command(
    mpi: Annotated[str | None, table_option("--mpi")] = None,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    """Say what MPI there is, whether it can lose ranks, and what will not work here.

    It tries: it starts small programs and kills one of their processes. A table has all MPI
    libraries of this machine. Status 0: all is well.
    """
    from resprout.doctor.command import doctor

    return doctor(mpi, json)


@app.command("demo")
def demo_command() -> int:
    """Run the example `pi` in C and in Python with 8 processes, and kill two of them."""
    from resprout.demo import demo

    return demo()


@app.command("version")
def version_command() -> None:
    """Say which version this is."""
    print(f"resprout {__version__}")


def _show_version(is_asked: bool) -> None:
    if is_asked:
        version_command()
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _no_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Say which version this is."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _drop_variables_of_outer_job() -> None:
    """A rank that starts us may have copied its environment before our library took ours away."""
    if "RESPROUT_PROCESS" not in os.environ:
        return
    for name in [name for name in os.environ if name.startswith("RESPROUT_")]:
        del os.environ[name]
    library = str(Path(__file__).with_name("libresprout.so"))
    words = os.environ.pop("LD_PRELOAD", "").replace(":", " ").split()
    if left := [word for word in words if word != library]:
        os.environ["LD_PRELOAD"] = ":".join(left)


def _drop_empty_variables() -> None:
    """A variable that is set to nothing is a variable that is not set."""
    for option in OPTIONS:
        if os.environ.get(option.variable) == "":
            del os.environ[option.variable]


def main(arguments: list[str] | None = None) -> int:
    """Run the command. The exit status; errors of the user are one line on stderr."""
    _drop_variables_of_outer_job()
    _drop_empty_variables()
    make_unfailing()
    try:
        status = app(args=arguments, prog_name="resprout", standalone_mode=False)
    except UserError as error:
        print(f"resprout: {error}", file=sys.stderr)
        return STATUS_USAGE
    except typer.TyperException as error:
        # Help that is shown for want of arguments comes as an error whose message is empty.
        if message := error.format_message():
            print(f"resprout: {' '.join(message.split())}", file=sys.stderr)
        return STATUS_USAGE
    except (typer.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        print(f"resprout: {error.filename or 'stdout'}: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return STATUS_NO_ROOM
    return status if isinstance(status, int) else 0
