"""A kind of encoder is one file, ours or another package's."""

import os
import subprocess
import sys

from earmark.encoders.encoder import KINDS, known_names, short_names
from tests.pages import ROOT

TOY = """
import numpy as np
from earmark.encoders.encoder import EncoderKind, NamedEncoder


def load(name, place, fetch):
    return NamedEncoder(name, lambda texts: np.array([[len(t), 1.0] for t in texts]))


KIND = EncoderKind("toy", "counts characters", load)
"""


def test_a_kind_of_another_package_is_known_everywhere(tmp_path):
    (tmp_path / "toys.py").write_text(TOY)
    info = tmp_path / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0")
    (info / "entry_points.txt").write_text("[earmark.encoders]\ntoy = toys:KIND\n")
    code = (
        "import sys; "
        f"sys.path.insert(0, {str(ROOT / 'docs' / '_ext')!r}); "
        "import stored_tables; print(stored_tables.encoder_table()); "
        "from earmark.encoders import load_encoder; "
        "print(load_encoder('toy:any')(['a', 'abc']).tolist()); load_encoder('bert')"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert '| `"toy:NAME"` |  | counts characters |' in done.stdout
    assert "[[1.0, 1.0], [3.0, 1.0]]" in done.stdout
    assert "toy:NAME" in done.stderr


def test_a_module_declares_the_kind_of_its_name():
    assert [kind.name for kind in KINDS] == KINDS.names()
    assert all(kind.summary and kind.pattern in known_names() for kind in KINDS)
    assert short_names() == ["minilm", "static"]
