"""What a file says about itself, read without making the object."""

import hashlib
import json

import numpy as np

import earmark
from earmark.persistence import FORMAT_VERSION, read_manifest, save_model


def test_info_names_class_parameters_and_sizes(kit, path):
    part = kit.Estimator(stop_words=frozenset({"b", "a"}), dtype=np.float32)
    model = kit.Estimator(alpha=0.25, part={"title": part, "n": (1, None)})
    model.fit(np.eye(3), ["a", "b", "c"])
    save_model(model, path, kit.TABLE, metadata={"labels": ["a", "b"]})
    info = read_manifest(path)
    assert info.class_name == "Estimator"
    assert info.parameters == {
        "alpha": 0.25,
        "dtype": "numpy.int64",
        "part": {
            "n": [1, None],
            "title": {
                "class": "Estimator",
                "alpha": 1.0,
                "dtype": "numpy.float32",
                "part": None,
                "stop_words": ["a", "b"],
            },
        },
        "stop_words": None,
    }
    assert info.metadata == {"labels": ["a", "b"]}
    assert info.format_version == FORMAT_VERSION
    assert info.earmark_version == earmark.__version__
    assert info.file_size == path.stat().st_size
    assert json.loads(json.dumps(info.parameters)) == info.parameters


def test_large_values_are_named_by_their_kind(kit, path):
    save_model(kit.Plain(a=np.ones(3), b=float("nan")), path, kit.TABLE)
    assert read_manifest(path).parameters == {"a": "<array>", "b": "<float>"}


def test_callables_to_be_given_again_are_listed(kit, path):
    save_model(kit.Plain(f=len, g=[abs]), path, kit.TABLE, allow_callables=True)
    info = read_manifest(path)
    assert sorted(info.callables) == ["Plain.f", "Plain.g[0]"]


def test_the_fingerprint_follows_the_content(kit, path):
    prints = []
    for value in (1.0, 1.0, 2.0):
        save_model(kit.Plain(a=np.array([value])), path, kit.TABLE)
        prints.append(read_manifest(path).fingerprint)
    assert prints[0] == prints[1] != prints[2]


def test_the_file_is_laid_out_as_documented(kit, path):
    """Read a file with nothing but json and hashlib."""
    save_model(kit.Plain(a=np.arange(3), w=["x"] * 16), path, kit.TABLE)
    raw = path.read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    version, digest, text = header.pop("__metadata__")["earmark"].split(" ", 2)
    assert version == str(FORMAT_VERSION) == "3"
    zeroed = raw.replace(digest.encode(), b"0" * 64, 1)
    assert (
        hashlib.sha256(zeroed).hexdigest() == digest == read_manifest(path).fingerprint
    )
    assert json.loads(text)["tree"]["state"] == {
        "a": {"$": "array"},
        "w": {"$": "strings"},
    }
    assert set(header) == {"Plain.a", "Plain.w", "Plain.w.offsets"}
    start, stop = header["Plain.w"]["data_offsets"]
    assert raw[end + start : end + stop] == b"x" * 16
