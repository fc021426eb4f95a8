"""Which kernels serve is decided by the build and by one environment variable."""

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
