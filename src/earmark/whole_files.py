"""Files that are whole or not there, rows as bytes, lock files, and where caches lie.

A file is written atomically: temporary file, fsync, rename, fsync folder. Lines that
are appended are all there afterwards, or none is.

A writer that is killed leaves its temporary file behind; the next one with the same
target removes it. A live writer holds a lock on its temporary file, so that writers
at the same time do not remove each other's.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import hashlib
import json
import os
import secrets
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows: an open file cannot be removed, which serves as lock
    fcntl = None

_PIECE = 2**24
_appending = threading.Lock()


def write_whole(
    path: str | os.PathLike[str], content: str | bytes | Iterable[bytes | memoryview]
) -> None:
    """Replace the file ``path`` by ``content``, or leave it as it was."""
    if isinstance(content, str):  # lone surrogates, which have no UTF-8, become "?"
        content = content.encode("utf-8", errors="replace")
    pieces = [content] if isinstance(content, bytes) else content
    with _replacing(path) as (descriptor, _):
        for piece in pieces:
            data, done = memoryview(piece), 0
            while done < len(data):  # a write may take fewer bytes than it was given
                done += os.write(descriptor, data[done : done + _PIECE])


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file to fill, which becomes ``path`` when the block ends well."""
    with _replacing(path) as (_, temporary):
        yield temporary


@contextlib.contextmanager
def _replacing(path: str | os.PathLike[str]) -> Iterator[tuple[int, Path]]:
    """Descriptor and name of the temporary file; a link is written through."""
    target = check_target(path)
    _remove_leftovers(target)
    descriptor, temporary = _create(target)
    try:
        try:
            if hasattr(os, "fchmod"):  # a file that is replaced keeps its mode
                with contextlib.suppress(FileNotFoundError):
                    os.fchmod(descriptor, stat.S_IMODE(os.stat(target).st_mode))
            yield descriptor, temporary
            os.fsync(descriptor)
            os.replace(temporary, target)
        finally:
            os.close(descriptor)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno and error.filename is None:
            error.filename = str(path)
        raise
    _sync_folder(target.parent)


def check_target(path: str | os.PathLike[str]) -> Path:
    """The file to be written, behind links; a plain OSError if that cannot be done."""
    target = Path(os.path.realpath(path))
    folder, special = target.parent, target.exists() and not target.is_file()
    no_folder = "the folder of this file does not exist; create it first"
    closed = "no permission to create files in the folder of this file"
    # The number makes it an IsADirectoryError, a FileNotFoundError or the like.
    for is_so, number, words in (
        (target.is_dir(), errno.EISDIR, "this is a folder; name a file in it"),
        (not folder.is_dir(), errno.ENOENT, no_folder),
        (special, errno.EINVAL, "this is no regular file; name another"),
        (not os.access(folder, os.W_OK | os.X_OK), errno.EACCES, closed),
    ):
        if is_so:
            raise OSError(number, words, str(target))
    return target


def _prefix(target: Path) -> str:
    """What the names of all temporary files of this target begin with."""
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()
    return f".earmark-{digest[:16]}-"


def _create(target: Path) -> tuple[int, Path]:
    """A new locked temporary file beside the target; its mode honours the umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        name = f"{_prefix(target)}{secrets.token_hex(8)}.tmp"
        temporary = target.parent / name
        try:
            descriptor = os.open(temporary, flags, 0o666)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target)) from error
        if fcntl is None:
            return descriptor, temporary
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Another writer may have taken it for a leftover before we held the lock.
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files of this target that no live writer holds."""
    prefix = _prefix(target)
    for entry in list(os.scandir(target.parent)):
        if entry.name.startswith(prefix) and entry.name.endswith(".tmp"):
            with contextlib.suppress(OSError):
                _remove_if_dead(entry.path)


