"""The files of a page, read once, sent with an ETag."""

from __future__ import annotations

import hashlib
from importlib import resources
from typing import Any

from starlette.responses import Response

__all__ = ["PageFiles"]

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class PageFiles:
    """Static files of some packages by name; later packages come first.

    Examples
    --------
    >>> "base.css" in PageFiles("earmark.apps.web").names
    True

    """

    def __init__(self, *packages: str) -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        for package in packages:
            for entry in (resources.files(package) / "static").iterdir():
                suffix = entry.name.rpartition(".")[2]
                if suffix in _TYPES:
                    body = entry.read_bytes()
                    tag = hashlib.sha256(body).hexdigest()[:16]
                    self._files[entry.name] = (body, f'"{tag}"')

    @property
    def names(self) -> list[str]:
        """Names of the files."""
        return sorted(self._files)

    def response(self, name: str, request: Any) -> Response | None:
        """The file, "not modified", or None if there is no such file."""
        if name not in self._files:
            return None
        body, tag = self._files[name]
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        media_type = _TYPES[name.rpartition(".")[2]]
        return Response(body, headers=headers, media_type=media_type)
