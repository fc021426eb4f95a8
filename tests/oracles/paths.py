"""Higher-order paths by enumeration: slow and obvious."""

from itertools import permutations

import numpy as np


def enumerate_paths(B, order, corpus=None):
    """Paths per term and in total; with a corpus, only those with pure ends.

    A path alternates order + 1 different terms with order different documents,
    neighbors joined by presence; read from either end it is the same path.
    """
    B = np.asarray(B) > 0
    n_documents, n_terms = B.shape
    per_term, total = np.zeros(n_terms, dtype=np.int64), 0
    for terms in permutations(range(n_terms), order + 1):
        if terms[0] > terms[-1]:  # the same path, read backwards
            continue
        if corpus is not None and _share_a_document(corpus, terms[0], terms[-1]):
            continue
        for documents in permutations(range(n_documents), order):
            if all(
                B[d, terms[p]] and B[d, terms[p + 1]] for p, d in enumerate(documents)
            ):
                total += 1
                per_term[list(terms)] += 1
    return per_term, total


def _share_a_document(corpus, i, j):
    corpus = np.asarray(corpus) > 0
    return bool(np.any(corpus[:, i] & corpus[:, j]))
