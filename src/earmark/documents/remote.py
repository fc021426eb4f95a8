"""Files behind a URL: fetched by fsspec into a temporary folder, named by the URL."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from earmark._optional import require
from earmark.documents.format import format_by_suffix
from earmark.documents.table import fault, listed
from earmark.exceptions import DataError, Try

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# user:password@ in a URL, and what signs it, are nobody's business.
_SECRET = re.compile(r"(?<=://)[^/@]*@|\?.*")


def scheme_of(path: str) -> str | None:
    """The scheme of a URL, such as s3; None for a path."""
    match = _SCHEME.match(path)
    return None if match is None else match[1].lower()


def without_secrets(url: str) -> str:
    """A URL as messages may show it; a path as it is."""
    if scheme_of(url) is None:
        return url
    return _SECRET.sub("", url)


class _Folder:
    """A temporary folder that goes with the last file in it."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="earmark-")
        weakref.finalize(self, shutil.rmtree, self.name, True)


class RemoteFile(type(Path())):  # type: ignore[misc]
    """A fetched file: reading it reads the copy, messages name the URL."""

    url: str | None = None
    local: str | None = None
    folder: Any = None  # removed with the last file that was fetched into it

    @classmethod
    def of(cls, local: Path, url: str, folder: Any) -> RemoteFile:
        """The copy of what a URL names."""
        path = cls(local)
        path.url, path.local, path.folder = url, str(local), folder
        return path

    def __str__(self) -> str:
        return super().__str__() if self.url is None else self.url

    def __fspath__(self) -> str:
        return super().__fspath__() if self.local is None else self.local

    def __reduce__(self) -> Any:
        return Path, (self.__fspath__(),)


def fetched(url: str) -> list[Path]:
    """Copies of the files that a URL means: one, or the parts in a folder."""
    name = without_secrets(url)
    fsspec = require("fsspec", f"read {name}")
    try:
        system, place = fsspec.core.url_to_fs(url)
        if not system.exists(place):
            raise fault(name, "there is no such file; check the address.")
        places = [place]
        if system.isdir(place):
            files = sorted(system.ls(place, detail=False))
            places = [one for one in files if format_by_suffix(Path(one)) is not None]
        if not places:
            raise fault(name, "expected files of a known format, got a folder of none.")
        folder = _Folder()
        copies: list[Path] = []
        for one in places:
            local = Path(folder.name, Path(one).name)
            system.get_file(one, str(local))
            address = name if len(places) == 1 else f"{name.rstrip('/')}/{local.name}"
            copies.append(RemoteFile.of(local, address, folder))
    except DataError:
        raise
    except (
        ValueError,
        ImportError,
    ) as error:  # an unknown scheme, a package to install
        known = ("s3", "gs", "https", "file")
        scheme = scheme_of(url)
        what = f"expected an address that begins with {listed(known)}, got {scheme!r}"
        if isinstance(error, ImportError) or "not known" not in str(error):
            what = f"files of {scheme!r} cannot be read here: {error}"
        raise fault(
            name, what, Try("fetch the file yourself, and give its path")
        ) from (error)
    except Exception as error:  # whatever the network, or the other side, says
        said = without_secrets(" ".join(str(error).split())) or type(error).__name__
        raise fault(
            name, f"it cannot be read ({said:.200}); check address and permissions."
        ) from error
    return copies
