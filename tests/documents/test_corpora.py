"""Benchmark corpora: found, checked, and when absent explained."""

import functools
import hashlib
import http.server
import os
import sys
import threading
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from earmark.documents import corpora, fetch_corpus, load_corpus
from earmark.documents.corpora import corpus_names
from earmark.exceptions import DataError, MissingDependencyError


@pytest.fixture
def data(monkeypatch, tmp_path):
    """A folder with made-up files of some corpora, their checksums published."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("EARMARK_DATA", str(folder))
    monkeypatch.setenv("EARMARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EARMARK_DATA_URL", raising=False)
    tables = {
        "r52_train.parquet": {"text": ["a", "b"], "label": ["x", "y"], "n": [1, 2]},
        "r52_test.parquet": {"text": ["c"], "label": ["x"]},
        "sms_spam.parquet": {"text": ["hi", "win"], "label": ["ham", "spam"]},
        "cora.parquet": {
            "id": ["p", "q"],
            "label": ["x", "y"],
            "terms": [[3, 1], [1432]],
        },
        "20newsgroups_original19997.parquet": {
            "id": ["sci/1"],
            "label": ["sci"],
            "text": ["Newsgroups: sci\n\nbody"],
            "subject": ["subject"],
            "body": ["body"],
        },
    }
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / name)
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        monkeypatch.setitem(corpora._sums(), name, digest)
    return folder


def test_parts_are_joined_with_the_split_as_a_column(data):
    documents = load_corpus("r52")
    assert documents.texts == ["a", "b", "c"]
    assert documents.labels == ["x", "y", "x"]
    assert documents.columns == {
        "split": ["train", "train", "test"],
        "n": [1, 2, None],
    }


def test_one_part_can_be_loaded(data):
    assert load_corpus("r52", "test").texts == ["c"]
    assert load_corpus("R52", "train").columns["n"] == [1, 2]


def test_corpus_without_split_has_no_parts(data):
    assert "split" not in load_corpus("sms").columns
    with pytest.raises(DataError, match=r"'sms' has no part 'train'.*stratified_split"):
        load_corpus("sms", "train")
    with pytest.raises(DataError, match="'ag-news' has no part 'train', it has 'test'"):
        load_corpus("ag_news", "train")


def test_headers_that_name_the_class_are_left_out(data):
    documents = load_corpus("20newsgroups-original")
    assert documents.texts == ["subject\nbody"]
    assert documents.ids == ["sci/1"]
    assert documents.columns["text"] == ["Newsgroups: sci\n\nbody"]


def test_regions_are_columns_of_text(data):
    documents = load_corpus("20newsgroups-original", regions=["subject", "body"])
    assert documents.texts == {"subject": ["subject"], "body": ["body"]}
    with pytest.raises(DataError, match=r"no text column 'n' .* it has 'text'"):
        load_corpus("r52", regions=["n"])


def test_term_corpora_have_words_for_terms(data):
    documents = load_corpus("cora")
    assert documents.texts == ["w3 w1", "w1432"]
    assert documents.columns["terms"] == [[3, 1], [1432]]
    assert documents.labels == ["x", "y"]


def test_changed_file_is_refused_unless_asked_not_to_look(data):
    pq.write_table(
        pa.table({"text": ["other"], "label": ["x"]}), data / "sms_spam.parquet"
    )
    with pytest.raises(DataError, match="expected the published file with SHA-256"):
        load_corpus("sms")
    assert load_corpus("sms", verify=False).texts == ["other"]


def test_each_file_is_summed_once(data, monkeypatch):
    load_corpus("sms")
    monkeypatch.setattr(hashlib, "file_digest", lambda *_: pytest.fail("again"))
    load_corpus("sms")


def test_unreadable_file_is_a_data_error(data):
    (data / "sms_spam.parquet").write_bytes(b"no parquet")
    with pytest.raises(DataError, match="cannot be read"):
        load_corpus("sms", verify=False)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match=r"did you mean 'reuters21578'.*'20newsgroups'"):
        load_corpus("reuters-21578")
    with pytest.raises(DataError, match="no corpus 'zzz'; the names are"):
        load_corpus("zzz")


def test_absent_corpus_says_both_ways_to_get_it(data, monkeypatch):
    message = (
        r"expected imdb_train.parquet in .*Set EARMARK_DATA .* set "
        r"EARMARK_DATA_URL .* earmark fetch imdb\. .*Maas"
    )
    with pytest.raises(DataError, match=message):
        load_corpus("imdb")
    monkeypatch.delenv("EARMARK_DATA")
    with pytest.raises(DataError, match="EARMARK_DATA is not set"):
        load_corpus("imdb")


def test_loading_never_downloads(data, monkeypatch):
    monkeypatch.setenv("EARMARK_DATA_URL", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataError, match="earmark fetch imdb"):
        load_corpus("imdb")


@pytest.fixture
def server(data):
    """The made-up files served on the loopback interface."""
    requests = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            requests.append(self.path)

    handler = functools.partial(Handler, directory=str(data))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{service.server_port}", requests
        service.shutdown()
        thread.join()


def test_fetched_corpus_is_checked_kept_and_found(server, monkeypatch):
    url, requests = server
    monkeypatch.setenv("EARMARK_DATA_URL", url)
    (path,) = fetch_corpus("sms")
    assert path.parent == corpora._fetched_folder()
    monkeypatch.delenv("EARMARK_DATA")
    assert load_corpus("sms").texts == ["hi", "win"]
    n_requests = len(requests)
    assert fetch_corpus("sms", url=url + "/") == [path]
    assert len(requests) == n_requests


def test_wrong_or_absent_download_is_refused_and_not_kept(server, data):
    url, _ = server
    (data / "sms_spam.parquet").write_bytes(b"something else")
    with pytest.raises(DataError, match=r"expected the published sms_spam.parquet at"):
        fetch_corpus("sms", url=url)
    with pytest.raises(DataError, match=r"expected the published imdb_train.parquet"):
        fetch_corpus("imdb", url=url)
    folder = corpora._fetched_folder()
    assert not folder.exists() or list(folder.iterdir()) == []


def test_fetching_needs_an_address_and_pooch(data, monkeypatch):
    with pytest.raises(DataError, match="give url= or set EARMARK_DATA_URL"):
        fetch_corpus("sms")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDependencyError, match=r"\.\[data\]"):
        fetch_corpus("sms", url="http://127.0.0.1:9")


def test_every_file_of_the_catalogue_has_a_checksum():
    files = [file for name in corpus_names() for file in corpora._corpora()[name].files]
    assert sorted(files) == sorted(corpora._sums())


# Documents, classes and documents of the official train part, as published.
PUBLISHED = {
    "20newsgroups": (18846, 20, 11314),
    "20newsgroups-original": (19997, 20, None),
    "ag-news": (7600, 4, None),
    "citeseer": (3312, 6, None),
    "cora": (2708, 7, None),
    "imdb": (50000, 2, 25000),
    "r52": (9100, 52, 6532),
    "r52-stemmed": (9100, 52, 6532),
    "r8": (7674, 8, 5485),
    "r8-stemmed": (7674, 8, 5485),
    "reuters21578": (12902, 118, 9603),
    "sms": (5574, 2, None),
    "trec": (5952, 6, 5452),
    "webkb": (4199, 4, 2803),
}


@pytest.mark.corpus
@pytest.mark.parametrize("name", PUBLISHED)
def test_corpus_has_the_published_size(name):
    assert "EARMARK_DATA" in os.environ
    n_documents, n_classes, n_train = PUBLISHED[name]
    documents = load_corpus(name)
    assert len(documents) == n_documents
    assert all(isinstance(text, str) for text in documents.texts)
    labels = documents.labels
    if name == "reuters21578":
        labels = [label for labels in documents.labels for label in labels]
    assert len(Counter(labels)) == n_classes
    if n_train is not None:
        split = Counter(documents.columns["split"])
        assert split == {"train": n_train, "test": n_documents - n_train}
        assert len(load_corpus(name, "train")) == n_train


@pytest.mark.corpus
def test_newsgroups_regions_hold_subject_and_body():
    documents = load_corpus("20newsgroups", "test", regions=["subject", "body"])
    assert documents.regions == ("subject", "body")
    assert documents.columns["text"][0].endswith(documents.texts["body"][0])


def test_catalogue_names_are_friendly():
    assert set(corpus_names()) == set(PUBLISHED)
