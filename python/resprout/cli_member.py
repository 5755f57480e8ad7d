"""Commands about memberships without MPI."""

from pathlib import Path
from typing import Annotated

import typer

from resprout.cli_words import with_examples
from resprout.configuration import config_option

member_app = typer.Typer()

MEMBER_HELP = """Be one member of a membership over TCP, without MPI.

All members agree on who is alive. Members may die, hang or join. Each view has an epoch; all live
members install the same ones.

    resprout member --listen 127.0.0.1:4000 --json
    resprout member --listen 127.0.0.1:0 --join 127.0.0.1:4000
    resprout member --listen 10.1.0.7:4000 --join 10.1.0.1:4000 --radix 8 --secret-file secret
    resprout member --listen 10.1.0.7:4000 --join 10.1.0.1:4000 --order racks.txt
    resprout member --listen 0.0.0.0:4000 --advertise 192.0.2.7:4000 --join node1:4000,node2:4000
    resprout member --listen 10.1.0.7:4000 --join 10.1.0.1:4000 --tag role=db --tag rack=3

The first one has no --join; all others name any member, or several, which are asked in turn. A
name that stands for several addresses counts as all of them. A member keeps where the others are,
in $XDG_STATE_HOME/resprout/members (~/.local/state without it), unless its port is 0: started again
without --join it asks these, and says `founding` if nobody admits it. A member that listens where a
dead one did takes its identifier. New identifiers follow the addresses: members that listen at one
address of a host are neighbors in the tree.

With --order FILE, the same for all members, they follow that. A line of it is HOST or HOST:PORT,
and perhaps the name of a GROUP, as `10.1.0.1:4000 rack1`; HOST is an address or what `hostname`
says, `#` begins a comment. Without groups the n-th member, from 0, has identifier n, and is above
the RADIX ones from RADIX*n+1; with groups the members of each stand together. Who is in no line,
or finds its place taken, gets another place and says so.

With --views local a member knows its neighborhood and not the list, and takes memory that does not
depend on how many they are. The n-th line of --order, from 0, is the HOST:PORT of identifier n
then, and `view` has `count` and `digest` in the place of `members`.

Several --secret-file let secrets be exchanged while members run: a member lets others in by the
first one, and accepts members that prove any of them. On SIGHUP it reads the files again.

With --json each event is one object a line: `view`, with `epoch`, `members`, `root`, `self`,
`address`, and with --order `place`; and `joining`, `founding`, `suspected`, `decided`, `excluded`,
`isolated`, `rejected`, `removed`. A `view` has `tags` if one of its members has some.
It serves until it is ended, or is told to leave by `resprout members`. The others see that at once.
At its end (Ctrl-C, SIGTERM), and on SIGUSR1, it says what it has cost: `statistics`, with messages,
bytes and memory."""


_Join = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT,...", help="Any member; several in turn.", show_default=False),
]
_Advertise = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Where the others reach it, if not at --listen. Port 0: the one of --listen.",
        show_default=False,
    ),
]
_Tag = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE", help="All members show it; may be repeated.", show_default=False
    ),
]
_SecretFile = Annotated[
    list[Path] | None,
    typer.Option(
        help="What all members share and others do not know; of several the first is proven, "
        "and any accepted.",
        show_default=False,
    ),
]


@member_app.command("member", help=with_examples(MEMBER_HELP), no_args_is_help=True)
def member_command(
    listen: Annotated[str, typer.Option(metavar="HOST:PORT", help="Where; port 0: any free one.")],
    join: _Join = None,
    advertise: _Advertise = None,
    tag: _Tag = None,
    radix: Annotated[
        int, typer.Option(help="Children in the tree, a power of two; the group's counts.")
    ] = 2,
    json: Annotated[bool, typer.Option("--json", help="Events as lines of JSON.")] = False,
    heartbeat_period: Annotated[int, typer.Option(metavar="MS", help="Between two signs.")] = 500,
    heartbeat_timeout: Annotated[
        int, typer.Option(metavar="MS", help="Of silence, then a neighbor is suspected.")
    ] = 5000,
    secret_file: _SecretFile = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only members of this group come in.", show_default=False
        ),
    ] = None,
    order: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Who stands where in the tree.", show_default=False),
    ] = None,
    views: Annotated[str, typer.Option(help="`whole` or `local`; the same for all.")] = "whole",
    on_event: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run for each event, one after the other, by /bin/sh: stdin is the event as JSON, "
            "RESPROUT_EVENT its kind.",
            show_default=False,
        ),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(
            metavar="SOCKET", help="Where `resprout members` asks it.", show_default=False
        ),
    ] = None,
    metrics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write figures there, as OpenMetrics.", show_default=False
        ),
    ] = None,
    config: Annotated[Path | None, config_option()] = None,
) -> int:
    from resprout.member.command import Asked, serve

    asked = Asked(
        listen, join, radix, heartbeat_period, heartbeat_timeout, secret_file or (), group, order,
        views, on_event, control, metrics, json, advertise, tag or (),
    )  # fmt: skip
    return serve(asked)


MEMBERS_HELP = """Ask a member of this host who is in its view, or have it or another one leave.

    resprout members /run/member.sock
    resprout members /run/member.sock --json
    resprout members /run/member.sock --leave
    resprout members /run/member.sock --remove 3

It says the view, then where each member is, with its tags, then what the member has cost.
--remove ends another member. The others go on at once if they are a quorum, even if that member
hangs.

The member was started with `--control /run/member.sock`. Status 0: it is in a view; 1: in none."""


@member_app.command("members", help=with_examples(MEMBERS_HELP), no_args_is_help=True)
def members_command(
    socket: Annotated[Path, typer.Argument(metavar="SOCKET", show_default=False)],
    leave: Annotated[bool, typer.Option("--leave", help="It ends; the others see it.")] = False,
    remove: Annotated[
        int | None,
        typer.Option(metavar="MEMBER", help="That member ends.", show_default=False),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> int:
    from resprout.member.command import tell

    return tell(socket, leave, remove, json)
