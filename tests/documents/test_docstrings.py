"""The docstring corpus: real, clean, mixed, the same every time, and cached."""

import doctest
import itertools
import os
import re
import time
from collections import Counter

import pytest

from earmark.documents import docstring_corpus, docstrings
from earmark.exceptions import DataError


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One folder for all workers: the corpus is read from the sources once."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return shared / "docstring-cache"


@pytest.fixture(scope="module")
def corpus(cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EARMARK_CACHE", str(cache))
        return docstring_corpus()


def test_example_in_the_docstring_runs(corpus, cache, monkeypatch):
    monkeypatch.setenv("EARMARK_CACHE", str(cache))
    assert doctest.testmod(docstrings) == (0, 4)


@pytest.fixture
def only(monkeypatch, tmp_path):
    """A made-up standard library of two packages, and a cache of its own."""
    library = tmp_path / "library"
    for name, text in {"http": "alpha", "unittest": "beta"}.items():
        (library / name).mkdir(parents=True)
        docstring = " ".join(
            f"{text} {word}" for word in ("ab", "cd", "ef", "gh", "ij")
        )
        (library / name / "__init__.py").write_text(repr(docstring))
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(library))
    monkeypatch.setattr(docstrings, "_LABELS", {"http": None, "unittest": None})
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_thousands_of_documents_in_classes_of_useful_size(corpus):
    counts = Counter(corpus.labels)
    assert len(corpus) > 3000
    assert 12 <= len(counts) <= 20
    assert min(counts.values()) >= 50
    assert corpus.regions == ("name", "text")
    assert len(set(corpus.ids)) == len(corpus)


def test_names_of_the_packages_are_gone_from_all_regions(corpus):
    parts = {part for label in set(corpus.labels) for part in label.split(".")}
    pattern = re.compile(rf"\b({'|'.join([*parts, 'np', 'jinja'])})\b", re.IGNORECASE)
    for region in corpus.regions:
        assert not [text for text in corpus.texts[region] if pattern.search(text)]


def test_no_text_comes_twice_and_none_is_very_short(corpus):
    texts = corpus.texts["text"]
    assert len({" ".join(text.lower().split()) for text in texts}) == len(texts)
    assert min(len(re.findall(r"[^\W\d_]{2,}", text)) for text in texts) == 10


def test_no_tests_are_among_the_sources(corpus):
    modules = [name.partition(":")[0].split(".") for name in corpus.ids]
    assert not [m for m in modules if "tests" in m or m[-1].startswith("test_")]


def test_order_is_mixed(corpus):
    changes = sum(a != b for a, b in itertools.pairwise(corpus.labels))
    assert changes > len(corpus) / 2


def test_cache_gives_the_same_corpus_quickly(corpus, cache, monkeypatch):
    monkeypatch.setenv("EARMARK_CACHE", str(cache))
    monkeypatch.setattr(docstrings, "_collect", lambda: pytest.fail("not cached"))
    start = time.process_time()
    assert docstring_corpus() == corpus
    assert time.process_time() - start < 1


def test_reading_twice_gives_the_same_documents(only):
    assert docstring_corpus(cache=False) == docstring_corpus(cache=False)
    assert not only.exists()


def test_damaged_cache_is_made_anew(only):
    first = docstring_corpus()
    (path,) = only.iterdir()
    whole = path.read_bytes()
    for damaged in (
        b"",
        whole[: len(whole) // 2],
        b"\0" + whole,
        whole[:-9] + b"x" * 9,
    ):
        path.write_bytes(damaged)
        assert docstring_corpus() == first
        assert path.read_bytes() == whole


def test_unwritable_cache_is_done_without(only, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("EARMARK_CACHE", str(blocked / "cache"))
    assert len(docstring_corpus()) == 2


def test_other_versions_have_another_cache(only, monkeypatch):
    docstring_corpus()
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    docstring_corpus()
    assert len(list(only.iterdir())) == 2


def test_python_without_sources_is_told(only, monkeypatch, tmp_path):
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    with pytest.raises(DataError, match=r"installed without its .py files"):
        docstring_corpus(cache=False)


def test_every_definition_is_found_by_its_dotted_name(monkeypatch, tmp_path):
    words = "one two three four five six seven eight nine ten eleven"
    (tmp_path / "http" / "tests").mkdir(parents=True)
    (tmp_path / "unittest").mkdir()
    (tmp_path / "http" / "__init__.py").write_text(f'"""Module {words}"""\n')
    (tmp_path / "http" / "broken.py").write_text("def (:")
    (tmp_path / "http" / "tests" / "some.py").write_text(f'"""Test {words}"""\n')
    (tmp_path / "unittest" / "mock.py").write_text(
        "if True:\n"
        "  class Outer:\n"
        f"    '''Of NumPy and np: class {words}'''\n"
        "    async def method(self):\n"
        f"      '''Method {words}'''\n"
        "      def inner():\n"
        "        '''Too short'''\n"
        "    def copy(self):\n"
        f"      '''method   {words.upper()}'''\n"
    )
    monkeypatch.setattr(docstrings, "_LABELS", {"http": None, "unittest": None})
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    documents = docstring_corpus(cache=False)
    found = dict(zip(documents.ids, documents.texts["text"], strict=True))
    assert found == {
        "http": f"Module {words}",
        "unittest.mock:2:Outer": f"Of  and : class {words}",
        "unittest.mock:4:Outer.method": f"Method {words}",
    }
    names = dict(zip(documents.ids, documents.texts["name"], strict=True))
    assert names["unittest.mock:4:Outer.method"] == "Outer.method"
    assert names["http"] == ""
