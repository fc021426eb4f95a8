"""What a document is and where documents come from.

Files and folders (``read_documents``, ``iter_documents``), the corpus that is on
every machine (``docstring_corpus``), the public benchmark corpora
(``load_corpus``, ``fetch_corpus``, ``load_term_matrix``), and splits as index
arrays.
"""

from earmark.documents.document import Documents
from earmark.documents.order import warn_if_sorted
from earmark.documents.readers import iter_documents, read_documents

__all__ = ["Documents", "iter_documents", "read_documents", "warn_if_sorted"]
