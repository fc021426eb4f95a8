"""One EM loop for naive Bayes with labelled and unlabelled documents (SS1, SS2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earmark.kernels.logspace import log_normalize
from earmark.kernels.rows import class_sums, row_lengths
from earmark.typing import FloatMatrix, FloatVector, IntVector, SparseMatrix

__all__ = ["EMResult", "m_step", "naive_bayes_em", "tempering"]


class EMResult(NamedTuple):
    """What the loop found."""

    posterior: FloatMatrix
    """P(class | document) of each unlabelled document."""
    feature_log_prob: FloatMatrix
    """log P(term | class), (n_terms, n_classes), from the last M-step."""
    class_log_prior: FloatVector
    n_iter: int
    converged: bool


def naive_bayes_em(
    labelled: SparseMatrix,
    y_index: IntVector,
    unlabelled: SparseMatrix,
    posterior: FloatMatrix,
    *,
    weight: float = 1.0,
    alpha: float = 0.1,
    evidence: float | None = None,
    anchor: FloatMatrix | None = None,
    max_iter: int = 20,
    tol: float = 0.0,
    sample_weight: FloatVector | None = None,
) -> EMResult:
    """Multinomial naive Bayes; unlabelled documents count by their posterior.

    Parameters
    ----------
    labelled, unlabelled : CSR of shape (n, n_terms)
        Counts, or anything non-negative that stands for them.
    y_index : ndarray of int
        Class number of each labelled document.
    posterior : ndarray of shape (n_unlabelled, n_classes)
        The start; anything may have made it.
    weight : float
        What an unlabelled document counts, a labelled one counting 1 (lambda).
    alpha : float
        Smoothing count.
    evidence : float, optional
        At most so many independent tokens speak for a document; None: all do.
    anchor : ndarray of shape (n_unlabelled, n_classes), optional
        Log-evidence of others, added in every E-step. It keeps the loop near what
        they said; without it this is plain EM.
    max_iter, tol
        Stop after so many rounds, or when no posterior moves by more than ``tol``.
    sample_weight : ndarray, optional
        Weight of each labelled document.

    """
    n_classes = posterior.shape[1]
    ones = np.ones(len(y_index)) if sample_weight is None else sample_weight
    weighted = labelled.multiply(ones[:, None]).tocsr()
    own_tokens = class_sums(weighted, y_index, n_classes).toarray()
    own_docs = np.bincount(y_index, ones, minlength=n_classes)
    temper = tempering(unlabelled, evidence)
    by_term = unlabelled.T.tocsr()
    converged, n_iter = False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        feature_log_prob, class_log_prior = m_step(
            own_tokens.T + weight * (by_term @ posterior),
            own_docs + weight * posterior.sum(axis=0),
            alpha,
        )
        joint = unlabelled @ feature_log_prob + class_log_prior
        log_posterior = log_normalize(joint * temper)
        if anchor is not None:
            log_posterior = log_normalize(anchor + log_posterior)
        moved = np.exp(log_posterior)
        converged = bool(np.abs(moved - posterior).max(initial=0.0) <= tol)
        posterior = moved
    return EMResult(posterior, feature_log_prob, class_log_prior, n_iter, converged)


def m_step(
    tokens: FloatMatrix, docs: FloatVector, alpha: float
) -> tuple[FloatMatrix, FloatVector]:
    """Log P(term | class) and log P(class) (SS1).

    ``tokens`` (n_terms, n_classes) and ``docs`` hold the labelled documents with
    their label and the others by share.
    """
    tokens = tokens + alpha
    feature_log_prob = np.log(tokens) - np.log(tokens.sum(axis=0))
    docs = docs + 1.0
    return feature_log_prob, np.log(docs) - np.log(docs.sum())


def tempering(rows: SparseMatrix, evidence: float | None) -> FloatMatrix:
    """Factor on each document's log-joint: min(1, evidence / length) (SS2).

    A long document is not n_d independent proofs.
    """
    if evidence is None:
        return np.ones((rows.shape[0], 1))
    lengths = row_lengths(rows)
    share = np.divide(evidence, lengths, out=np.ones(len(lengths)), where=lengths > 0)
    return np.minimum(1.0, share)[:, None]
