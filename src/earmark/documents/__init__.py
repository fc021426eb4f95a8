"""What a document is and where documents come from.

Files and folders (``read_documents``, ``iter_documents``), the corpora that are on
every machine (``support_corpus``, ``docstring_corpus``), the public benchmark corpora
(``load_corpus``, ``fetch_corpus``), and splits as index arrays (``stratified_split``,
``labelled_per_class``).
"""

from earmark.documents.corpora import fetch_corpus, load_corpus
from earmark.documents.docstrings import docstring_corpus
from earmark.documents.document import Documents
from earmark.documents.readers import iter_documents, read_documents
from earmark.documents.splits import labelled_per_class, stratified_split
from earmark.documents.support import support_corpus

__all__ = [
    "Documents",
    "docstring_corpus",
    "fetch_corpus",
    "iter_documents",
    "labelled_per_class",
    "load_corpus",
    "read_documents",
    "stratified_split",
    "support_corpus",
]
