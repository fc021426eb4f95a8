"""From documents by region to numbers: blocks of columns, and the rows they make.

A fitted ``Columns`` turns documents into ``Rows``. Each of its blocks is made by one
counter: the words of a region, the phrases of a text, or the vectors of an encoder.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone

from earmark.encoders.encoder import Encoder
from earmark.exceptions import NotSupportedError
from earmark.features.analysis import KnownTerms, known_terms
from earmark.features.preparation import TextPreparation
from earmark.features.scoring import LinearRule
from earmark.features.tokens import unspaced_share
from earmark.features.vectors import ENCODER, EncoderColumns
from earmark.features.weighting import TfidfWeighting
from earmark.features.word_counter import HashedCounter, WordCounter, terms_by_column
from earmark.inputs.regions import (
    ONE_REGION,
    RegionTexts,
    column_of,
    joined_texts,
    n_documents,
)
from earmark.kernels.rows import canonical_rows
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
    words,
)
from earmark.typing import (
    BoolVector,
    FloatMatrix,
    IntVector,
    Labels,
    Matrix,
    SparseMatrix,
)

Kind: TypeAlias = Literal["word", "phrase", "vector"]

# Below this mean of counted words per document texts are short.
SHORT_TEXT = 50.0
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

    def counts(self, documents: Any, words: SparseMatrix | None = None) -> Matrix:
        """The columns before they are weighted; ``words`` is for an encoder."""
        if self.counter is None:
            return _no_columns(len(documents))
        if self.kind == "vector":
            return self.counter.transform(documents, words)
        if self.kind == "phrase":
            documents = _marked(documents)
        return self.counter.transform(documents)

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
        """A block is as wide as its counter, which makes columns of its kind."""
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


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """What each column is."""

    region: IntVector
    """The number of its region, (n_columns,)."""
    term: Labels | None = None
    """Its term, (n_columns,); None where nobody knows the terms."""


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
        for block in self.blocks:
            words = matrices[0] if matrices else None
            counts = block.counts(self._documents(block, texts), words)
            weighting = block.weighting
            matrices.append(
                counts if weighting is None else weighting.transform(counts)
            )
        return Rows(tuple(matrices), tuple(block.kind for block in self.blocks))

    def scorer(self, rule: LinearRule) -> TextScorer | None:
        """What sums up linear scores while the text is read; None: nothing can."""
        # Rows that are scaled as a whole must not be made of several blocks.
        if rule.unit and len(self.blocks) > 1:
            return None
        pieces, start = [], 0
        for block in self.blocks:
            if block.counter is None:
                continue
            options = _kernel_options(block, rule)
            if options is None:
                return None
            assert block.region is not None
            weights = rule.weights[start : start + block.width]
            pieces.append((block.region, known_terms(block.counter), weights, options))
            start += block.width
        return TextScorer(rule, pieces)

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

    def hashed_terms(self, texts: RegionTexts) -> dict[int, tuple[str, str | None]]:
        """What ``describe`` cannot say of hashed columns: their terms in some texts."""
        return {
            start + column: (term, self._region(block))
            for start, block in zip(self._starts, self.blocks, strict=False)
            if isinstance(block.counter, HashedCounter)
            for column, term in terms_by_column(
                block.counter, self._documents(block, texts)
            ).items()
        }

    @property
    def width(self) -> int:
        """Number of columns."""
        return sum(block.width for block in self.blocks)

    @property
    def table(self) -> ColumnTable:
        """Region and term of every column."""
        numbers = [
            0 if block.region is None else self.regions.index(block.region)
            for block in self.blocks
        ]
        region = np.repeat(numbers, [block.width for block in self.blocks])
        terms = [some for some in self._described if some is not None]
        known = len(terms) == len(self.blocks)
        return ColumnTable(region, np.concatenate(terms) if known else None)

    @property
    def encoder(self) -> EncoderColumns | None:
        """The columns of an encoder, where there are some."""
        last = self.blocks[-1]
        return last.counter if last.kind == "vector" else None

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
        return self.blocks[0].counts(self._documents(self.blocks[0], texts))

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

    def _documents(self, block: Block, texts: RegionTexts) -> Any:
        if block.region is not None:
            return column_of(texts, block.region)
        return joined_texts({name: column_of(texts, name) for name in self.regions})

    def _faults(self, sizes: Mapping[str, int]) -> Iterator[str]:
        """Blocks of regions in their order, or words, phrases and vectors of all."""
        regions = [block.region for block in self.blocks]
        if regions[0] is None:
            kinds = [block.kind for block in self.blocks]
            order = [kind for kind in ("word", "phrase", "vector") if kind in kinds]
            fits = set(regions) == {None} and kinds == order and kinds[0] == "word"
        else:
            fits = regions == list(self.regions)
        if not fits:
            yield ".blocks do not fit the regions"
        if not self.width:
            yield " has no columns"


@dataclass(frozen=True, eq=False)
class TextScorer:
    """Linear scores of texts, region after region; made by ``Columns.scorer``."""

    rule: LinearRule
    pieces: list[tuple[str, KnownTerms, FloatMatrix, dict[str, Any]]]
    """Region, terms, their weights, and the arguments of ``KnownTerms.score``."""

    def scores(self, texts: RegionTexts) -> FloatMatrix:
        """Class scores (n_documents, n_classes); a missing region counts as empty."""
        n_texts, rule = n_documents(texts), self.rule
        total = np.tile(rule.offset, (n_texts, 1))
        n_tokens = np.zeros(n_texts, dtype=np.int64)
        nothing = np.zeros(len(rule.offset))
        for region, terms, weights, options in self.pieces:
            if region in texts:
                part, known = terms.score(texts[region], weights, nothing, **options)
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
_NORM = {None: None, "cosine": "l2", "share": "l1"}


def _kernel_options(block: Block, rule: LinearRule) -> dict[str, Any] | None:
    """Arguments of ``KnownTerms.score``, if it can do what block and rule ask for."""
    if block.kind != "word" or block.region is None:
        return None
    if not isinstance(block.counter, WordCounter | KnownTerms):
        return None
    weighting = block.weighting
    options: dict[str, Any] = {"tf": "raw", "idf": None, "norm": None}
    if weighting is not None:
        if weighting.tf not in _TF or weighting.norm not in _NORM:
            return None
        options["tf"], options["norm"] = _TF[weighting.tf], _NORM[weighting.norm]
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
    joined: bool = False
    """Regions are joined; phrases for short texts, and vectors, have their own block,
    and all that is learned is learned from the pool too."""
    encoder: Annotated[Encoder | None, in_file(ENCODER)] = None
    """For joined texts: a name, or a function from texts to vectors."""

    def fit(
        self, texts: RegionTexts, pool: RegionTexts | None = None
    ) -> tuple[Columns, Rows]:
        """Columns and rows of the texts, and after them of the pool, if it is given."""
        everything = texts
        if pool is not None and n_documents(pool):
            everything = {name: [*own, *pool[name]] for name, own in texts.items()}
        if self.joined:
            return self._fit_joined(everything, n_documents(texts))
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

    def _fit_joined(self, texts: RegionTexts, n_labelled: int) -> tuple[Columns, Rows]:
        documents = joined_texts(texts)
        counter = clone(self.counter)
        words = counter.fit_transform(documents)
        blocks = [Block("word", None, counter, None, int(words.shape[1]))]
        matrices: list[Matrix] = [words]
        phrases = _phrase_counter(counter, words.sum() / max(len(documents), 1))
        if phrases is not None:
            matrices.append(phrases.fit_transform(_marked(documents)))
            width = int(matrices[-1].shape[1])
            blocks.append(Block("phrase", None, phrases, None, width))
        if self.encoder is not None:
            encoder = EncoderColumns(self.encoder)
            matrices.append(
                encoder.fit_transform(documents, words, counter, n_labelled)
            )
            blocks.append(Block("vector", None, encoder, None, matrices[-1].shape[1]))
        every = tuple(block.kind for block in blocks)
        return Columns(blocks, list(texts)), Rows(tuple(matrices), every)


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
    """Phrases for short texts, unless the user says what to count."""
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
