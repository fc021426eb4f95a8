"""What a document is and where documents come from.

Files and folders (``read_documents``, ``iter_documents``), the corpora that are on
every machine (``support_corpus``, ``docstring_corpus``), the public benchmark corpora
(``load_corpus``, ``fetch_corpus``, ``load_term_matrix``), and splits as index
arrays (``official``, ``stratified_split``, ``nested_subsets``,
``labelled_per_class``).
"""

from earmark.documents.corpora import (
    corpus_names,
    fetch_corpus,
    load_corpus,
    load_term_matrix,
)
from earmark.documents.docstrings import docstring_corpus
from earmark.documents.document import Documents
from earmark.documents.labels import merged_labels, similar_labels
from earmark.documents.readers import iter_documents, read_documents
from earmark.documents.splits import (
    labelled_per_class,
    nested_subsets,
    official,
    stratified_split,
)
from earmark.documents.support import support_corpus

__all__ = [
    "Documents",
    "corpus_names",
    "docstring_corpus",
    "fetch_corpus",
    "iter_documents",
    "labelled_per_class",
    "load_corpus",
    "load_term_matrix",
    "merged_labels",
    "nested_subsets",
    "official",
    "read_documents",
    "similar_labels",
    "stratified_split",
    "support_corpus",
]
