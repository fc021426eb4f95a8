"""From documents by region to numbers: blocks of columns, and the rows they make.

A fitted ``Columns`` turns documents into ``Rows``. Each of its blocks is made by one
counter: the words of a region; or words, pieces of words, phrases and vectors, the
views of one text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import (
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    get_args,
)

import numpy as np
from scipy import sparse
from sklearn.base import clone

from earmark.encoders.encoder import Encoder, load_encoder
from earmark.exceptions import DataError, NotSupportedError
from earmark.features.analysis import KnownTerms, known_terms
from earmark.features.preparation import TextPreparation
from earmark.features.scoring import LinearRule
from earmark.features.tokens import WORD_PATTERN, unspaced_share
from earmark.features.vectors import ENCODER, EncoderColumns
from earmark.features.weighting import WHOLE, TfidfWeighting
from earmark.features.word_counter import HashedCounter, WordCounter, terms_by_column
from earmark.inputs.regions import (
    ONE_REGION,
    RegionTexts,
    column_of,
    joined_regions,
    n_documents,
)
from earmark.kernels.rows import canonical_rows
from earmark.kernels.text import Documents
from earmark.parameters import default_parameters, offers
from earmark.stored import (
    either,
    function,
    in_file,
    instance,
    none,
    sequence,
    size,
    stored,
    such,
    words,
)
from earmark.typing import (
    BoolVector,
    FloatMatrix,
    FloatTable,
    IntVector,
    Kind,
    Labels,
    Matrix,
    SparseMatrix,
)

_VIEWS = such(
    "views of a document",
    lambda v: isinstance(v, tuple) and {*v} <= {*get_args(Kind)},
)
# Characters that are counted inside words.
_PIECES = (2, 5)
# Phrases are counted below this mean of counted words per document.
SHORT_TEXT = 50.0
# Words and pieces of words have at most so many weights together, and at least so many
# columns each.
_MOST_WEIGHTS, _LEAST_COLUMNS = 40_000_000, 10_000
# Words put before and after each text, so that phrases know where it begins.
_START, _END = "startoftext", "endoftext"
_MOST_PHRASES = 20_000
# From this share of letters on a text is one without spaces.
_UNSPACED = 0.5
BY_CHARACTERS = "text without spaces: characters and pairs of them are counted"


def fitting_features(features: Any, texts: Mapping[str, Iterable[str]]) -> Any:
    """``features``, or if they are left open the ones that the script asks for."""
    # In text without spaces whole phrases would be words.
    if features is not None or max(map(unspaced_share, texts.values())) < _UNSPACED:
        return features
    return {"analyzer": "char", "ngram_range": (1, 2)}


@stored
@dataclass(eq=False)
class Block:
    """Neighboring columns of one kind, made by one counter."""

    kind: Kind
    region: str | None
    """None: all regions of a document, joined."""
    counter: Annotated[
        Any,
        either(none, instance(WordCounter, HashedCounter, EncoderColumns), function),
    ]
    """A word counter, a user's vectorizer, the columns of an encoder, or known terms;
    None for a region without text, which has no column."""
    weighting: (
        Annotated[
            TfidfWeighting,
            instance(TfidfWeighting, fitted=True, n_features="n_columns"),
        ]
        | None
    )
    """Applied to the counts; None keeps counts."""
    width: Annotated[int, size("n_columns")]
    known: Annotated[Labels | None, none] = None
    """The terms, where they were given beforehand."""

    def counts(self, documents: Any) -> tuple[SparseMatrix, IntVector | None]:
        """Counts of the terms; the number of unknown terms, where somebody counts."""
        if self.counter is None:
            return _no_columns(len(documents)), None
        if self.kind == "phrase":
            documents = _marked(documents)
        whole = self.weighting is not None and self.weighting.norm == WHOLE
        if whole and isinstance(self.counter, WordCounter):
            counts, n_unknown = self.counter.counts(documents)
            return counts, n_unknown
        return self.counter.transform(documents), None

    def weighed(self, counts: SparseMatrix, n_unknown: IntVector | None) -> Matrix:
        """The columns that counts make."""
        if self.weighting is None:
            return counts
        return self.weighting.transform(counts, n_unknown)

    @property
    def terms(self) -> Labels | None:
        """The term of each column; None where nobody knows them."""
        if self.kind == "vector":
            return np.full(self.width, "", dtype=object)
        if isinstance(self.counter, HashedCounter):
            return None
        names: Any = (
            [] if self.counter is None else self.counter.get_feature_names_out()
        )
        return np.asarray(list(names), dtype=object)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report a block whose counter has another width or kind."""
        counter = self.counter
        if (self.kind == "vector") != isinstance(counter, EncoderColumns):
            yield ".counter makes columns of another kind"
        width = self.width
        if counter is None:
            width = 0
        elif isinstance(counter, EncoderColumns):
            width = counter.width
        elif isinstance(counter, HashedCounter):
            width = counter.n_features
        elif isinstance(counter, WordCounter):
            width = len(counter.vocabulary_)
        if width != self.width:
            yield ".width does not fit the counter"


