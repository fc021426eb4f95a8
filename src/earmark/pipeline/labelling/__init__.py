"""The loop of labelling: ask, learn, estimate, ask again. No web, no files."""

from earmark.pipeline.labelling.loop import LabellingLoop, Pick
from earmark.pipeline.labelling.view import View

__all__ = ["LabellingLoop", "Pick", "View"]
