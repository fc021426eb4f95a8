"""The loop of labelling: ask, learn, estimate, ask again. No web, no files."""

from earmark.pipeline.labelling.loop import LabellingLoop, Pick, View

__all__ = ["LabellingLoop", "Pick", "View"]
