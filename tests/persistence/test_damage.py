"""Any damage to a file, and any foreign file, is a ModelFormatError that says what."""

import gzip
import io
import os
import pathlib
import pickle
import zipfile
import zlib

import joblib
import numpy as np
import pytest
import safetensors.numpy

from earmark.exceptions import ModelFormatError
from earmark.persistence import load_model, read_manifest, save_model
from earmark.persistence.tensor_file import recognize


@pytest.fixture
def raw(kit, path):
    save_model(kit.example(), path, kit.TABLE)
    return path.read_bytes()


def refusal(path, read):
    """The message with which a file is refused; no other outcome is allowed."""
    try:
        read(path)
    except ModelFormatError as error:
        return str(error)
    return pytest.fail("a damaged file was read")


def flip_and_load(kit, path, raw, changes, read=None):
    """Change one byte in place at a time; each time the file must be refused."""
    read = read or (lambda path: load_model(path, kit.TABLE))
    with open(path, "r+b", buffering=0) as file:
        for place, mask in changes:
            os.pwrite(file.fileno(), bytes([raw[place] ^ mask]), place)
            message = refusal(path, read)
            assert any(part in message for part in ("damaged", "not an earmark"))
            os.pwrite(file.fileno(), raw[place : place + 1], place)
    assert path.read_bytes() == raw


def random_flips(raw, count, seed):
    rng = np.random.default_rng(seed)
    places = rng.integers(len(raw), size=count)
    return zip(places.tolist(), rng.integers(1, 256, size=count).tolist(), strict=True)


def test_every_byte_is_covered(kit, path, raw):
    flip_and_load(kit, path, raw, [(i, 1 << i % 8) for i in range(len(raw))])


def test_random_byte_flips_are_refused(kit, path, raw):
    flip_and_load(kit, path, raw, random_flips(raw, count=10_000, seed=1))


@pytest.mark.slow
def test_a_hundred_thousand_byte_flips_are_refused(kit, path, raw):
    flip_and_load(kit, path, raw, random_flips(raw, count=100_000, seed=2))


def test_every_truncation_is_refused(kit, path, raw):
    for length in reversed(range(len(raw))):
        os.truncate(path, length)
        message = refusal(path, lambda path: load_model(path, kit.TABLE))
        assert f"truncated at byte {length}," in message or length == 0


def test_appended_bytes_are_refused(kit, path, raw):
    for tail in (b"\0", b"\n", raw, bytes(64)):
        path.write_bytes(raw + tail)
        with pytest.raises(ModelFormatError, match=f"{len(tail)} bytes follow the end"):
            load_model(path, kit.TABLE)


def test_info_verifies_as_load_does(kit, path, raw):
    changes = [(i, 0x10) for i in range(0, len(raw), 7)]
    flip_and_load(kit, path, raw, changes, read=read_manifest)


@pytest.mark.parametrize(
    ("version", "word"), [(4, "newer"), (2**31, "newer"), (0, "older")]
)
def test_another_format_version_is_named(kit, path, raw, version, word):
    header, text, body = kit.parts_of(raw)
    path.write_bytes(kit.signed(text, header, body, version=version))
    with pytest.raises(
        ModelFormatError, match=f"version {version} is {word} than this"
    ):
        load_model(path, kit.TABLE)


def joblib_file():
    buffer = io.BytesIO()
    joblib.dump({"a": np.ones(3)}, buffer, compress=3)
    return buffer.getvalue()


def zip_file():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps([1]))
        archive.writestr("../../evil", "x")
    return buffer.getvalue()


FOREIGN = {
    "empty": (b"", "the file is empty"),
    "pickle": (pickle.dumps({"a": 1}), "looks like a pickle.*never loads pickles"),
    "old pickle": (pickle.dumps({"a": 1}, protocol=0), "not an earmark model file"),
    "joblib": (joblib_file(), "looks like a zlib stream"),
    "torch": (zip_file(), "looks like a zip archive"),
    "gzip": (gzip.compress(b"x"), "looks like a gzip file"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(100), "looks like a PNG image"),
    "text": (b"label,text\r\nham,hello\r\n" * 9, "looks like text"),
    "any text": (bytes([9, 10, 13, *range(32, 127)]), "looks like text"),
    "not quite text": (b"\x7fham,hello" * 9, "not an earmark model file$"),
    "control characters": (b"\x1fham,hello" * 9, "not an earmark model file$"),
    "numpy": (b"\x93NUMPY" + bytes(100), "looks like a numpy array"),
    "safetensors": (safetensors.numpy.save({"a": np.ones(3)}), "not an earmark model"),
    "noise": (bytes(range(128, 256)), "not an earmark model file$"),
    "first bytes": (b"\x18\x03\0\0", "truncated at byte 4, or not an earmark"),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_foreign_file_is_recognized(kit, path, case):
    content, message = FOREIGN[case]
    path.write_bytes(content)
    with pytest.raises(ModelFormatError, match=message) as caught:
        load_model(path, kit.TABLE)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_binary_protocol_are_recognized(protocol):
    assert "looks like a pickle" in recognize(pickle.dumps([1], protocol))


@pytest.mark.parametrize("level", range(10))
def test_zlib_streams_of_every_level_are_recognized(level):
    assert "looks like a zlib stream" in recognize(zlib.compress(b"x", level))


def test_a_pickle_behind_or_before_a_model_is_refused(kit, path, raw):
    bomb = pickle.dumps({"a": 1})
    for content in (raw + bomb, bomb + raw, raw + zip_file()):
        path.write_bytes(content)
        with pytest.raises(ModelFormatError, match=r"follow the end|not an earmark"):
            load_model(path, kit.TABLE)


def test_a_folder_or_device_is_no_model(kit, tmp_path):
    with pytest.raises(ModelFormatError, match="this is a folder; name a model file"):
        load_model(tmp_path, kit.TABLE)
    with pytest.raises(ModelFormatError, match="no regular file"):
        load_model("/dev/zero", kit.TABLE)


def test_a_missing_file_is_reported_as_such(kit, path):
    with pytest.raises(FileNotFoundError, match="No such file"):
        load_model(path, kit.TABLE)


def test_the_safetensors_package_reads_our_files(kit, path):
    arrays = {
        "a": np.arange(3, dtype=np.int8),
        "b": np.eye(2),
        "c": np.zeros((0, 4)),
        "d": np.array(True),
    }
    save_model(kit.Plain(**arrays), path, kit.TABLE)
    theirs = safetensors.numpy.load_file(path)
    assert set(theirs) == {f"Plain.{name}" for name in arrays}
    for name, array in arrays.items():
        assert theirs[f"Plain.{name}"].dtype == array.dtype
        np.testing.assert_array_equal(theirs[f"Plain.{name}"], array)


def test_a_file_of_the_first_format_is_refused_with_what_to_do(kit):
    stored = pathlib.Path(__file__).parent / "data" / "format-1.earmark"
    for read in (lambda: load_model(stored, kit.TABLE), lambda: read_manifest(stored)):
        with pytest.raises(
            ModelFormatError, match=r"format version 1.*train the model again"
        ):
            read()
