"""Say what a file is that is not ours: the message for a file given by mistake."""

from __future__ import annotations

__all__ = ["recognize"]

_PICKLE = "a pickle (from pickle or joblib)"
_ZLIB = "a zlib stream (perhaps a joblib file)"
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive (perhaps a torch, skops or npz file)"),
    (b"\x89PNG", "a PNG image"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x28\xb5\x2f\xfd", "a zstandard file"),
    (b"\x93NUMPY", "a numpy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF", "a PDF document"),
    *((bytes([0x80, protocol]), _PICKLE) for protocol in range(2, 6)),
    *((bytes([0x78, level]), _ZLIB) for level in (0x01, 0x5E, 0x9C, 0xDA)),
)
_TEXT = frozenset(b"\t\n\r") | frozenset(range(32, 127))


def recognize(head: bytes) -> str:
    """A clause such as ``: it looks like a PNG image``, empty if nothing is known."""
    for signature, name in _SIGNATURES:
        if head.startswith(signature):
            advice = "; earmark never loads pickles" if name == _PICKLE else ""
            return f": it looks like {name}{advice}"
    return ": it looks like text" if _TEXT.issuperset(head) else ""
