"""What a model file keeps about documents that it learned or forgot later."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256

from earmark.documents import Documents
from earmark.documents.document import fingerprint, shifted_fingerprint
from earmark.typing import JsonObject

__all__ = ["has_learned", "recorded"]

# A service that learns all day keeps the last so many; what was forgotten stays.
_MOST_UPDATES = 1000
# What a save writes by itself.
_DERIVED = ("model", "classes")


def recorded(
    metadata: Mapping[str, object], documents: Documents, *, added: bool
) -> tuple[JsonObject, JsonObject]:
    """The metadata after a change, and the record of it that they now hold."""
    facts: JsonObject = {k: v for k, v in metadata.items() if k not in _DERIVED}
    known = facts.get("training_data")
    if isinstance(known, dict):
        facts["training_data"] = _changed_data(known, documents, added=added)
    key, record = "updates" if added else "forgotten", _record(documents)
    earlier = facts.get(key)
    records = [*(earlier if isinstance(earlier, list) else []), record]
    facts[key] = records[-_MOST_UPDATES:] if added else records
    return facts, record


def _changed_data(
    known: JsonObject, documents: Documents, *, added: bool
) -> JsonObject:
    """``training_data`` after documents were learned or forgotten, exactly."""
    sign = 1 if added else -1
    counts: Counter[str] = Counter(known.get("classes", {}))
    for label in documents.labels or ():
        counts[str(label)] += sign
    known = {
        **known,
        "labelled": known.get("labelled", 0) + sign * len(documents),
        "classes": dict(sorted(counts.items())),
    }
    if "fingerprint" in known:
        # The documents of the training are told by their own fingerprint. With one of
        # them forgotten it would tell something about that one.
        first = known.pop("first_fingerprint", known["fingerprint"])
        if added:
            known["first_fingerprint"] = first
        known["fingerprint"] = shifted_fingerprint(
            known["fingerprint"], fingerprint(documents), sign
        )
    return known


def _record(documents: Documents) -> JsonObject:
    """What was changed and when, without a word of the documents.

    The hash is SHA-256 of the salt and the documents' fingerprint, which
    ``earmark check`` prints: whoever has the documents can tell that it was these.
    """
    salt = secrets.token_hex(16)
    digest = _salted(salt, fingerprint(documents))
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    return {"time": moment, "documents": len(documents), "salt": salt, "hash": digest}


def _salted(salt: str, known: str) -> str:
    return sha256(f"{salt}{known}".encode()).hexdigest()


def has_learned(metadata: Mapping[str, object], *batches: Documents) -> bool:
    """Whether a model was trained on or updated by one of these sets of documents."""
    data = metadata.get("training_data")
    facts = data if isinstance(data, dict) else {}
    trained = facts.get("fingerprint"), facts.get("first_fingerprint")
    for mark in map(fingerprint, batches):
        times = {
            kind: sum(_is_of(one, mark) for one in _records(metadata, kind))
            for kind in ("updates", "forgotten")
        }
        if mark in trained or times["updates"] > times["forgotten"]:
            return True
    return False


def _records(metadata: Mapping[str, object], kind: str) -> list[JsonObject]:
    records = metadata.get(kind)
    return records if isinstance(records, list) else []


def _is_of(record: JsonObject, mark: str) -> bool:
    """Whether a record is of the documents with that fingerprint."""
    return isinstance(record, dict) and record.get("hash") == _salted(
        str(record.get("salt")), mark
    )
