"""The loop of labelling: ask, learn, estimate, ask again. No web, no files."""

from earmark.pipeline.labelling.loop import LabellingLoop, Pick, View
from earmark.pipeline.labelling.promise import Audit, Grant

__all__ = ["Audit", "Grant", "LabellingLoop", "Pick", "View"]
