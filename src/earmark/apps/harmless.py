"""Text of strangers, made safe to show: no character in it commands a terminal."""

from __future__ import annotations

import re

__all__ = ["harmless"]

# Controls but for line ends and tabs; line and paragraph ends of Unicode; what turns
# the direction of a line; lone surrogates, which no terminal can be sent.
_COMMANDS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def harmless(text: str) -> str:
    r"""The text with commands to a terminal spelled out, as JSON spells them too.

    >>> print(harmless("a\x1b[2Jb"))
    a\u001b[2Jb
    """
    return _COMMANDS.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"
