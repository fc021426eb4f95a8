"""Agreement beside scikit-learn and krippendorff, on 200 random tables.

    pip install krippendorff
    python -m benchmarks.agreement

Stored in benchmarks/results/agreement.json: the largest difference of each measure.
"""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import numpy as np

from earmark.evaluation import krippendorff_alpha
from earmark.evaluation.significance import cohen_kappa

RESULT = Path(__file__).parent / "results" / "agreement.json"
N_TABLES = 200


def table(seed: int) -> np.ndarray:
    """People in columns; some follow the truth more, some less."""
    rng = np.random.default_rng(seed)
    n, people, n_labels = rng.integers(4, 40), rng.integers(2, 6), rng.integers(2, 6)
    truth = rng.integers(0, n_labels, n)
    noise = rng.integers(0, n_labels, (n, people))
    return np.where(rng.random((n, people)) < rng.random(), truth[:, None], noise)


def main() -> None:
    """Compare, print and store."""
    import krippendorff
    from sklearn.metrics import cohen_kappa_score

    off: dict[str, list[float]] = {"cohen": [], "alpha": []}
    for seed in range(N_TABLES):
        values = table(seed)
        rng = np.random.default_rng([seed, 1])
        holes = np.where(rng.random(values.shape) < 0.7, values, np.nan)
        theirs = {
            "cohen": cohen_kappa_score(values[:, 0], values[:, 1]),
            "alpha": np.nan,
        }
        paired = holes[np.sum(~np.isnan(holes), axis=1) > 1]
        if len(np.unique(paired[~np.isnan(paired)])) > 1:
            theirs["alpha"] = krippendorff.alpha(
                reliability_data=holes.T, level_of_measurement="nominal"
            )
        named = [[f"label {v}" for v in row] for row in values]
        gaps = [[None if np.isnan(v) else f"label {v:.0f}" for v in r] for r in holes]
        ours = {
            "cohen": cohen_kappa([r[0] for r in named], [r[1] for r in named]).value,
            "alpha": krippendorff_alpha(gaps).value,
        }
        for name, value in ours.items():
            if np.isfinite(value) or np.isfinite(theirs[name]):
                off[name].append(abs(value - theirs[name]))
    versions = ("krippendorff", "scikit-learn")
    result = {
        "tables": N_TABLES,
        "largest_difference": {name: float(max(gaps)) for name, gaps in off.items()},
        "compared": {name: len(gaps) for name, gaps in off.items()},
        "versions": {name: importlib.metadata.version(name) for name in versions},
    }
    print(json.dumps(result, indent=2))
    RESULT.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
