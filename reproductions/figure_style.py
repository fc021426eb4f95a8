"""One style for every figure: colours and markers fixed per method, nothing clipped.

The colours are those of Okabe and Ito, which people with any colour vision can tell
apart; series also differ in marker and line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

INK, MUTED, PAPER = "#1f2429", "#6b747e", "#ffffff"
COLORS: Final = (
    "#0072b2",  # blue
    "#d55e00",  # vermilion
    "#009e73",  # green
    "#cc79a7",  # purple
    "#56b4e9",  # sky
    "#e69f00",  # orange
    "#5b5b5b",  # grey
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "--", "-.", ":", "-", "--", "-.")
# How a method looks in every figure, by the beginning of its name: one line per colour.
_LOOKS = (
    "earmark|hybrid R=2|hierarchical Bayes, H = 2|HONB|softmax regression on tf-idf",
    "logistic regression|tf-idf + logistic regression|perceptron",
    "hybrid R=1|HOSVM|hierarchical Bayes, H = 3|softmax regression on indicators",
    "SVM|tf-idf + linear SVM|hierarchical Bayes, H = 4",
    "hybrid R=2, unnormalised|hybrid R=1, unnormalised|hybrid R=2, plug-in|"
    "Complement NB|multinomial naive Bayes|hierarchical Bayes, H = 5",
    "naive Bayes|Bernoulli naive Bayes|NB",
    "hierarchical Bayes, H = 1",
)
_METHODS: Mapping[str, int] = {
    name: place for place, names in enumerate(_LOOKS) for name in names.split("|")
}


def series(name: str | int) -> dict[str, Any]:
    """Colour, marker and line of a method, or of the n-th series.

    >>> series("naive Bayes, alpha chosen") == series("naive Bayes") == series(5)
    True
    """
    place = name
    if isinstance(name, str):
        known = [start for start in _METHODS if name.startswith(start)]
        place = _METHODS[max(known, key=len)] if known else 6
    i = int(place) % len(COLORS)
    return {"color": COLORS[i], "marker": _MARKERS[i], "linestyle": _LINES[i]}


def settings() -> dict[str, Any]:
    """Matplotlib's ``rcParams`` for all of this."""
    from cycler import cycler

    return {
        "axes.edgecolor": MUTED,
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.prop_cycle": cycler(color=COLORS, marker=_MARKERS, linestyle=_LINES),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": 10,
        "figure.constrained_layout.use": True,
        "font.size": 10,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "lines.markersize": 5,
        "savefig.dpi": 200,
        "svg.hashsalt": "earmark",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
    }


def for_dark(svg: str) -> str:
    """The same picture on a dark page: ink and paper change places."""
    swaps = {INK: "#e6e8ea", MUTED: "#a3b0a3", PAPER: "#191d21", "#5b5b5b": "#b9bec4"}
    swaps |= {"#0072b2": "#4a8ff0", "#000000": "#e6e8ea"}
    for light, dark in swaps.items():
        svg = svg.replace(light, dark)
    return svg
