"""Docstrings are plain text: |x| and coef_ need no escapes for reStructuredText.

Runs after numpydoc has made sections of them. Literals, examples and directives are
left as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# A literal or an interpreted text, which stays; or one of the characters that
# would start a substitution or a link.
_SPECIAL = re.compile(
    r"(?P<keep>``.+?``|:\w+:`[^`]+`|`[^`]+`_?|\[\w+\]_|\\.)"
    r"|\||(?<=[\"'])\*(?=\W)|(?<=\w)_(?!\w)"
)


def escape(line: str) -> str:
    """A line of prose with bars and trailing underscores taken literally."""
    return _SPECIAL.sub(lambda m: m["keep"] or "\\" + m[0], line)


def escape_lines(lines: list[str]) -> list[str]:
    """All lines of a docstring; examples and literal blocks stay."""
    out: list[str] = []
    until = -1  # indentation that ends a literal block
    in_example = False
    for line in lines:
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if not bare:
            in_example = False
        elif until >= 0 and indent <= until:
            until = -1
        in_example = in_example or bare.startswith(">>>")
        if in_example or until >= 0 or bare.startswith(".. "):
            out.append(line)
        else:
            out.append(escape(line))
        if bare.endswith("::") and until < 0 and not in_example:
            until = indent
    return out


def _process(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = escape_lines(lines)


def setup(app: Sphinx) -> dict[str, Any]:
    """Come after numpydoc, whose handler has the usual priority of 500."""
    app.connect("autodoc-process-docstring", _process, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
