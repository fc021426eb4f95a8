"""JSON in UTF-8 and nothing else: also what keeps other sites' forms out."""

from __future__ import annotations

from earmark.apps.web.bodies import Scope, header
from earmark.apps.web.replies import Refusal

__all__ = ["require_json"]


def require_json(scope: Scope) -> None:
    """Refuse a body that does not say it is JSON in UTF-8."""
    given = header(scope, b"content-type") or ""
    if given == "application/json":  # nearly always
        return
    kind, _, rest = given.partition(";")
    if kind.strip().lower() != "application/json":
        raise Refusal(415, "media_type", "Content-Type must be application/json.")
    for parameter in rest.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"').lower()
            if charset not in ("utf-8", "utf8"):
                raise Refusal(415, "charset", "the charset must be UTF-8.")
