"""The public benchmark corpora: files, checksums, origin. Data, no logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CORPORA", "SHA256", "Corpus"]


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

SHA256: dict[str, str] = {
    "20newsgroups_bydate_test.parquet": (
        "f2d84b8df353e9888f6ff5020737710464fafdc0eb5083f0c3f0e911e313673b"
    ),
    "20newsgroups_bydate_train.parquet": (
        "6072b5d445e1afbc29d15d47c5545506b15001c21e37301f2c0b993e9c42b4f7"
    ),
    "20newsgroups_original19997.parquet": (
        "27f0403ec4520094efe3d109854114cf92fdbdffb3a336abbc2588452c330a5f"
    ),
    "ag_news_test.parquet": (
        "c984db9a92135477a56c2a9464afd5e82000cb62a46839cf59421956ab3e6afd"
    ),
    "citeseer.cites.gz": (
        "4d25f20ac9cef83d5e356492baabd1a8846ef21a01d0f9970c2ccd7839c90e9f"
    ),
    "citeseer.content.gz": (
        "adbaf1e6545ffcebbc4ee308991440a872ed66260a94fc74e4a9357bbadcebd5"
    ),
    "citeseer.parquet": (
        "a36997ea654d4d6c83e7271e4031575649e6b64df9931bb92c939caa6c43ff94"
    ),
    "cora.cites.gz": (
        "0f788a952ff05229cc2e788f5efbe9a6c6f067b2b109052caff75a9ea9d8a16b"
    ),
    "cora.content.gz": (
        "51e2c536095a71deb7ef409741df6221875029ab3484a4f2b18b4ab5023721bd"
    ),
    "cora.parquet": (
        "e19e63cc526a4b89ed0c42c70592d2ec7e7514be6aebe1f7b3e1789f202c43dc"
    ),
    "imdb_test.parquet": (
        "fd7233d6ecf715543a19ce42c6a9cbcb99ca7ddf6b3e2d7c46ac5dc265a740d7"
    ),
    "imdb_train.parquet": (
        "d5fb9b2c76e48bbfa9d7f17aab4b1b908e9feccf1273f7654b78b7eead18ba4b"
    ),
    "r52_stemmed_test.parquet": (
        "c9a877a419394c6e063ef06819d194c70dc8737a8365f55ec073b5edc785264f"
    ),
    "r52_stemmed_train.parquet": (
        "16603db84818494710939cb45aea0feb64908c30341074384384d6c64b2968af"
    ),
    "r52_test.parquet": (
        "47a61d3a24d4fae0b2650077bb6082b813b3d99668c7c58e8f2ca730dd71c55e"
    ),
    "r52_train.parquet": (
        "95dc7822b6c21aa9175845cd81af030f84f92b227c5065aa1fcff7f5cc1fe5c3"
    ),
    "r8_stemmed_test.parquet": (
        "94ae8f717cc1721d66d86ccce1820a09a346ece8f337b07f77bc0a02326ebaf9"
    ),
    "r8_stemmed_train.parquet": (
        "b0ba1c9c5f3e83977d01bc04b2612de465cdd14c73a8cce1be4a2b9a4dc78b4b"
    ),
    "r8_test.parquet": (
        "08e1f3e65c1c1a4ddf06b759d61c2386dc0519e6caf197ae4106afafe55b04ce"
    ),
    "r8_train.parquet": (
        "35627a38e72bb81b1812cb23a09a4c67feff58605028c3f7c3dcfc2f7544ccf9"
    ),
    "reuters21578_modapte_test.parquet": (
        "647960cb1f4bcff3b3c7108b28d43661942b20bf17b34c5419f1afd832772f11"
    ),
    "reuters21578_modapte_train.parquet": (
        "26bdda080af6fa50ed6b4d0183854dc22b00a5249b5f446d4904a70f6aff9316"
    ),
    "sms_spam.parquet": (
        "67aa7bfe02d636a5b794e510c0eb034c33d0d5e75a17d1ec0bdd0df77a90721c"
    ),
    "trec_test.parquet": (
        "f72fcc4938efc46ab6fdf5ea3579b415bfef8b17e20666739265251de32c6277"
    ),
    "trec_train.parquet": (
        "232490e9627e643f57bf915f4718b3b84f76939616627808d0fa1bc3d7d8298e"
    ),
    "webkb_test.parquet": (
        "f2d49148493ca13d02e172ecc99fdb46b6e5ba389f77d888c2eae90630cce3bd"
    ),
    "webkb_train.parquet": (
        "f6b5926c76dfe46c688ae347eb22b3d9a12a11a3753ccacee77e61a6ffd3e402"
    ),
}
