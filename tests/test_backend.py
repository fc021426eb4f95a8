"""Which kernels serve is decided by the build and by one environment variable."""

import os
from types import SimpleNamespace

import pytest

from earmark.exceptions import EarmarkWarning
from earmark.kernels import backend


def test_plain_kernels_serve_when_asked(monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    assert backend.native() is None
    assert backend.describe().startswith("plain Python")


def test_description_names_the_compiled_kernels(monkeypatch):
    monkeypatch.delenv("EARMARK_NO_NATIVE", raising=False)
    if backend.native() is not None:
        assert backend.describe() == "compiled (C++)"
    else:
        assert "no working C++ compiler" in backend.describe()


def test_an_extension_older_than_its_sources_is_not_called(monkeypatch, tmp_path):
    monkeypatch.delenv("EARMARK_NO_NATIVE", raising=False)
    library = tmp_path / "_native.so"
    library.touch()
    monkeypatch.setattr(
        backend, "_extension", lambda: SimpleNamespace(__file__=str(library))
    )
    monkeypatch.setattr(backend, "_SOURCES", tmp_path / "cpp")
    backend._is_stale.cache_clear()
    assert backend.native() is not None  # no checkout: nothing to compare with
    (tmp_path / "cpp").mkdir()
    source = tmp_path / "cpp" / "text.cpp"
    source.touch()
    os.utime(source, (0, 0))
    backend._is_stale.cache_clear()
    assert backend.native() is not None
    os.utime(library, (0, 0))
    source.touch()
    backend._is_stale.cache_clear()
    with pytest.warns(EarmarkWarning, match="rebuild with make"):
        assert backend.native() is None
    assert "rebuild" in backend.describe()
    backend._is_stale.cache_clear()
