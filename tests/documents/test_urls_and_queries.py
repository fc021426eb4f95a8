"""Documents behind a URL, and rows of a query."""

import os
import shutil
import socket
import sqlite3
import subprocess
from contextlib import closing

import duckdb
import fsspec
import psycopg
import pytest
from typer.testing import CliRunner

from earmark.apps.cli import main as cli
from earmark.documents import iter_documents, read_documents
from earmark.exceptions import DataError, MissingDependencyError

CSV = "text,label\ngood film,pos\nbad film,neg\n"
ROWS = [("good film", "pos"), ("bad film", "neg"), ("a film", None)]
QUERY = "select text, label from documents order by number"


@pytest.fixture
def memory():
    """A file system in memory, empty before and after."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.jsonl", "a.parquet"])
def test_a_file_is_read_by_its_url(memory, tmp_path, name):
    import gzip

    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"text": ["good film", "bad film"], "label": ["pos", "neg"]})
    pq.write_table(table, tmp_path / "a.parquet")
    content = {
        "a.csv": CSV.encode(),
        "a.csv.gz": gzip.compress(CSV.encode()),
        "a.jsonl": b'{"text":"good film","label":"pos"}\n'
        b'{"text":"bad film","label":"neg"}\n',
        "a.parquet": (tmp_path / "a.parquet").read_bytes(),
    }
    memory.pipe(f"/box/{name}", content[name])
    read = read_documents(f"memory://box/{name}")
    assert (read.texts, read.labels) == (["good film", "bad film"], ["pos", "neg"])
    assert read.source == f"memory://box/{name}"


def test_a_folder_of_parts_is_read_by_its_url(memory):
    memory.pipe("/box/2.csv", b"text,label\nb,y\n")
    memory.pipe("/box/1.csv", b"text,label\na,x\n")
    memory.pipe("/box/readme", b"no part")
    assert read_documents("memory://box").texts == ["a", "b"]


def test_errors_name_the_url(memory):
    memory.pipe("/box/a.csv", b"text,label\na,x\nb\n")
    with pytest.raises(DataError, match=r"memory://box/a.csv, row 2 \(line 3\): "):
        read_documents("memory://box/a.csv")
    with pytest.raises(DataError, match=r"memory://box/b.csv: there is no such file"):
        read_documents("memory://box/b.csv")


def test_copies_are_removed(memory, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    memory.pipe("/box/a.csv", CSV.encode())
    read_documents("memory://box/a.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_url_of_a_file_is_its_path(tmp_path):
    path = tmp_path / "a b.csv"
    path.write_text(CSV)
    assert len(read_documents(path.as_uri())) == 2


def test_a_wrong_scheme_is_named():
    with pytest.raises(DataError, match=r"begins with 's3', .* got 'nonsense'"):
        read_documents("nonsense://host/a.csv")


def test_fsspec_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(
        MissingDependencyError, match=r"fsspec is needed to read s3://b"
    ):
        read_documents("s3://user:secret@b/a.csv")


@pytest.fixture
def sqlite(tmp_path):
    path = tmp_path / "mails.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table documents (number int, text, label)")
        rows = [(k, *row) for k, row in enumerate(ROWS)]
        connection.executemany("insert into documents values (?, ?, ?)", rows)
    return path


@pytest.fixture
def duck(tmp_path):
    path = tmp_path / "mails.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute("create table documents (number int, text text, label text)")
        rows = [(k, *row) for k, row in enumerate(ROWS)]
        connection.executemany("insert into documents values (?, ?, ?)", rows)
    return path


def require_rows(uri):
    read = read_documents(uri, query=QUERY, allow_unlabelled=True)
    assert read.texts == [text for text, _ in ROWS]
    assert read.labels == [label for _, label in ROWS]
    with pytest.raises(DataError, match=r"row 3, column 'label': expected a label"):
        read_documents(uri, query=QUERY)
    batches = iter_documents(uri, query=QUERY, batch_size=2, allow_unlabelled=True)
    assert [len(batch) for batch in batches] == [2, 1]
    with pytest.raises(DataError, match=r"expected a column 'topic'.*'text', 'label'"):
        read_documents(uri, query=QUERY, label="topic")
    with pytest.raises(DataError, match="the database refuses the query"):
        read_documents(uri, query="select nothing from nowhere")
    with pytest.raises(DataError, match="the database refuses the query"):
        read_documents(uri, query="delete from documents")
    with pytest.raises(DataError, match="expected data rows"):
        read_documents(uri, query=f"select * from ({QUERY}) q where 1 = 0")
    with pytest.raises(DataError, match=r"this is a database; .*query="):
        read_documents(uri)


@pytest.mark.parametrize("form", ["sqlite://{}", "{}"])
def test_rows_of_sqlite_are_read(sqlite, form):
    require_rows(form.format(sqlite))


@pytest.mark.parametrize("form", ["duckdb://{}", "{}"])
def test_rows_of_duckdb_are_read(duck, form):
    require_rows(form.format(duck))


def test_a_file_of_this_folder_has_three_slashes(sqlite, monkeypatch):
    monkeypatch.chdir(sqlite.parent)
    read = read_documents("sqlite:///mails.db", query=QUERY, allow_unlabelled=True)
    assert len(read) == 3
    with pytest.raises(DataError, match=r"there is no file 'other.db'"):
        read_documents("sqlite:///other.db", query=QUERY)


def test_rows_are_fetched_as_they_are_asked_for(tmp_path):
    endless = (
        "with recursive n(k) as (select 1 union all select k + 1 from n) "
        "select 'text ' || k as text from n"
    )
    sqlite3.connect(tmp_path / "a.db").close()
    (tmp_path / "a.db").touch()
    batches = iter_documents(f"sqlite://{tmp_path}/a.db", query=endless, batch_size=10)
    assert next(batches).texts[0] == "text 1"
    assert next(batches).texts[0] == "text 11"
    batches.close()


def test_a_query_needs_a_database(tmp_path):
    (tmp_path / "a.csv").write_text(CSV)
    with pytest.raises(DataError, match="expected a database for the query"):
        read_documents(tmp_path / "a.csv", query=QUERY)


def test_commands_train_and_predict_from_a_query(sqlite, tmp_path):
    run, model = CliRunner(), str(tmp_path / "m")
    command = ["train", f"sqlite://{sqlite}", "--query", QUERY, "--out", model]
    done = run.invoke(cli.app, [*command, "--model", "multinomial"])
    assert done.exit_code == 0, done.output
    command = ["predict", model, str(sqlite), "--query", "select text from documents"]
    done = run.invoke(cli.app, [*command, "--out", str(tmp_path / "out.csv")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out.csv").read_text().count("\n") == 4


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory):
    """A server of Debian's package, started for these tests."""
    found = shutil.which("postgres")
    if found is None:
        pytest.skip("PostgreSQL is not installed: no postgres on the PATH")
    programs = os.path.dirname(os.path.realpath(found))
    folder = tmp_path_factory.mktemp("pg")
    become = []
    if os.geteuid() == 0:  # the server refuses to run as root
        if shutil.which("setpriv") is None:
            pytest.skip("PostgreSQL does not run as root, and setpriv is not here")
        become = ["setpriv", "--reuid=nobody", "--clear-groups", "--inh-caps=-all"]
        shutil.chown(folder, "nobody")
        for parent in [folder, *folder.parents][:-2]:
            parent.chmod(parent.stat().st_mode | 0o011)
    data = str(folder / "data")
    subprocess.run(
        [*become, f"{programs}/initdb", "-D", data, "-U", "tester", "-A", "trust"],
        check=True,
        capture_output=True,
        cwd=folder,
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [*become, f"{programs}/postgres", "-D", data, "-p", str(port), "-k", ""],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
    )
    uri = f"postgresql://tester:secret@127.0.0.1:{port}/postgres"
    try:
        import time

        for _ in range(100):
            try:
                psycopg.connect(uri).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        with psycopg.connect(uri) as connection:
            table = "create table documents (number int, text text, label text)"
            connection.execute(table)
            for k, row in enumerate(ROWS):
                connection.execute(
                    "insert into documents values (%s, %s, %s)", (k, *row)
                )
        yield uri
    finally:
        server.terminate()
        server.wait(20)


def test_rows_of_postgresql_are_read(postgresql):
    require_rows(postgresql)
    with pytest.raises(DataError) as caught:
        read_documents(postgresql, query="select nothing")
    assert "secret" not in str(caught.value)
    read = read_documents(postgresql, query=QUERY, allow_unlabelled=True)
    assert "secret" not in read.source
