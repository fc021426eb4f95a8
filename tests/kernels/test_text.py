"""Text kernels: compiled and plain agree, threads do not matter, Unicode is exact."""

import ast
import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from earmark.exceptions import DataError
from earmark.features import WordCounter
from earmark.kernels import text
from earmark.kernels.backend import native
from earmark.kernels.text import ArrowText, Scan, ScannedTexts, TermTable, TokenLists

needs_extension = pytest.mark.skipif(native() is None, reason="no compiled kernels")

SCANS = [
    Scan(),
    Scan(ngram_range=(1, 2), stop_words=frozenset({"the", "οδος"})),
    Scan(ngram_range=(2, 4), min_length=1, lowercase=False),
    Scan(ngram_range=(3, 3), min_length=3),
    Scan("char", (1, 4)),
    Scan("char", (3, 3), lowercase=False),
    Scan("char_wb", (1, 1)),
    Scan("char_wb", (2, 6)),
]
TEXTS = [
    "The cat and the other CAT; the end",
    "ΟΔΟΣ οδός Σ ΣΑΣ. İstanbul ISTANBUL",
    "",
    "a\x00b\x00\x00 c\ud800d \udfff \U0001d4d0\U0001d4d1x \U00010400",
    "one  two\n\nthree \u2028 four\x85five\x1csix ",
    "naïve " * 30 + "é" * 70,
    "x" * 16 + " " + "x" * 17 + " " + "x" * 17 + "y " + "x" * 15,
    "word " * 200,
]


def plain_analyzer(scan):
    return WordCounter(
        analyzer=scan.analyzer,
        ngram_range=scan.ngram_range,
        token_pattern=rf"\w{{{scan.min_length},}}",
        lowercase=scan.lowercase,
        stop_words=sorted(scan.stop_words) or None,
    ).build_analyzer()


def counted(texts, scan, n_threads=1):
    if native() is None:
        counts = TokenLists(texts, plain_analyzer(scan)).count_terms()
    else:
        counts = ScannedTexts(texts, scan, n_threads).count_terms()
    every = np.ones(counts.n_terms, dtype=bool)
    columns = np.empty(counts.n_terms, dtype=np.int32)
    columns[counts.order()] = np.arange(counts.n_terms)
    frequencies = counts.frequencies()
    return [counts.terms(every), columns, *frequencies, *counts.matrix(columns)]


def assert_all_equal(left, right):
    for ours, theirs in zip(left, right, strict=True):
        assert type(ours) is type(theirs)
        if isinstance(ours, np.ndarray):
            assert ours.dtype == theirs.dtype
            assert_array_equal(ours, theirs)
        else:
            assert ours == theirs


def as_arrow(texts, dtype=np.int32):
    blobs = [t.encode() for t in texts]
    offsets = np.cumsum([0, *map(len, blobs)]).astype(dtype)
    return ArrowText(((offsets, np.frombuffer(b"".join(blobs), dtype=np.uint8)),))


@needs_extension
@pytest.mark.parametrize("scan", SCANS)
def test_compiled_counts_equal_plain_counts(scan, monkeypatch):
    compiled = counted(TEXTS, scan)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    assert_all_equal(compiled, counted(TEXTS, scan))


@needs_extension
def test_pieces_of_words_that_recur_equal_plain_ones(monkeypatch):
    scan = Scan("char_wb", (2, 5))
    long, words = "long" * 30, ["Ab", "aba", "ΟΔΟΣ", "a", "tail\U0001f600"]
    texts = [f"{words[k % 5]} {long} {words[k % 3]}  {words[k % 5]}" for k in range(40)]
    compiled, known = counted(texts, scan), TermTable(["ab", "lon", " a ", "οδ"])
    columns = ScannedTexts(texts, scan).count_columns(known)
    monkeypatch.setenv("EARMARK_NO_NATIVE", "1")
    assert_all_equal(compiled, counted(texts, scan))
    plain = TokenLists(texts, plain_analyzer(scan)).count_columns(known)
    assert_all_equal([*columns[0], columns[1]], [*plain[0], plain[1]])


@needs_extension
def test_pieces_of_more_words_than_are_remembered_are_counted():
    numbers = [f"{k:x}" for k in range(530_000)]
    texts = [" ".join(numbers), "82000 7f 82000", "7f"]
    known = TermTable(["7f", " 82"])
    (indptr, _, counts), _ = ScannedTexts(texts, Scan("char_wb", (2, 3))).count_columns(
        known
    )
    of_all = [sum(f" {n} ".count("7f") for n in numbers)]
    of_all.append(sum(n.startswith("82") for n in numbers))
    assert indptr.tolist() == [0, 2, 4, 5]
    assert counts.tolist() == [*of_all, 1, 2, 1]


