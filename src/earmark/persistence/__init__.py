"""Model files: one ``*.earmark`` file per model, data only, verified when read.

The class table is given by the caller, so this layer knows no model. The format is
described in docs/model-file.md.
"""

from earmark.persistence.model_file import (
    ModelInfo,
    load_model,
    open_model,
    read_manifest,
    save_model,
)
from earmark.persistence.nodes import sklearn_linear
from earmark.persistence.tensor_file import FORMAT_VERSION

__all__ = [
    "FORMAT_VERSION",
    "ModelInfo",
    "load_model",
    "open_model",
    "read_manifest",
    "save_model",
    "sklearn_linear",
]
