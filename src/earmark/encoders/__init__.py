"""Encoders: texts to vectors by models that others trained.

    TextClassifier(encoder="model2vec:minishlab/potion-base-8M")

The names are listed at ``load_encoder``.
"""

from earmark.encoders.encoder import fetch_encoder, load_encoder
from earmark.encoders.tuning import tune_encoder

__all__ = ["fetch_encoder", "load_encoder", "tune_encoder"]
