r"""Formulas as MathML: no script, no font and no network is needed to show them.

Writes LaTeX maths through latex2mathml, which browsers draw themselves. A ``\tag{NB1}``
becomes the number at the right.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

_TAG = re.compile(r"\\tag\{([^}]*)\}")
_STARRED = re.compile(r"\{(align|equation|gather|multline)\*?\}")
# What latex2mathml does not know, by what it does.
_SPELLINGS = {
    r"\operatorname*": r"\operatorname",
    r"\arg\min": r"\operatorname{argmin}",
    r"\arg\max": r"\operatorname{argmax}",
    r"\lVert": r"\|",
    r"\rVert": r"\|",
    r"\lvert": "|",
    r"\rvert": "|",
    r"\tfrac": r"\frac",
    r"\bigl": "",
    r"\bigr": "",
    r"\Bigl": "",
    r"\Bigr": "",
}


def to_mathml(latex: str, display: str) -> str:
    """MathML of a LaTeX formula."""
    for spelling, known in _SPELLINGS.items():
        latex = latex.replace(spelling, known)
    latex = _STARRED.sub("{aligned}", latex)
    return str(convert(latex, display=display))


def _checked(translator: Any, node: nodes.Node, latex: str, display: str) -> str:
    try:
        return to_mathml(latex, display)
    except Exception as error:
        logger.warning("formula not understood (%s): %s", error, latex, location=node)
        return f"<code>{translator.encode(latex)}</code>"


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula inside a sentence."""
    translator.body.append(_checked(translator, node, node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its tag."""
    latex = node.astext()
    tags = _TAG.findall(latex)
    number = node.get("number")
    if number:
        tags.append(str(number))
    label = node.get("label")
    anchor = f' id="equation-{nodes.make_id(label)}"' if label else ""
    formula = _checked(translator, node, _TAG.sub("", latex).strip(), "block")
    tag = "".join(f'<span class="tag">({t})</span>' for t in tags)
    translator.body.append(
        f'<div class="formula" tabindex="0"{anchor}>{formula}{tag}</div>'
    )
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer and choose it."""
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(visit_inline, None),
        block_renderers=(visit_block, None),
    )
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
