"""Pictures by matplotlib that are the same bytes every time: colors, settings, encoding.

The colors are those of Okabe and Ito, which color-blind people can tell apart; no picture gives
them a meaning that it does not give a mark, a line style or a name too.
Thread rule: one thread, since matplotlib's settings are global.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#e69f00", "#009e73", "#cc79a7"
VERMILION, SKY, YELLOW, BLACK = "#d55e00", "#56b4e9", "#f0e442", "#000000"
TEXT, FAINT_TEXT = "#222222", "#666666"
GRAY, FAINT_GRAY = "#808080", "#d9d9d9"

FORMATS = ("svg", "png", "pdf")

_SETTINGS = {
    "svg.hashsalt": "resprout",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 8.5,
    "text.color": TEXT,
    "hatch.linewidth": 0.6,
    # Letters as outlines of their fonts, in the file itself: what printers ask for.
    "pdf.fonttype": 42,
    # So long that dashes and dots can be told apart.
    "legend.handlelength": 3.2,
}
_PNG_DPI, _PNG_PIXELS_MAX = 160, 30000


@contextmanager
def settings() -> Iterator[None]:
    """Ours, whatever the user's are; those are back at the end."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def encode(figure: "Figure", format: str, title: str, description: str) -> bytes:
    """The file's bytes. REQUIRES: one of FORMATS; called within settings()."""
    about_svg = {"Date": None, "Creator": "resprout", "Title": title, "Description": description}
    about_png = {"Software": "resprout", "Title": title}
    about_pdf = {"CreationDate": None, "Creator": "resprout", "Producer": None, "Title": title}
    inches = max(figure.get_size_inches())
    buffer = io.BytesIO()
    figure.savefig(
        buffer,
        format=format,
        dpi=min(_PNG_DPI, int(_PNG_PIXELS_MAX / inches)),
        metadata={"svg": about_svg, "png": about_png, "pdf": about_pdf}[format],
    )
    return buffer.getvalue()