@needs_extension
@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("n_threads", [2, 3, 20])
def test_threads_do_not_change_a_byte(scan, n_threads):
    assert_all_equal(counted(TEXTS * 3, scan, n_threads), counted(TEXTS * 3, scan))


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_arrow_buffers_equal_strings(scan, dtype):
    texts = [t for t in TEXTS if "\ud800" not in t]
    arrow = as_arrow(texts, dtype)
    assert list(arrow) == texts
    assert_all_equal(counted(arrow, scan), counted(texts, scan))


@pytest.mark.parametrize("scan", SCANS)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_known_terms_are_counted_as_new_ones_are(scan, n_threads):
    terms, columns, _, _, indptr, indices, data = counted(TEXTS, scan)
    names = [term for _, term in sorted(zip(columns, terms, strict=True))]
    rows = [
        sorted(zip(indices[a:b], data[a:b], strict=True))
        for a, b in itertools.pairwise(indptr)
    ]
    sources = [TokenLists(TEXTS, plain_analyzer(scan))]
    if native() is not None:
        sources.append(ScannedTexts(TEXTS, scan, n_threads))
    every = [len(plain_analyzer(scan)(text)) for text in TEXTS]
    for source in sources:
        answer, totals = source.count_columns(TermTable(names))
        assert_array_equal(totals, every)
        assert_array_equal(answer[0], indptr)
        assert_array_equal(answer[1], [c for row in rows for c, _ in row])
        assert_array_equal(answer[2], [n for row in rows for _, n in row])


