"""Model files: one ``*.earmark`` file per model, data only, verified when read.

The class table is given by the caller, so this layer knows no model. The format is
described in docs/model-file.md.
"""

from earmark.persistence.classes import SKLEARN_LINEAR
from earmark.persistence.container import FORMAT_VERSION
from earmark.persistence.model_file import (
    ModelInfo,
    load_model,
    read_manifest,
    save_model,
)

__all__ = [
    "FORMAT_VERSION",
    "SKLEARN_LINEAR",
    "ModelInfo",
    "load_model",
    "read_manifest",
    "save_model",
]
