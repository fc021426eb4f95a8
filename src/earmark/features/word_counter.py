"""Count the words of documents, exactly as scikit-learn counts them, faster.

``WordCounter`` learns a vocabulary; ``HashedCounter`` has so many columns, for streams.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array

from earmark.exceptions import DataError, EarmarkWarning, NotSupportedError, Try
from earmark.features.analysis import (
    NUMBER_TYPES,
    Analysis,
    AnalysisMixin,
    KnownTerms,
    count_matrix,
    sums_of_rows,
)
from earmark.features.tokens import WORD_PATTERN
from earmark.inputs.texts import as_texts
from earmark.kernels.text import Counts, CsrArrays, TokenLists
from earmark.parameters import AtLeastOne, Limits, estimator, require_number
from earmark.stored import (
    DERIVED,
    EXACT,
    OPTIONAL,
    in_file,
    integers,
    stored_state,
    type_among,
    vocabulary,
    whole,
    words,
)
from earmark.typing import BoolVector, DocumentsLike, IntVector, Labels, SparseMatrix

Seen: TypeAlias = tuple[list[str], IntVector, IntVector]
"""Terms, and in how many documents each occurs and how often."""


# A limit of this type is a number of documents; any other is a share of them.
_WHOLE = int | np.integer


def no_term_left(counter: object) -> DataError:
    """The error where the documents hold nothing that is counted."""
    nothing = "no term is left to learn from (empty vocabulary): "
    if not isinstance(counter, AnalysisMixin) or counter.analyzer != "word":
        return DataError(f"{nothing}the documents are empty.")
    word = "word (two letters or digits at least)"
    if counter.token_pattern != WORD_PATTERN:
        word = f"word that token_pattern={counter.token_pattern!r} matches"
    besides = "" if counter.stop_words is None else " besides stop words"
    advice = Try("", " reads every character", analyzer="char")
    return DataError(f"{nothing}no document holds a {word}{besides}", advice)


def check_pruning(counter: WordCounter) -> None:
    """Check min_df and max_df of a counter."""
    for name in ("max_df", "min_df"):
        whole = isinstance(getattr(counter, name), _WHOLE)
        limits = Limits(1, hint="a share is a float: 1.0")
        if not whole:
            limits = Limits(0.0, 1.0)
        require_number(counter, name, limits, whole=whole)


def prunes(counter: WordCounter) -> bool:
    """Whether any term can be left out for its frequency."""
    return not (
        counter.max_features is None
        and not isinstance(counter.max_df, _WHOLE)
        and counter.max_df == 1.0
        and isinstance(counter.min_df, _WHOLE)
        and counter.min_df == 1
    )


def term_mask(
    counter: WordCounter,
    n_documents: int,
    documents: IntVector,
    totals: Any,
    *,
    may_be_empty: bool = False,
) -> BoolVector:
    """Terms to keep, given their document counts and column sums, sorted by term.

    ``max_features`` breaks ties as scikit-learn does: by the same argsort of the
    same numbers in the same order.
    """
    high, low = counter.max_df, counter.min_df
    high = high if isinstance(high, _WHOLE) else high * n_documents
    low = low if isinstance(low, _WHOLE) else low * n_documents
    if high < low and not may_be_empty:
        raise ValueError(
            f"{type(counter).__name__}.max_df must allow at least as many documents as "
            f"min_df, got max_df={counter.max_df!r} ({high:g} documents) and "
            f"min_df={counter.min_df!r} ({low:g})."
        )
    mask: BoolVector = (documents <= float(high)) & (documents >= float(low))
    limit = counter.max_features
    if limit is not None and mask.sum() > limit:
        largest = (-totals[mask]).argsort()[:limit]
        columns = np.flatnonzero(mask)[largest]
        mask = np.zeros(len(mask), dtype=bool)
        mask[columns] = True
    if not mask.any() and not may_be_empty:
        raise DataError(
            "After pruning, no terms remain. Try a lower min_df or a higher max_df."
        )
    return mask


def merge_seen(*tables: tuple[Any, ...]) -> Seen:
    """Add tables of (terms, document counts, token counts); terms come out sorted."""
    merged = sorted({term for terms, *_ in tables for term in terms})
    place = {term: k for k, term in enumerate(merged)}
    sums = np.zeros((2, len(merged)), dtype=np.int64)
    for terms, *counts in tables:
        at = np.array([place[term] for term in terms], dtype=np.intp)
        sums[:, at] += np.array(counts, dtype=np.int64).reshape(2, len(terms))
    return merged, sums[0], sums[1]


def checked_vocabulary(counter: WordCounter) -> dict[str, int]:
    """``counter.vocabulary`` as a dictionary whose columns are 0 .. n - 1."""
    wanted = counter.vocabulary
    assert wanted is not None
    if isinstance(wanted, str):
        raise DataError(
            f"{type(counter).__name__}.vocabulary must be a list or mapping of terms, "
            f"got the single string {wanted!r}."
        )
    if isinstance(wanted, Mapping):
        vocabulary = dict(wanted)
        columns = set(vocabulary.values())
        if len(columns) != len(vocabulary):
            raise DataError("Vocabulary contains repeated indices.")
        missing = set(range(len(vocabulary))) - columns
        if missing:
            raise DataError(
                f"Vocabulary of size {len(vocabulary)} doesn't contain index "
                f"{min(missing)}."
            )
    else:
        terms = sorted(wanted) if isinstance(wanted, set | frozenset) else list(wanted)
        vocabulary = dict(zip(terms, range(len(terms)), strict=True))
        if len(vocabulary) != len(terms):
            twice = next(t for k, t in enumerate(terms) if vocabulary[t] != k)
            raise DataError(f"Duplicate term in vocabulary: {twice!r}")
    if not vocabulary:
        raise DataError("empty vocabulary passed to fit")
    own_terms = callable(counter.analyzer) or counter.tokenizer is not None
    if not own_terms and not set(map(type, vocabulary)) <= {str}:
        raise DataError("Vocabulary terms must be str.")
    return vocabulary


def warn_of_upper_case(counter: WordCounter) -> None:
    """Warn when lower-casing keeps some given terms from ever matching."""
    if not counter.lowercase:
        return
    terms: Iterable[Any] = counter.vocabulary_
    if not set(map(type, terms)) <= {str}:
        terms = [term for term in terms if isinstance(term, str)]
    if any(map(str.isupper, set("".join(terms)))):
        warnings.warn(
            "Upper case characters found in vocabulary while 'lowercase' is True: "
            "these entries will not be matched with any documents.",
            EarmarkWarning,
            stacklevel=4,
        )


# What partial_fit keeps of the terms that pruning leaves out.
_SEEN = ("n_documents_", "seen_terms_", "seen_document_count_", "seen_token_count_")


@estimator
class WordCounter(AnalysisMixin):
    r"""Turn documents into a sparse matrix of term counts.

    Parameters and results are those of scikit-learn's ``CountVectorizer``, bit
    for bit: the vocabulary, the order of entries in a row, the types. The usual
    settings run in compiled code, many times faster, on ``n_jobs`` threads; a
    callable ``analyzer``, ``tokenizer``, ``preprocessor`` or ``strip_accents`` or
    an unusual ``token_pattern`` takes the plain path with the same answer.

    Two things are stricter: a document that is not a ``str`` is an error that
    names its row, and so is a generator that was already used up.

    Parameters
    ----------
    input : {"content", "filename", "file"}, default="content"
        Whether documents are texts, paths of files, or open files.
    encoding : str, default="utf-8"
        Of the bytes read from files.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do with bytes that are not in that encoding.
    strip_accents : {"ascii", "unicode"} or callable, default=None
        Remove accents after lower-casing.
    lowercase : bool, default=True
        Convert to lower case first.
    preprocessor, tokenizer : callable, default=None
        Replace the step before, or the step of, finding words.
    stop_words : "english" or list of str, default=None
        Words to leave out before n-grams are made.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        What a word is.
    ngram_range : (int, int), default=(1, 1)
        Least and most number of words (or characters) of a term.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        What terms are made of.
    max_df, min_df : float in [0, 1] or int, default=1.0 and 1
        Leave out terms in more, or in fewer, documents: a share or a number.
    max_features : int, default=None
        Keep only so many terms, the most frequent.
    vocabulary : mapping or iterable, default=None
        The terms and their columns, fixed beforehand.
    binary : bool, default=False
        Write 1 for every count above 0.
    dtype : type, default=np.int64
        Of the matrix.
    n_jobs : int, default=None
        Threads; None means 1, -1 all processors. The result does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each term.
    fixed_vocabulary_ : bool
        Whether the vocabulary was given.

    Examples
    --------
    >>> counter = WordCounter()
    >>> counter.fit_transform(["to be or not", "to be"]).toarray()
    array([[1, 1, 1, 1],
           [1, 0, 0, 1]])
    >>> counter.get_feature_names_out()
    array(['be', 'not', 'or', 'to'], dtype=object)

    """

    fixed_vocabulary_: bool = field(init=False)
    vocabulary_: Annotated[dict[str, int], vocabulary("n_terms")] = field(init=False)
    n_documents_: Annotated[int, whole(), OPTIONAL] = field(init=False)
    seen_terms_: Annotated[Sequence[str], words("n_seen"), OPTIONAL] = field(init=False)
    seen_document_count_: Annotated[
        IntVector, integers("n_seen", high=EXACT), OPTIONAL
    ] = field(init=False)
    seen_token_count_: Annotated[
        IntVector, integers("n_seen", high=EXACT), OPTIONAL
    ] = field(init=False)
    _table: Annotated[Any, DERIVED] = None

    max_df: float | int = 1.0
    min_df: float | int = 1
    max_features: AtLeastOne | None = None
    vocabulary: Mapping[str, int] | Iterable[str] | None = None
    binary: bool = False
    dtype: Annotated[type, in_file(type_among(float, int, *NUMBER_TYPES))] = np.int64

    def fit(self, raw_documents: DocumentsLike, y: object = None) -> Self:
        """Learn the vocabulary of the documents."""
        self._start()
        if not self.fixed_vocabulary_:
            self._learn(self._count(raw_documents))
        elif self.input == "content" and not callable(self.analyzer):
            as_texts(raw_documents)
        return self

    def fit_transform(
        self, raw_documents: DocumentsLike, y: object = None
    ) -> SparseMatrix:
        """Learn the vocabulary and return the counts (n_documents, n_terms)."""
        self._start()
        if self.fixed_vocabulary_:
            return self.transform(raw_documents)
        counts = self._count(raw_documents)
        return self._matrix(counts.matrix(self._learn(counts)))

    def learned_counts(
        self, raw_documents: DocumentsLike
    ) -> tuple[SparseMatrix, IntVector]:
        """As ``fit_transform``, and how many terms of each document are left out."""
        self._start()
        if self.fixed_vocabulary_:
            return self.counts(raw_documents)
        counts = self._count(raw_documents)
        columns = self._learn(counts)
        totals = counts.totals()
        arrays = counts.matrix(columns)
        n_unknown = totals - sums_of_rows(arrays)
        return self._matrix(arrays), n_unknown

    def transform(self, raw_documents: DocumentsLike) -> SparseMatrix:
        """Counts of the known terms (n_documents, n_terms)."""
        self._check_vocabulary()
        return self._known_terms().transform(raw_documents)

    def counts(self, raw_documents: DocumentsLike) -> tuple[SparseMatrix, IntVector]:
        """As ``transform``, and how many terms of each document are not known."""
        self._check_vocabulary()
        return self._known_terms().count(raw_documents)

    def partial_fit(self, raw_documents: DocumentsLike, y: object = None) -> Self:
        """Add the terms of more documents; columns are sorted anew.

        After any number of calls the vocabulary is that of one ``fit`` on all the
        documents together, pruning included; it may be empty at first.
        """
        if not hasattr(self, "vocabulary_"):
            self._start()
        if self.fixed_vocabulary_:
            return self
        continues = hasattr(self, "seen_terms_")
        if prunes(self) and hasattr(self, "vocabulary_") and not continues:
            raise NotSupportedError(
                "WordCounter.partial_fit cannot follow fit when min_df, max_df or "
                "max_features leave terms out, since their counts are gone; "
                "use partial_fit from the first documents on."
            )
        counts = self._count(raw_documents)
        terms = counts.terms(np.ones(counts.n_terms, dtype=bool))
        if prunes(self):
            self._add_seen(terms, counts)
            return self
        known = sorted({*getattr(self, "vocabulary_", ()), *terms})
        self.vocabulary_ = dict(zip(known, range(len(known)), strict=True))
        return self

    def inverse_transform(self, X: Any) -> list[Labels]:
        """The terms with a non-zero count, document by document."""
        self._check_vocabulary()
        X = sparse.csr_array(check_array(X, accept_sparse="csr"))
        names = np.array(self._names())
        rows = (X[[row]].nonzero()[-1] for row in range(X.shape[0]))
        return [names[columns].ravel() for columns in rows]

    def get_feature_names_out(self, input_features: object = None) -> Labels:
        """The terms in the order of the columns."""
        self._check_vocabulary()
        return np.asarray(self._names(), dtype=object)

    def fit_frequencies(
        self,
        terms: Sequence[str],
        documents: IntVector,
        total: IntVector,
        n_documents: int,
    ) -> IntVector:
        """Learn the vocabulary from counts made elsewhere -> places of its terms.

        ``terms`` are sorted, ``documents`` and ``total`` say in how many documents
        each occurs and how often.
        """
        self._start()
        return self._learn_frequencies((list(terms), documents, total), n_documents)

    def _start(self) -> None:
        """Check the parameters and forget what was learned."""
        Analysis(self).check()
        check_pruning(self)
        self.fixed_vocabulary_ = self.vocabulary is not None
        if self.fixed_vocabulary_:
            self.vocabulary_ = checked_vocabulary(self)
            warn_of_upper_case(self)
            return
        for name in ("vocabulary_", *_SEEN):
            if hasattr(self, name):
                delattr(self, name)

    def _count(self, raw_documents: DocumentsLike) -> Counts:
        """Count all terms, by the kernel where it knows the parameters."""
        analysis = Analysis(self)
        source = analysis.source(raw_documents)
        counts = source.count_terms()
        if self.analyzer == "word" and analysis.is_named():
            analysis.warn_of_unspaced(source.documents)
        return counts

    def _add_seen(self, terms: list[str], counts: Counts) -> None:
        """Add to the counts of all terms seen so far, and prune anew."""
        n_documents = getattr(self, "n_documents_", 0) + counts.n_rows
        seen = merge_seen(
            tuple(getattr(self, name, ()) for name in _SEEN[1:]),
            (terms, *counts.frequencies()),
        )
        self._learn_frequencies(seen, n_documents, may_be_empty=True)
        self.n_documents_ = n_documents
        self.seen_terms_, self.seen_document_count_, self.seen_token_count_ = seen

    def _learn_frequencies(
        self, seen: Seen, n_documents: int, *, may_be_empty: bool = False
    ) -> IntVector:
        """Set the vocabulary from counts of sorted terms -> places of those kept."""
        terms, documents, total = seen
        places = np.arange(len(terms))
        if prunes(self):
            totals: Any = documents if self.binary else total
            if np.issubdtype(self.dtype, np.floating):
                totals = totals.astype(self.dtype)
            mask = term_mask(
                self, n_documents, documents, totals, may_be_empty=may_be_empty
            )
            places = np.flatnonzero(mask)
        if not len(places) and not may_be_empty:
            raise no_term_left(self)
        names = [terms[k] for k in places.tolist()]
        self.vocabulary_ = dict(zip(names, range(len(names)), strict=True))
        return places

    def _learn(self, counts: Counts) -> NDArray[np.int32]:
        """Set the vocabulary -> column of each counted term, -1 where left out."""
        if counts.n_terms == 0:
            raise no_term_left(self)
        order = counts.order()
        mask = np.ones(counts.n_terms, dtype=bool)  # in the order of the sorted terms
        if prunes(self):
            documents, occurrences = (f[order] for f in counts.frequencies())
            totals = self._totals(counts, order, documents, occurrences)
            mask = term_mask(self, counts.n_rows, documents, totals)
        columns = np.full(counts.n_terms, -1, dtype=np.int32)
        columns[order[mask]] = np.arange(mask.sum(), dtype=np.int32)
        self.vocabulary_ = counts.vocabulary(columns)
        return columns

    def _totals(
        self, counts: Counts, order: IntVector, documents: IntVector, total: IntVector
    ) -> Any:
        """The column sums by which ``max_features`` ranks terms, in ``dtype``."""
        if np.dtype(self.dtype) == np.int64:
            return documents if self.binary else total
        columns = np.empty(counts.n_terms, dtype=np.int32)
        columns[order] = np.arange(counts.n_terms, dtype=np.int32)
        every = self._matrix(counts.matrix(columns, last=False), counts.n_terms)
        return np.asarray(every.sum(axis=0)).ravel()

    def _matrix(self, arrays: CsrArrays, n_terms: int | None = None) -> SparseMatrix:
        n_terms = len(self.vocabulary_) if n_terms is None else n_terms
        return count_matrix(arrays, n_terms, self.binary, self.dtype)

    def _check_vocabulary(self) -> None:
        if not hasattr(self, "vocabulary_"):
            if self.vocabulary is None:
                raise NotFittedError(
                    f"{type(self).__name__} is not fitted: vocabulary not fitted or "
                    "provided; call fit first."
                )
            self._start()
        if not self.vocabulary_:
            raise DataError(
                "Vocabulary is empty: min_df, max_df and max_features leave no term of "
                "the documents seen so far; give more documents to partial_fit."
            )

    def _names(self) -> list[str]:
        names = list(self.vocabulary_)
        columns = np.fromiter(self.vocabulary_.values(), dtype=np.intp)
        return [names[k] for k in np.argsort(columns).tolist()]

    def _known_terms(self) -> KnownTerms:
        """The vocabulary, ready for look-up; kept until it changes."""
        vocabulary, known = self._table or (None, None)
        if vocabulary is not self.vocabulary_ or not isinstance(known, KnownTerms):
            known = KnownTerms(self, self._names())
            self._table = (self.vocabulary_, known)
        return known.read_again()

    def __getstate__(self) -> dict[str, Any]:
        state = stored_state(self)
        # Terms by column: documents in another order, or in parts, give the same file.
        if "vocabulary_" in state:
            state["vocabulary_"] = dict(
                zip(self._names(), range(len(self.vocabulary_)), strict=True)
            )
        return state


@estimator
class HashedCounter(AnalysisMixin):
    r"""Turn documents into counts of hashed terms; nothing to fit, nothing to store.

    Parameters and results are those of scikit-learn's ``HashingVectorizer``; the
    usual settings run in compiled code on ``n_jobs`` threads. Different terms may
    share a column, and columns cannot be turned back into terms without documents
    that hold them.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor
        As in ``WordCounter``.
    tokenizer, stop_words, token_pattern, ngram_range, analyzer
        As in ``WordCounter``.
    n_features : int, default=2**20
        Number of columns.
    binary : bool, default=False
        Write 1 for every count.
    norm : {"l1", "l2"} or None, default="l2"
        Length to which each row is scaled.
    alternate_sign : bool, default=True
        Let the hash decide the sign of a count, so that collisions cancel on
        average instead of adding up.
    dtype : type, default=np.float64
        Of the matrix.
    n_jobs : int, default=None
        Threads; None means 1, -1 all processors. The result does not depend on it.

    Examples
    --------
    >>> HashedCounter(n_features=4, norm=None).transform(["to be or not to be"]).nnz
    3

    """

    n_features: Annotated[int, Limits(1, 2**31 - 1), in_file(whole(1, 2**24))] = 2**20
    binary: bool = False
    norm: Literal["l1", "l2"] | None = "l2"
    alternate_sign: bool = True
    dtype: Annotated[type, in_file(type_among(float, int, *NUMBER_TYPES))] = np.float64

    def fit(self, X: DocumentsLike = None, y: object = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        Analysis(self).check()
        return self

    def partial_fit(self, X: DocumentsLike = None, y: object = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        return self.fit(X, y)

    def transform(self, X: DocumentsLike) -> SparseMatrix:
        """Counts by hashed column (n_documents, n_features)."""
        Analysis(self).check()
        source = Analysis(self).source(X)
        arrays = source.count_hashed(self.n_features, self.alternate_sign)
        if len(arrays[0]) == 1:
            raise DataError(f"{type(self).__name__}: no documents to count; give some.")
        counts = count_matrix(arrays, self.n_features, self.binary, self.dtype)
        if self.norm is None:
            return counts
        from sklearn.preprocessing import normalize

        return normalize(counts, norm=self.norm, copy=False)

    def fit_transform(self, X: DocumentsLike, y: object = None) -> SparseMatrix:
        """The same as ``transform``."""
        return self.transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def terms_by_column(counter: HashedCounter, X: DocumentsLike) -> dict[int, str]:
    """The terms of some documents by their column; " | " between several."""
    analysis = Analysis(counter)
    rows = TokenLists(analysis.read(X), analysis.analyzer())
    terms = sorted({term for row in rows for term in row})
    alone = TokenLists(terms, lambda term: [term])
    _, columns, _ = alone.count_hashed(counter.n_features, False)
    names: dict[int, str] = {}
    for term, column in zip(terms, columns.tolist(), strict=True):
        names[column] = f"{names[column]} | {term}" if column in names else term
    return names
