"""The public benchmark corpora: files, checksums, origin. Data, no logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources


@dataclass(frozen=True)
class Corpus:
    """One corpus: a file for each part, and how its columns are to be used.

    ``parts`` maps "train" and "test" to files where there is an official split,
    and "all" to the file where there is none. ``texts`` are the columns that make
    the text, joined by line breaks. ``n_terms`` is set for the corpora that have a
    document-term matrix instead of text.
    """

    title: str
    parts: Mapping[str, str]
    citation: str
    home: str
    texts: tuple[str, ...] = ("text",)
    n_terms: int | None = None
    extra_files: tuple[str, ...] = field(default=())

    @property
    def files(self) -> tuple[str, ...]:
        """Every file of the corpus."""
        return (*self.parts.values(), *self.extra_files)


def _train_test(stem: str) -> dict[str, str]:
    """The two files of an official split."""
    return {part: f"{stem}_{part}.parquet" for part in ("train", "test")}


_CACHOPO = "A. Cardoso-Cachopo, PhD thesis, IST Lisbon, 2007"
_CACHOPO_HOME = "https://ana.cachopo.org/datasets-for-single-label-text-categorization"
_LANG = "K. Lang, NewsWeeder: Learning to filter netnews, ICML 1995"
_LANG_HOME = "http://qwone.com/~jason/20Newsgroups/"
_SEN = "P. Sen et al., Collective classification in network data, AI Magazine, 2008"
_SEN_HOME = "https://linqs.org/datasets/"

CORPORA: dict[str, Corpus] = {
    "20newsgroups": Corpus(
        "20 Newsgroups, split by date",
        _train_test("20newsgroups_bydate"),
        _LANG,
        _LANG_HOME,
    ),
    "20newsgroups-original": Corpus(
        "20 Newsgroups, original 19,997 messages",
        {"all": "20newsgroups_original19997.parquet"},
        _LANG,
        _LANG_HOME,
        # The full headers inside the column "text" name the class.
        texts=("subject", "body"),
    ),
    "ag-news": Corpus(
        "AG News, test part only",
        {"test": "ag_news_test.parquet"},
        "X. Zhang, J. Zhao, Y. LeCun, Character-level convolutional networks, 2015",
        "http://groups.di.unipi.it/~gulli/AG_corpus_of_news_articles.html",
    ),
    "citeseer": Corpus(
        "Citeseer publications, binary terms",
        {"all": "citeseer.parquet"},
        _SEN,
        _SEN_HOME,
        texts=(),
        n_terms=3703,
        extra_files=("citeseer.content.gz", "citeseer.cites.gz"),
    ),
    "cora": Corpus(
        "Cora publications, binary terms",
        {"all": "cora.parquet"},
        _SEN,
        _SEN_HOME,
        texts=(),
        n_terms=1433,
        extra_files=("cora.content.gz", "cora.cites.gz"),
    ),
    "imdb": Corpus(
        "IMDB Large Movie Review",
        _train_test("imdb"),
        "A. Maas et al., Learning word vectors for sentiment analysis, ACL 2011",
        "https://ai.stanford.edu/~amaas/data/sentiment/",
    ),
    "r8": Corpus("Reuters R8", _train_test("r8"), _CACHOPO, _CACHOPO_HOME),
    "r8-stemmed": Corpus(
        "Reuters R8, stemmed", _train_test("r8_stemmed"), _CACHOPO, _CACHOPO_HOME
    ),
    "r52": Corpus("Reuters R52", _train_test("r52"), _CACHOPO, _CACHOPO_HOME),
    "r52-stemmed": Corpus(
        "Reuters R52, stemmed", _train_test("r52_stemmed"), _CACHOPO, _CACHOPO_HOME
    ),
    "reuters21578": Corpus(
        "Reuters-21578, ModApte split, several labels a story",
        _train_test("reuters21578_modapte"),
        "D. D. Lewis, Reuters-21578 text categorization test collection, 1997",
        "http://www.daviddlewis.com/resources/testcollections/reuters21578/",
    ),
    "sms": Corpus(
        "SMS Spam Collection",
        {"all": "sms_spam.parquet"},
        "T. A. Almeida et al., Contributions to the study of SMS spam filtering, 2011",
        "https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
    ),
    "trec": Corpus(
        "TREC questions",
        _train_test("trec"),
        "X. Li and D. Roth, Learning question classifiers, COLING 2002",
        "https://cogcomp.seas.upenn.edu/Data/QA/QC/",
    ),
    "webkb": Corpus(
        "WebKB, four classes, stemmed", _train_test("webkb"), _CACHOPO, _CACHOPO_HOME
    ),
}

# As sha256sum writes and checks them.
_SUMS = resources.files("earmark.documents") / "corpora.sha256"
SHA256: dict[str, str] = {
    file: digest
    for digest, file in map(str.split, _SUMS.read_text("ascii").splitlines())
}