def _remove_if_dead(leftover: str) -> None:
    if fcntl is None:
        os.unlink(leftover)
        return
    descriptor = os.open(leftover, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(leftover)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_lines(path: str | os.PathLike[str], lines: bytes) -> None:
    """Add whole lines to a file, on disk when it returns; on an error it stays."""
    with _at_the_end(path) as (descriptor, length):
        data, done = memoryview(_end_of_line(descriptor, length) + lines), 0
        try:
            while done < len(data):  # a write may take fewer bytes than it was given
                done += os.write(descriptor, data[done : done + _PIECE])
            os.fsync(descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, length)
            raise


def mend_json_lines(path: str | os.PathLike[str]) -> int:
    """End the last line of a file; how many bytes of a torn one were cut off.

    A process that was killed while it wrote leaves half a line. Nobody was told that
    it had arrived, and with the next line behind it neither could be read.
    """
    if not os.path.isfile(path):
        return 0
    with _at_the_end(path) as (descriptor, length):
        if not _end_of_line(descriptor, length):
            return 0
        start = _start_of_line(descriptor, length)
        os.lseek(descriptor, start, os.SEEK_SET)
        last = os.read(descriptor, length - start)
        try:
            json.loads(last)
        except ValueError:
            if last.startswith(b"{"):
                os.ftruncate(descriptor, start)
                os.fsync(descriptor)
                return length - start
        os.write(descriptor, b"\n")
        return 0


@contextlib.contextmanager
def _at_the_end(path: str | os.PathLike[str]) -> Iterator[tuple[int, int]]:
    """Descriptor and length of a file that nobody else appends to meanwhile."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    with _appending:
        descriptor = os.open(path, flags, 0o666)
        try:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # a file system without locks
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor, os.lseek(descriptor, 0, os.SEEK_END)
        finally:
            os.close(descriptor)


def _end_of_line(descriptor: int, length: int) -> bytes:
    """The line break that a file lacks at its end."""
    if not length:
        return b""
    os.lseek(descriptor, length - 1, os.SEEK_SET)
    return b"" if os.read(descriptor, 1) == b"\n" else b"\n"


def _start_of_line(descriptor: int, end: int) -> int:
    """Where the last line of a file begins."""
    while end:
        begin = max(0, end - _PIECE)
        os.lseek(descriptor, begin, os.SEEK_SET)
        at = os.read(descriptor, end - begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return 0


def json_line(row: object) -> bytes:
    """A row as a line of JSON; values that JSON does not have become texts."""
    line = json.dumps(row, ensure_ascii=False, default=str) + "\n"
    # A lone surrogate has no UTF-8; JSON has an escape for it, spelled the same.
    return line.encode("utf-8", errors="backslashreplace")


def csv_line(cells: Iterable[object]) -> bytes:
    """A row as a line of csv; NULs and lone surrogates, no text there, become "?"."""
    line: str = csv.writer(_Line, lineterminator="\n").writerow(cells)
    return line.replace("\0", "?").encode("utf-8", errors="replace")


class _Line:
    """A file that gives back what is written, so that ``writerow`` returns it."""

    write = staticmethod(str)


@contextlib.contextmanager
def locked_file(path: str | os.PathLike[str], *, wait: bool) -> Iterator[bool]:
    """Hold a lock file, dropped with the process; False if another has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        taken = True
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                taken = False
            except OSError:  # a file system without locks
                pass
        yield taken
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def changed_by_one(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process at a time read a file, change it and put it in its place."""
    if fcntl is None:
        yield
        return
    while True:
        with open(path, "rb") as file:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            # Whoever had it has put another file in its place.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                yield
                return


def cache_folder() -> Path:
    """EARMARK_CACHE, or the folder of the platform for caches (XDG_CACHE_HOME)."""
    stated = os.environ.get("EARMARK_CACHE")
    if stated:
        return Path(stated)
    xdg = os.environ.get("XDG_CACHE_HOME")
    if xdg:
        return Path(xdg, "earmark")
    home = Path(os.path.expanduser("~"))
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "earmark"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
        return Path(local, "earmark", "Cache")
    return home / ".cache" / "earmark"
