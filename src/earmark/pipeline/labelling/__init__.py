"""The loop of labelling: ask, learn, estimate, ask again. No web, no files."""

from earmark.pipeline.labelling.loop import Grant, LabellingLoop, Pick, View

__all__ = ["Grant", "LabellingLoop", "Pick", "View"]