@needs_extension
@given(
    st.text(st.characters(exclude_categories=()), max_size=40), st.sampled_from(SCANS)
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_analysis_of_any_text_equals_the_plain_analyzer(document, scan):
    terms = plain_analyzer(scan)(document)
    counts = ScannedTexts([document], scan).count_terms()
    every = np.ones(counts.n_terms, dtype=bool)
    assert counts.terms(every) == list(dict.fromkeys(terms))


@needs_extension
def test_terms_of_any_length_are_told_apart():
    long = "y" * 70_000
    words = [
        long,
        long + "z",
        long[:-1],
        long[:65535],
        long[:65534],
        "y" * 17,
        "y" * 16,
    ]
    terms, *_, data = counted([" ".join(words), " ".join(words[::-1])], Scan())
    assert terms == words
    assert_array_equal(data, np.ones(2 * len(words)))
    source = ScannedTexts([" ".join(words)], Scan())
    (_, indices, _), _ = source.count_columns(TermTable(words))
    assert_array_equal(indices, np.arange(len(words)))


def test_many_terms_grow_the_tables(rng):
    texts = [" ".join(map(str, rng.integers(10, 50_000, 3000))) for _ in range(8)]
    for scan in (Scan(), Scan(ngram_range=(1, 2))):
        terms, columns, documents, *_ = counted(texts, scan, n_threads=2)
        assert len(set(terms)) == len(terms) == len(documents)
        assert [t for _, t in sorted(zip(columns, terms, strict=True))] == sorted(terms)


@pytest.mark.parametrize("no_native", ["", "1"])
def test_pruned_terms_are_left_out_of_the_rows(no_native, monkeypatch):
    monkeypatch.setenv("EARMARK_NO_NATIVE", no_native)
    texts = ["bb aa bb cc", "cc dd"]
    if native() is None:
        counts = TokenLists(texts, str.split).count_terms()
    else:
        counts = ScannedTexts(texts, Scan()).count_terms()
    columns = np.array([-1, 1, 0, -1], dtype=np.int32)  # bb aa cc dd
    indptr, indices, data = counts.matrix(columns)
    assert_array_equal(indptr, [0, 2, 3])
    assert_array_equal(indices, [1, 0, 0])
    assert_array_equal(data, [1, 1, 1])


@needs_extension
def test_rows_can_be_read_again_until_the_last_time():
    counts = ScannedTexts(TEXTS, Scan()).count_terms()
    columns = np.arange(counts.n_terms, dtype=np.int32)
    first = counts.matrix(columns, last=False)
    assert_all_equal(first, counts.matrix(columns))


@needs_extension
def test_strings_are_not_given_a_hidden_utf8_copy():
    document = "é" + "wide text " * 1000
    before = sys.getsizeof(document)
    ScannedTexts([document], Scan()).count_terms()
    assert sys.getsizeof(document) == before


@needs_extension
def test_bytes_that_are_not_utf8_name_the_document():
    for bad in (
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
    ):
        data = np.frombuffer(b"fine " + bad, dtype=np.uint8)
        arrow = ArrowText(((np.array([0, 5, len(data)], dtype=np.int32), data),))
        with pytest.raises(DataError, match="document 1: expected UTF-8"):
            ScannedTexts(arrow, Scan()).count_terms()


@needs_extension
def test_what_is_no_string_names_the_document():
    with pytest.raises(DataError, match="document 1: expected a str, got int"):
        ScannedTexts(["a", 3], Scan()).count_terms()


def test_tables_say_what_the_interpreter_says(rng):
    flags, lower = text.code_point_tables()
    sample = {*range(0x600), *rng.integers(0, sys.maxunicode + 1, 3000).tolist()}
    for n in sample | {0x130, 0x3A3, 0xD800, 0x1E9E, 0x2160, 0x10400, 0x1D7CE}:
        c = chr(n)
        assert bool(flags[n] & text.WORD) == bool(re.fullmatch(r"\w", c))
        assert bool(flags[n] & text.SPACE) == c.isspace()
        if not flags[n] & text.SPECIAL:
            assert chr(lower[n]) == c.lower()
    assert flags[0x130] & flags[0x3A3] & text.SPECIAL


@pytest.mark.parametrize("n", [1, 2, 5])
def test_plain_ngrams_by_hand(n):
    assert text.word_ngrams(["a", "b", "c"], 2, n) == {
        1: [],
        2: ["a b", "b c"],
        5: ["a b", "b c", "a b c"],
    }.get(n)
    assert text.char_ngrams("ab  c", n, n) == {
        1: ["a", "b", " ", "c"],
        2: ["ab", "b ", " c"],
        5: [],
    }.get(n)
    assert text.char_ngrams_in_words("ab c", n, n) == {
        1: [" ", "a", "b", " ", " ", "c", " "],
        2: [" a", "ab", "b ", " c", "c "],
        5: [" ab ", " c "],
    }.get(n)


_BLOCKS = """
import random, sys
from earmark.kernels import text
rng = random.Random(0)
words = ["a", "I", "to", "_", "x9", "exactly8", "ninebytes", "sixteen_bytes_is"]
words += ["Ünder", "ß"]
texts = []
for n in range(400):
    some = words if n % 3 == 0 else words[:8]
    line = "".join(rng.choice(some) + rng.choice(" ,.\\x00 '") for _ in range(n % 61))
    texts.append(line[: rng.randrange(60, 200)])
counts = text.ScannedTexts(texts, text.Scan(min_length=int(sys.argv[1]))).count_terms()
columns = counts.order().argsort().astype("int32")
vocabulary = counts.vocabulary(columns)
print([list(vocabulary.items()), [a.tolist() for a in counts.matrix(columns)], texts])
"""


@needs_extension
@pytest.mark.parametrize("min_length", [1, 2, 3])
def test_wide_and_narrow_registers_and_plain_python_cut_the_same_words(min_length):
    command = [sys.executable, "-c", _BLOCKS, str(min_length)]
    narrow = {**os.environ, "EARMARK_NARROW_SCAN": "1"}
    wide = subprocess.check_output(command, text=True)
    assert subprocess.check_output(command, text=True, env=narrow) == wide
    terms, _, texts = ast.literal_eval(wide)
    plain = {w for t in texts for w in plain_analyzer(Scan(min_length=min_length))(t)}
    assert {term for term, _ in terms} == plain


@needs_extension
def test_a_term_with_a_zero_byte_is_not_a_shorter_one():
    table = TermTable(["ab", "ab\x00", "ab\x00\x00"])
    (_, columns, counts), totals = ScannedTexts(
        ["ab ab\x00 abc"], Scan()
    ).count_columns(table)
    assert (columns.tolist(), counts.tolist()) == ([0], [2])
    assert totals.tolist() == [3]
    chars = Scan("char", (1, 3))
    counts = ScannedTexts(["a\x00\x00b"], chars).count_terms()
    assert counts.n_terms == 8  # three of one, three of two, two of three characters
