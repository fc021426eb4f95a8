"""What a document is and where documents come from.

Files and folders (``read_documents``, ``iter_documents``), the corpora that are on
every machine (``support_corpus``, ``docstring_corpus``), the public benchmark corpora
(``load_corpus``, ``fetch_corpus``), and splits as index arrays (``stratified_split``,
``labelled_per_class``).
"""

from earmark._optional import names_at_first_use

__getattr__, __dir__, __all__ = names_at_first_use(__name__)
