"""The cache folder follows the environment; files are written atomically."""

import os
from pathlib import Path

import pytest

from earmark.whole_files import cache_folder, write_whole


def test_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("EARMARK_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "earmark"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder() == Path.home() / ".cache" / "earmark"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "earmark"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "earmark" / "Cache"


def test_failed_write_leaves_the_old_file_and_no_other(monkeypatch, tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]
