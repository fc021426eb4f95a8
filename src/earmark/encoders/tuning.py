"""Teach the top of a sentence encoder what the labels of some texts have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from earmark._optional import require
from earmark.encoders.encoder import local_folder, parse_name
from earmark.exceptions import DataError
from earmark.progress import tracked
from earmark.typing import ArrayLike, IntVector

KIND = "sentence-transformers"
_BATCH, _RATE, _WARM_UP = 32, 5e-5, 0.1


def tune_encoder(
    name: str,
    texts: Sequence[str],
    labels: ArrayLike,
    folder: str | os.PathLike[str],
    *,
    n_layers: int = 2,
    n_steps: int = 100,
    random_state: int = 0,
) -> str:
    """Tune the top layers of a network to labelled texts and write it to a folder.

    Vectors of texts of one class are drawn together, those of others apart. It takes
    about 20 labels per class; with fewer, or where the accuracy is high already, the
    network as it is serves as well.

    Parameters
    ----------
    name : str
        A network that runs in torch: ``"sentence-transformers:NAME-OR-PATH"``.
    texts : sequence of str
        Documents.
    labels : array-like of shape (n_texts,)
        Their labels.
    folder : path
        Where the tuned network is written; it must not exist.
    n_layers : int, default=2
        How many layers learn; those below stay as they are.
    n_steps : int, default=100
        Steps of 32 texts each. A step takes as long as encoding about 60 texts.
    random_state : int, default=0
        Seed of the choice of texts.

    Returns
    -------
    name : str
        For ``TextClassifier(encoder=...)``: ``"sentence-transformers:FOLDER"``.

    """
    kind, place = parse_name(name)
    if kind != KIND:
        raise DataError(
            f"encoder {name!r} cannot be tuned: expected a network in torch, "
            f"{KIND}:NAME-OR-PATH."
        )
    target = Path(folder)
    if target.exists():
        raise DataError(f"{target} exists; name a folder that does not.")
    known = np.asarray(labels).astype(str)
    if len(known) != len(texts):
        raise DataError(f"got {len(texts)} texts and {len(known)} labels.")
    classes, y_index = np.unique(known, return_inverse=True)
    if len(classes) < 2:
        raise DataError("labels have one class; a network is tuned to tell two apart.")
    library = require("sentence_transformers", f"tune the encoder {name}")
    torch = require("torch", f"tune the encoder {name}")
    from earmark.encoders.kinds.sentence_transformers import require_data_only

    source = local_folder(name, place, False)
    require_data_only(source, name)
    torch.manual_seed(random_state)
    model = library.SentenceTransformer(
        str(source), trust_remote_code=False, local_files_only=True, device="cpu"
    )
    _train(torch, model, _top_layers(torch, model, n_layers), texts, y_index, n_steps)
    model.eval()
    model.save(str(target), create_model_card=False, safe_serialization=True)
    return f"{KIND}:{target}"


def _top_layers(torch: Any, model: Any, n_layers: int) -> list[Any]:
    """The parameters of the last layers; those of all others are frozen."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    stacks = [m for m in model.modules() if isinstance(m, torch.nn.ModuleList)]
    if not stacks:
        raise DataError("the encoder has no layers that could be tuned.")
    layers = max(stacks, key=len)
    chosen = [p for layer in layers[-n_layers:] for p in layer.parameters()]
    for parameter in chosen:
        parameter.requires_grad_(True)
    return chosen


def _train(
    torch: Any,
    model: Any,
    parameters: list[Any],
    texts: Sequence[str],
    y_index: IntVector,
    n_steps: int,
) -> None:
    """AdamW; the rate rises over the first tenth of the steps, then falls to zero."""
    optimizer = torch.optim.AdamW(parameters, lr=_RATE)
    warm = max(1, round(_WARM_UP * n_steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min((step + 1) / warm, (n_steps - step) / max(n_steps - warm, 1)),
    )
    model.train()
    # Older versions have only the second name for it.
    prepared = getattr(model, "preprocess", model.tokenize)
    seed = int(torch.initial_seed())
    steps = _batches(y_index, n_steps, np.random.default_rng(seed))
    for rows in tracked("step", steps, n_steps):
        vectors = model(prepared([texts[i] for i in rows]))["sentence_embedding"]
        loss = _loss(torch, vectors, torch.as_tensor(y_index[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()


def _batches(
    y_index: IntVector, n_steps: int, rng: np.random.Generator
) -> Iterator[IntVector]:
    """Rows of each step: classes by turns, so that each has as many pairs."""
    by_class = [np.flatnonzero(y_index == k) for k in range(int(y_index.max()) + 1)]
    for _ in range(n_steps):
        turns = np.resize(rng.permutation(len(by_class)), _BATCH)
        if len(by_class) > _BATCH // 2:  # else few would have a partner
            turns = np.repeat(turns[: _BATCH // 2], 2)
        yield np.array([rng.choice(by_class[k]) for k in turns])


def _loss(torch: Any, vectors: Any, y_index: Any) -> Any:
    """Squared distance of pairs of a class from cosine 1, of others from 0 or below."""
    unit = torch.nn.functional.normalize(vectors, dim=1)
    cosines = unit @ unit.T
    apart = ~torch.eye(len(unit), dtype=torch.bool)
    same = (y_index[:, None] == y_index[None, :]) & apart
    other = (y_index[:, None] != y_index[None, :]) & apart
    loss = ((1.0 - cosines[same]) ** 2).mean()
    return loss + (cosines[other].clamp(min=0.0) ** 2).mean()