@dataclass(frozen=True, eq=False)
class Rows:
    """Documents as numbers, one matrix for each block: counts sparse, vectors dense."""

    blocks: tuple[Matrix, ...]
    kinds: tuple[Kind, ...]
    ndim: ClassVar[int] = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of all blocks together."""
        return len(self), self.n_columns

    def __getitem__(self, rows: IntVector | slice) -> Rows:
        return Rows(tuple(block[rows] for block in self.blocks), self.kinds)

    def __len__(self) -> int:
        return int(self.blocks[0].shape[0])

    def of(self, kind: Kind) -> Matrix:
        """The block of a kind that there is once at most; None: there is none."""
        for block, own in zip(self.blocks, self.kinds, strict=True):
            if own == kind:
                return block
        return None

    @cached_property
    def matrix(self) -> SparseMatrix:
        """All counts side by side."""
        if "vector" in self.kinds:
            raise NotSupportedError("an encoder's vectors are not counts of terms.")
        return _side_by_side(list(self.blocks))

    @property
    def n_columns(self) -> int:
        """Width of all blocks together."""
        return sum(int(block.shape[1]) for block in self.blocks)

    def followed_by(self, other: Rows) -> Rows:
        """These documents, and then the other ones."""
        blocks = [
            sparse.csr_array(sparse.vstack([mine, theirs], format="csr"))
            if sparse.issparse(mine)
            else np.concatenate([mine, theirs])
            for mine, theirs in zip(self.blocks, other.blocks, strict=True)
        ]
        return Rows(tuple(blocks), self.kinds)


@stored
@dataclass(eq=False)
class Columns:
    """Fitted columns, block after block."""

    blocks: Annotated[list[Block], sequence(instance(Block), at_least=1)]
    regions: Annotated[list[str], words(unique=True, at_least=1)]
    """The regions of a document, in their order."""

    def rows(self, texts: RegionTexts) -> Rows:
        """The rows of documents; a region that is missing counts as empty."""
        matrices: list[Matrix] = []
        words: SparseMatrix = None  # counts of the first block
        joined = self._joined(texts)
        for block in self.blocks:
            documents = self._documents(block, texts, joined)
            if block.kind == "vector":
                matrices.append(block.counter.transform(documents, words))
                continue
            counted = block.counts(documents)
            words = counted[0] if words is None else words
            matrices.append(block.weighed(*counted))
        return Rows(tuple(matrices), tuple(block.kind for block in self.blocks))

    def scorer(self, rule: LinearRule) -> TextScorer | None:
        """What sums up linear scores while the text is read; None: nothing can."""
        # Rows that are scaled as a whole must not be made of several blocks.
        if rule.unit and len(self.blocks) > 1:
            return None
        pieces: list[_Piece] = []
        start = 0
        for block in self.blocks:
            weights = rule.weights[start : start + block.width]
            start += block.width
            if block.counter is None:
                continue
            if block.kind == "vector" and block.counter.table is None:
                pieces.append(_Piece(block.region, block.counter, weights, {}))
                continue
            options = _kernel_options(block, rule)
            if options is None:
                return None
            terms = known_terms(block.counter)
            pieces.append(_Piece(block.region, terms, weights, options))
        return TextScorer(rule, pieces, self.regions)

    def describe(self, column: int) -> tuple[str, str | None]:
        """Term and region of a column; the region is None when there is only one."""
        i = bisect_right(self._starts, column) - 1
        place, block = column - self._starts[i], self.blocks[i]
        terms = self._described[i]
        if terms is None:
            return f"column {place}", self._region(block)
        term = str(terms[place])
        if block.kind == "phrase":
            term = term.replace(_START, "[start]").replace(_END, "[end]")
        return term, self._region(block)

    def kinds_of(self, columns: IntVector) -> Labels:
        """The kind of each of some columns."""
        block = np.searchsorted(self._starts, columns, side="right") - 1
        return np.array([one.kind for one in self.blocks])[block]

    def texts(self, texts: RegionTexts) -> Documents:
        """One text per document, all regions joined."""
        return joined_regions(texts, self.regions)

    def hashed_terms(self, texts: RegionTexts) -> dict[int, tuple[str, str | None]]:
        """What ``describe`` cannot say of hashed columns: their terms in some texts."""
        return {
            start + column: (term, self._region(block))
            for start, block in zip(self._starts, self.blocks, strict=False)
            if isinstance(block.counter, HashedCounter)
            for column, term in terms_by_column(
                block.counter, self._documents(block, texts, self._joined(texts))
            ).items()
        }

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(block.width for block in self.blocks)

    @property
    def region_numbers(self) -> IntVector:
        """The number of each column's region."""
        numbers = [
            0 if block.region is None else self.regions.index(block.region)
            for block in self.blocks
        ]
        return np.repeat(numbers, [block.width for block in self.blocks])

    @property
    def encoder(self) -> EncoderColumns | None:
        """The columns of an encoder, where there are some."""
        last = self.blocks[-1]
        return last.counter if last.kind == "vector" else None

    @property
    def adds_up_words(self) -> bool:
        """Whether the vector of a document, if it has one, is made of its words."""
        vectors = self.encoder
        if vectors is None or vectors.table is not None:
            return True
        if not isinstance(vectors.encoder, str):
            return False
        return load_encoder(vectors.encoder).by_word("word") is not None

    @property
    def counter(self) -> Any:
        """A counter of the words."""
        return next((b.counter for b in self.blocks if b.counter is not None), None)

    def knows(self, texts: list[str]) -> BoolVector:
        """Whether each text has a word of the documents."""
        counts = sparse.csr_array(self.blocks[0].counter.transform(texts))
        return np.asarray(np.diff(counts.indptr) > 0)

    def words(self, texts: RegionTexts) -> SparseMatrix:
        """Counts of the words alone, the first block."""
        first = self.blocks[0]
        return first.counts(self._documents(first, texts, self._joined(texts)))[0]

    def terms_of(self, number: int) -> Labels | None:
        """The terms of a block, looked up once; None where nobody knows them."""
        return self._described[number]

    @cached_property
    def _described(self) -> list[Labels | None]:
        """The terms of each block, looked up once."""
        return [block.terms for block in self.blocks]

    @property
    def _starts(self) -> list[int]:
        """The first column of each block, and the number of columns."""
        widths = [block.width for block in self.blocks]
        starts: list[int] = np.concatenate(([0], np.cumsum(widths))).tolist()
        return starts

    def _region(self, block: Block) -> str | None:
        return None if self.regions == [ONE_REGION] else block.region

    def _joined(self, texts: RegionTexts) -> Any:
        """One text per document, if some block reads all regions."""
        if all(block.region is not None for block in self.blocks):
            return None
        return joined_regions(texts, self.regions)

    def _documents(self, block: Block, texts: RegionTexts, joined: Any) -> Any:
        """The texts that a block reads: of its region, or all regions joined."""
        return joined if block.region is None else column_of(texts, block.region)

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Report blocks that fit neither the regions nor the order of views."""
        regions = [block.region for block in self.blocks]
        if regions[0] is None:
            kinds = [block.kind for block in self.blocks]
            order = [kind for kind in get_args(Kind) if kind in kinds]
            fits = set(regions) == {None} and kinds == order and kinds[0] == "word"
        else:
            fits = regions == list(self.regions)
        if not fits:
            yield ".blocks do not fit the regions"
        if not self.width:
            yield " has no columns"


class _Piece(NamedTuple):
    """The part of linear scores that comes from one block of columns."""

    region: str | None
    terms: KnownTerms | EncoderColumns
    weights: FloatMatrix | FloatTable
    options: dict[str, Any]
    """The arguments of ``KnownTerms.score``."""


@dataclass(frozen=True, eq=False)
class TextScorer:
    """Linear scores of texts, block after block; made by ``Columns.scorer``."""

    rule: LinearRule
    pieces: list[_Piece]
    regions: list[str]

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """Class scores (n_documents, n_classes); a missing region counts as empty."""
        n_texts, rule = n_documents(texts), self.rule
        total = np.tile(rule.offset, (n_texts, 1))
        n_tokens = np.zeros(n_texts, dtype=np.int64)
        nothing = np.zeros(len(rule.offset))
        joined: Any = None
        for region, terms, weights, options in self.pieces:
            documents = joined if region is None else texts.get(region)
            if region is None and documents is None:
                documents = joined = joined_regions(texts, self.regions)
            if documents is None:
                continue
            if isinstance(terms, EncoderColumns):
                total += terms.transform(documents) @ weights
            else:
                part, known = terms.score(documents, weights, nothing, **options)
                total += part
                n_tokens += known
        if rule.empty is not None:
            total[n_tokens == 0] = rule.empty
        return total


# Variants of TfidfWeighting that the kernel computes while reading, by its names.
_TF = {
    "natural": "raw",
    "boolean": "binary",
    "sublinear": "sublinear",
    "logarithm": "logarithm",
}
_NORM = {None: None, "cosine": "l2", WHOLE: "l2", "share": "l1"}


def _kernel_options(block: Block, rule: LinearRule) -> dict[str, Any] | None:
    """Arguments of ``KnownTerms.score``, if it can do what block and rule ask for."""
    countable = isinstance(block.counter, WordCounter | KnownTerms)
    if block.kind not in ("word", "piece") or not countable:
        return None
    weighting = block.weighting
    options: dict[str, Any] = {"tf": "raw", "idf": None, "norm": None}
    if weighting is not None:
        if weighting.tf not in _TF or weighting.norm not in _NORM:
            return None
        options["tf"], options["norm"] = _TF[weighting.tf], _NORM[weighting.norm]
        if weighting.norm == WHOLE:
            options["unknown"] = weighting.unknown_
        if weighting.idf != "none":
            options["idf"] = weighting.idf_
        # A factor of zero makes a known term vanish from the row.
        vanishes = options["idf"] is not None and not (options["idf"] > 0).all()
        if rule.binary or (rule.empty is not None and vanishes):
            return None
    if rule.binary:
        options["tf"] = "binary"
    if rule.unit:
        options["norm"] = "l2"
    return options


# -- making columns ------------------------------------------------------------------


@dataclass(frozen=True)
class Counted:
    """Fitted counters and the counts of texts, region by region."""

    regions: list[str]
    counters: list[Any]
    counts: list[SparseMatrix]


@stored
@dataclass(frozen=True)
class ColumnsTemplate:
    """How documents become columns, before any document is seen."""

    counter: Annotated[Any, either(instance(WordCounter, HashedCounter), function)]
    """Unfitted; copied for each region."""
    weighting: (
        Annotated[TfidfWeighting, instance(TfidfWeighting, fitted=False)] | None
    ) = None
    """Unfitted; copied for each region and applied to its counts."""
    shared: bool = False
    """Give every region the terms of all of them, in the same order."""
    views: Annotated[tuple[Kind, ...], _VIEWS] = ()
    """Blocks of the joined regions: words, and what is there of pieces of words,
    phrases (for short texts) and vectors. None: a block of words for each region."""
    encoder: Annotated[Encoder | None, in_file(ENCODER)] = None
    """For the vectors: a name, or a function from texts to vectors."""
    max_columns: int | None = None
    """Of each view that is counted, the most frequent terms are taken."""

    def at_most(self, n_classes: int) -> ColumnsTemplate:
        """The same, with so many columns at most that the weights are not too many."""
        if "piece" not in self.views:
            return self
        n_machines = 1 if n_classes <= 2 else n_classes
        most = max(_LEAST_COLUMNS, _MOST_WEIGHTS // (2 * n_machines))
        return replace(self, max_columns=most)

    def fit(
        self, texts: RegionTexts, pool: RegionTexts | None = None
    ) -> tuple[Columns, Rows]:
        """Columns and rows of the texts, and after them of the pool, if it is given."""
        everything = texts
        if pool is not None and n_documents(pool):
            everything = {name: [*own, *pool[name]] for name, own in texts.items()}
        if self.views:
            return self._fit_views(everything, n_documents(texts))
        return self.weigh(self.count(everything))

    def count(self, texts: RegionTexts) -> Counted:
        """Learn the terms; a region without any text gets no column."""
        regions = list(texts)
        if self.shared:
            counter = clone(self.counter)
            counter.fit([text for column in texts.values() for text in column])
            counts = [counter.transform(column) for column in texts.values()]
            return Counted(regions, [counter] * len(counts), counts)
        counters, counts = [], []
        for column in texts.values():
            silent = len(regions) > 1 and not any(text.strip() for text in column)
            counter = None if silent else clone(self.counter)
            counters.append(counter)
            counts.append(
                _no_columns(len(column))
                if counter is None
                else counter.fit_transform(column)
            )
        return Counted(regions, counters, counts)

    def weigh(self, counted: Counted) -> tuple[Columns, Rows]:
        """Learn the weights of terms that are counted already."""
        blocks: list[Block] = []
        matrices: list[Matrix] = []
        parts = zip(counted.regions, counted.counters, counted.counts, strict=True)
        for region, counter, matrix in parts:
            weighting = None
            # A region without a term has nothing to weigh.
            if self.weighting is not None and matrix.shape[1]:
                rows = canonical_rows(matrix)  # once for both
                weighting = clone(self.weighting).fit(rows)
                matrix = weighting.transform(rows)
            width = int(matrix.shape[1])
            blocks.append(Block("word", region, counter, weighting, width))
            matrices.append(matrix)
        kinds = tuple(block.kind for block in blocks)
        return Columns(blocks, counted.regions), Rows(tuple(matrices), kinds)

    def hashed(self, regions: list[str]) -> Columns:
        """Columns that are known before any document is."""
        width = self.counter.n_features
        counters = [clone(self.counter) for _ in regions]
        blocks = [
            Block("word", region, counter, None, width)
            for region, counter in zip(regions, counters, strict=True)
        ]
        return Columns(blocks, regions)

    def _fit_views(self, texts: RegionTexts, n_labelled: int) -> tuple[Columns, Rows]:
        documents = joined_regions(texts, list(texts))
        blocks: list[Block] = []
        matrices: list[Matrix] = []

        def add(kind: Kind, counter: Any) -> SparseMatrix:
            """Learn a counter: its counts, which are weighed as a new block."""
            counts, n_unknown = _learned(counter, kind, documents)
            weighting = self.weighting
            if weighting is not None:
                counts = canonical_rows(counts)  # once for both
                weighting = clone(weighting).fit(counts)
            block = Block(kind, None, counter, weighting, int(counts.shape[1]))
            rows = block.weighed(counts, n_unknown)
            # Rows of pieces have many entries; single precision is enough to learn.
            matrices.append(rows if weighting is None else rows.astype(np.float32))
            blocks.append(block)
            return counts

        counter = clone(self.counter)
        if self.max_columns is not None and isinstance(counter, WordCounter):
            most = self.max_columns, counter.max_features or self.max_columns
            counter.set_params(max_features=min(most))
        words = add("word", counter)
        if "piece" in self.views and (pieces := _piece_counter(counter)) is not None:
            add("piece", pieces)
        if "phrase" in self.views:
            n_tokens = words.sum() / max(len(documents), 1)
            if (phrases := _phrase_counter(counter, n_tokens)) is not None:
                add("phrase", phrases)
        if "vector" in self.views and self.encoder is not None:
            encoder = EncoderColumns(self.encoder)
            vectors = encoder.fit_transform(list(documents), words, counter, n_labelled)
            if vectors is not None:
                matrices.append(vectors)
                blocks.append(Block("vector", None, encoder, None, encoder.width))
        kinds = tuple(block.kind for block in blocks)
        return Columns(blocks, list(texts)), Rows(tuple(matrices), kinds)


def _learned(
    counter: Any, kind: Kind, documents: Any
) -> tuple[SparseMatrix, IntVector | None]:
    """Counts of a new counter, and the number of terms that it leaves out."""
    if kind == "phrase":
        documents = _marked(documents)
    if not isinstance(counter, WordCounter):
        return counter.fit_transform(documents), None
    try:
        return counter.learned_counts(documents)
    except DataError:
        if counter.min_df == 1:
            raise
        # So few documents that they have no term in common.
        counter.set_params(min_df=1)
        return counter.learned_counts(documents)


def _piece_counter(counter: Any) -> WordCounter | None:
    """Pieces of words beside words, unless the user counts something else."""
    if not isinstance(counter, WordCounter) or counter.analyzer != "word":
        return None
    if counter.tokenizer is not None or counter.vocabulary is not None:
        return None
    pieces: WordCounter = clone(counter)
    plain = {"token_pattern": WORD_PATTERN, "stop_words": None, "max_df": 1.0}
    pieces.set_params(analyzer="char_wb", ngram_range=_PIECES, **plain)
    return pieces


def known_columns(
    counter: WordCounter,
    terms: Mapping[str, Labels],
    before: Columns | None = None,
) -> Columns:
    """Columns of counts whose terms are known, region by region.

    Blocks of ``before`` whose terms are the same object are taken again.
    """
    old = {} if before is None else {block.region: block for block in before.blocks}
    blocks = []
    for region, names in terms.items():
        block = old.get(region)
        if block is None or block.known is not names:
            known = KnownTerms(counter, list(names)) if len(names) else None
            block = Block("word", region, known, None, len(names), known=names)
        blocks.append(block)
    return Columns(blocks, list(terms))


def _phrase_counter(counter: Any, n_tokens: float) -> WordCounter | None:
    """A counter of phrases for short texts, unless the user says what to count."""
    plain = isinstance(counter, WordCounter) and counter.ngram_range == (1, 1)
    if n_tokens >= SHORT_TEXT or not plain or counter.analyzer != "word":
        return None
    phrases: WordCounter = clone(counter)
    phrases.set_params(ngram_range=(2, 2), min_df=2, max_features=_MOST_PHRASES)
    return phrases


def _marked(texts: Iterable[str]) -> list[str]:
    return [f"{_START} {text} {_END}" for text in texts]


def _no_columns(n_texts: int) -> SparseMatrix:
    return sparse.csr_array((n_texts, 0), dtype=np.int64)


def _side_by_side(parts: list[SparseMatrix]) -> SparseMatrix:
    return sparse.csr_array(
        parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")
    )


# -- what ``TextClassifier.features`` asks for ---------------------------------------


def make_counter(features: Any, n_jobs: int | None) -> Any:
    """The vectorizer that ``TextClassifier.features`` asks for, unfitted."""
    if features is None:
        return WordCounter(n_jobs=n_jobs)
    if isinstance(features, Mapping):
        options = {"n_jobs": n_jobs, **_prepared(dict(features))}
        known = default_parameters(WordCounter)
        for name in options.keys() - known.keys():
            raise TypeError(
                "TextClassifier.features must name parameters of WordCounter "
                f"({', '.join(known)}), stemmer or substitutions, got {name!r}."
            )
        return WordCounter(**options)
    if not offers(features, "fit_transform") or not offers(features, "transform"):
        raise TypeError(
            "TextClassifier.features must be None, a dict of WordCounter parameters "
            f"or a vectorizer with fit_transform and transform, got {features!r}."
        )
    return features


def _prepared(options: dict[str, Any]) -> dict[str, Any]:
    """WordCounter parameters; ``substitutions`` and ``stemmer`` become one step."""
    named = {name: options.pop(name, None) for name in ("substitutions", "stemmer")}
    if not any(named.values()):
        return options
    if options.get("preprocessor") is not None:
        raise ValueError(
            "TextClassifier.features must not have both a preprocessor and "
            "substitutions or a stemmer; put them into the preprocessor."
        )
    shared = ("stop_words", "lowercase", "strip_accents")
    common = {name: options[name] for name in shared if name in options}
    named["substitutions"] = named["substitutions"] or ()
    for done in ("lowercase", "strip_accents"):
        options.pop(done, None)
    step = TextPreparation(**named, **common)
    return {**options, "preprocessor": step, "lowercase": False}
