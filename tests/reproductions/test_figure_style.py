"""One style for all figures: told apart by anybody, nothing clipped, nothing twice."""

import re
import runpy
from io import StringIO
from itertools import combinations
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from reproductions.figure_style import (
    COLORS,
    INK,
    PAPER,
    for_dark,
    series,
    settings,
)
from tests.pages import ROOT

mpl.use("Agg")

# Machado, Oliveira & Fernandes (2009), severity 1, on linear RGB.
_DEUTERANOPIA = np.array(
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ]
)


def lab(rgb):
    """CIELAB of linear RGB."""
    to_xyz = np.array(
        [
            [0.4124, 0.3576, 0.1805],
            [0.2126, 0.7152, 0.0722],
            [0.0193, 0.1192, 0.9505],
        ]
    )
    t = to_xyz @ rgb / (0.9505, 1.0, 1.089)
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def seen(color):
    """What a person with deuteranopia sees of a colour."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return lab(np.clip(_DEUTERANOPIA @ linear, 0, 1))


@pytest.mark.parametrize(("a", "b"), list(combinations(range(len(COLORS)), 2)))
def test_two_series_differ_for_everybody(a, b):
    one, other = series(a), series(b)
    assert np.linalg.norm(seen(COLORS[a]) - seen(COLORS[b])) > 9
    assert one["marker"] != other["marker"]


def test_a_method_looks_the_same_everywhere():
    assert series("naive Bayes") == series("NB") == series("Bernoulli naive Bayes")
    assert series("earmark") != series("logistic regression")
    assert series("HONB") != series("HOSVM") != series("SVM") != series("NB")


def test_a_dark_page_gets_light_ink():
    assert for_dark(f'fill="{INK}"') != f'fill="{INK}"'


_SVG = "{http://www.w3.org/2000/svg}"


def looks(group):
    """Colour, dash, marker and filling of everything drawn in a part of a picture."""
    for node in group.iter():
        style = dict(re.findall(r"([\w-]+): ([^;]+)", node.get("style", "")))
        if float(style.get("opacity", style.get("fill-opacity", 1))) < 0.6:
            continue  # a band, not a series
        if node.tag == f"{_SVG}use":
            fill = style.get("fill", INK)
            color = style.get("stroke", INK) if fill in ("none", PAPER) else fill
            marker = node.get("{http://www.w3.org/1999/xlink}href")
            yield color, "", marker, fill in ("none", PAPER)
        elif node.tag == f"{_SVG}path" and style.get("stroke", "none") != "none":
            yield style["stroke"], style.get("stroke-dasharray", ""), "", False
        elif node.tag == f"{_SVG}path" and style.get("fill", "none") != "none":
            yield style["fill"], "", "", False


def indistinct(svg):
    """Pairs of series in one part of a picture that deuteranopia makes the same."""
    for group in ElementTree.fromstring(svg).iter(f"{_SVG}g"):
        # Axes and grid are no series; the legend repeats them.
        if not re.match(r"axes_\d", group.get("id", "")):
            continue
        parts = [part for part in group if "axis" not in part.get("id", "")]
        for one, other in combinations(
            sorted({look for part in parts for look in looks(part)}), 2
        ):
            apart = np.linalg.norm(seen(one[0]) - seen(other[0]))
            if apart <= 9 and one[1:] == other[1:]:
                yield one[0], other[0], round(float(apart), 1)


def as_svg(figure):
    file = StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def test_indistinct_series_are_noticed():
    with mpl.rc_context(settings()):
        figure = Figure()
        ax = figure.add_subplot()
        ax.plot([1, 2], "-", marker="", color="#d55e00")
        ax.plot([2, 1], "-", marker="", color="#9e8c00")
        assert list(indistinct(as_svg(figure)))
        ax.lines[1].set_linestyle("--")
        assert not list(indistinct(as_svg(figure)))


@pytest.mark.parametrize(
    "path",
    [p for p in (ROOT / "docs/figures").rglob("*.svg") if "-dark" not in p.stem],
    ids=lambda p: f"{p.parent.name}-{p.stem}",
)
def test_series_of_a_drawn_figure_differ_for_everybody(path):
    svg = path.read_text(encoding="utf-8")
    assert list(indistinct(svg)) == []
    assert list(indistinct(for_dark(svg))) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((ROOT / "examples").glob("plot_*.py")), ids=lambda p: p.stem
)
def test_series_of_a_gallery_figure_differ_for_everybody(path):
    import matplotlib.pyplot as plt

    with mpl.rc_context(settings()):
        plt.close("all")
        runpy.run_path(str(path))
        for number in plt.get_fignums():
            assert list(indistinct(as_svg(plt.figure(number)))) == []
    plt.close("all")


def test_settings_are_known_to_matplotlib():
    with mpl.rc_context(settings()):
        assert mpl.rcParams["legend.frameon"] is False


def test_drawn_figures_use_the_palette():
    drawn = [p for p in (ROOT / "docs/figures").rglob("*.svg") if "-dark" not in p.stem]
    assert len(drawn) > 15
    for path in drawn:
        text = path.read_text(encoding="utf-8")
        assert any(color in text for color in (*COLORS, INK)), path
        assert "#1f77b4" not in text, f"{path}: matplotlib's own blue"


def test_the_report_draws_in_the_same_colours():
    from importlib import resources

    folder = resources.files("earmark.evaluation.report") / "assets"
    style = (folder / "report.css").read_text(encoding="utf-8")
    light, dark = style.split("prefers-color-scheme: dark")
    for name, color in (("right", COLORS[0]), ("wrong", COLORS[1])):
        assert f"--{name}: {color};" in light
        assert f"--{name}: {for_dark(color)};" in dark
