"""The tables as text."""

from __future__ import annotations

from typing import Any

__all__ = ["show"]


def show(result: dict[str, Any]) -> str:
    """What the experiments say, in lines for a terminal."""
    lines = []
    for n, row in result["means"].items():
        lines.append(
            f"{n} labels a class, mean of the corpora: gain over logistic regression "
            f"{row['gain']:+.3f} ± {row['gain_se']:.3f}; calibration error "
            f"{row['ece']:.3f} (raw {row['ece_raw']:.3f})"
        )
    for n, row in result["short_means"].items():
        lines.append(
            f"{n} labels a class, short texts: gain over the settings for long texts "
            f"{row['gain']:+.3f} ± {row['gain_se']:.3f}"
        )
    for section in ("development", "short", "untouched", "unlabelled_classes"):
        lines += ["", section.replace("_", " ")]
        for name, cell in result[section].items():
            lines.append(f"  {name:<18} {_cell(cell)}")
    lines += ["", "many labels"]
    for name, row in result["many_labels"].items():
        best = max(row["logistic regression"], row["linear SVM"])
        ours = f"{row['chosen']:<16} {row['auto']:.3f}"
        lines.append(f"  {name:<18} {ours}  best linear {best:.3f}")
    return "\n".join(lines)


def _cell(cell: dict[str, Any]) -> str:
    methods = cell["methods"]
    ours = methods["earmark"]
    n = int(ours["accuracy"]["n"])
    others = {m: v["accuracy"]["mean"] for m, v in methods.items() if m != "earmark"}
    best = max(others, key=lambda m: others[m])
    gap = cell["paired"][best]
    return (
        f"{ours['accuracy']['mean']:.3f} (F1 {ours['macro_f1']['mean']:.3f}, {n} draws)"
        f"  {gap['mean']:+.3f} ± {gap['se']:.3f} to {best}, lost {gap['lost']}"
    )
