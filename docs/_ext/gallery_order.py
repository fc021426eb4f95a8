"""The order of the gallery: what people need first comes first."""

from __future__ import annotations

from pathlib import Path

FIRST = (
    *("quick_start", "explain", "few_labels", "abstain", "regions", "any_of"),
    *("compare", "learning_curve", "label_errors", "reliability", "forget", "stemming"),
)


class GalleryOrder:
    """Sort key of an example; those that are not named come last, by name."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        """The place of an example and its name."""
        stem = Path(name).stem.removeprefix("plot_")
        return (FIRST.index(stem) if stem in FIRST else len(FIRST), stem)

    def __repr__(self) -> str:
        # Part of what Sphinx compares to know whether settings changed.
        return f"GalleryOrder{FIRST}"
