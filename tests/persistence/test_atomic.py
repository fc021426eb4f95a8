"""A save writes the whole file or leaves the old one; nothing is left lying about."""

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from earmark import whole_files
from earmark.persistence import load_model, save_model


def leftovers(folder):
    return [p.name for p in folder.iterdir() if p.name.startswith(".earmark-")]


def model(kit, value):
    return kit.Plain(value=value, data=np.full(50_000, float(value)))


def check_whole(kit, path, allowed):
    loaded = load_model(path, kit.TABLE)
    assert loaded.value in allowed
    assert (loaded.data == loaded.value).all()


# For each line on stdin, forks a process that saves two models in turn until it is
# killed (or 20 seconds have passed), and says its number; then says when it is dead.
SAVER = """
import os, sys, time
import numpy as np
from earmark.persistence import save_model

class Plain:
    pass

models = []
for value in (1, 2):
    model = Plain()
    model.value, model.data = value, np.full(50_000, float(value))
    models.append(model)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for model in models:
                save_model(model, sys.argv[1], {"Plain": Plain})
        os._exit(1)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def kill_saves(kit, path, count, seed):
    """Kill a saving process at random moments; returns how many temporaries it left."""
    chooser = random.Random(seed)
    left = 0
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", SAVER, str(path)]
    with subprocess.Popen(command, **pipes) as server:
        for _ in range(count):
            print(file=server.stdin, flush=True)
            child = int(server.stdout.readline())
            time.sleep(chooser.uniform(0, 0.05))
            os.kill(child, signal.SIGKILL)
            assert int(server.stdout.readline()) == -signal.SIGKILL
            check_whole(kit, path, {0, 1, 2})
            left += len(leftovers(path.parent))
            if chooser.random() < 0.5:
                save_model(model(kit, 0), path, kit.TABLE)
                assert leftovers(path.parent) == []
        server.stdin.close()
    save_model(model(kit, 0), path, kit.TABLE)
    assert leftovers(path.parent) == []
    return left


def test_a_killed_save_leaves_the_old_or_the_new_file(kit, path):
    save_model(model(kit, 0), path, kit.TABLE)
    kill_saves(kit, path, count=10, seed=1)


@pytest.mark.slow
def test_two_hundred_killed_saves_leave_the_old_or_the_new_file(kit, path):
    save_model(model(kit, 0), path, kit.TABLE)
    assert kill_saves(kit, path, count=200, seed=2) > 0


def test_the_next_save_removes_what_a_killed_one_left(kit, path, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    monkeypatch.setattr(os, "replace", killed)
    monkeypatch.setattr(os, "unlink", killed)
    with pytest.raises(Killed):
        save_model(model(kit, 1), path, kit.TABLE)
    monkeypatch.undo()
    assert len(leftovers(path.parent)) == 1
    other = path.with_name("other.earmark")
    save_model(model(kit, 1), other, kit.TABLE)
    assert len(leftovers(path.parent)) == 1, "another target's file is not touched"
    save_model(model(kit, 1), path, kit.TABLE)
    assert leftovers(path.parent) == []


def failing(code, after):
    """A function that fails with ``code`` from its ``after``-th call on."""
    calls = []

    def wrap(real):
        def call(*arguments):
            calls.append(1)
            if len(calls) > after:
                raise OSError(code, os.strerror(code))
            return real(*arguments)

        return call

    return wrap


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize(
    ("function", "after"), [("write", 0), ("write", 2), ("fsync", 0)]
)
def test_a_failing_disk_leaves_the_old_file(
    kit, path, monkeypatch, code, function, after
):
    save_model(model(kit, 1), path, kit.TABLE)
    before = path.read_bytes()
    monkeypatch.setattr(os, function, failing(code, after)(getattr(os, function)))
    with pytest.raises(OSError, match=os.strerror(code)):
        save_model(model(kit, 2), path, kit.TABLE)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert leftovers(path.parent) == []


def test_a_write_may_take_fewer_bytes_than_given(kit, path, monkeypatch):
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:1000]))
    save_model(model(kit, 1), path, kit.TABLE)
    monkeypatch.undo()
    check_whole(kit, path, {1})


def test_an_interrupt_leaves_the_old_file(kit, path, monkeypatch):
    save_model(model(kit, 1), path, kit.TABLE)

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_model(model(kit, 2), path, kit.TABLE)
    monkeypatch.undo()
    check_whole(kit, path, {1})
    assert leftovers(path.parent) == []


def test_file_and_folder_are_synced_around_the_rename(kit, path, monkeypatch):
    events = []
    for name in ("write", "fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os,
            name,
            lambda *a, name=name, real=real: (events.append(name), real(*a))[1],
        )
    save_model(kit.Plain(), path, kit.TABLE)
    assert events[-4:] == ["write", "fsync", "replace", "fsync"]


def test_saves_at_the_same_time_do_not_disturb_each_other(kit, path):
    save_model(model(kit, 0), path, kit.TABLE)
    errors = []

    def work(value):
        try:
            for _ in range(25):
                save_model(model(kit, value), path, kit.TABLE)
                check_whole(kit, path, {0, 1, 2, 3})
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(value,)) for value in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert leftovers(path.parent) == []


def test_a_new_file_honours_the_umask_and_an_old_one_keeps_its_mode(kit, path):
    old = os.umask(0o027)
    try:
        save_model(kit.Plain(), path, kit.TABLE)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o600)
        save_model(kit.Plain(), path, kit.TABLE)
        assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(old)


def test_a_link_is_written_through(kit, path):
    real = path.with_name("real.earmark")
    path.symlink_to(real)
    save_model(model(kit, 1), path, kit.TABLE)
    assert path.is_symlink()
    check_whole(kit, real, {1})


def test_a_target_that_cannot_be_written_is_named(kit, tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match=r"this is a folder; name a file in it"):
        save_model(kit.Plain(), tmp_path, kit.TABLE)
    missing = tmp_path / "missing" / "m.earmark"
    with pytest.raises(
        FileNotFoundError, match=r"does not exist; create it.*m\.earmark"
    ):
        save_model(kit.Plain(), missing, kit.TABLE)
    with pytest.raises(OSError, match=r"no regular file; name another"):
        save_model(kit.Plain(), "/dev/null", kit.TABLE)
    # Root may write everywhere, so the answer of the system is set here.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"no permission to create files"):
        save_model(kit.Plain(), tmp_path / "m.earmark", kit.TABLE)


def test_a_name_of_the_greatest_length_can_be_saved(kit, tmp_path):
    path = tmp_path / ("ä" * 120 + ".earmark")
    save_model(model(kit, 1), path, kit.TABLE)
    check_whole(kit, path, {1})


def test_without_locks_leftovers_are_removed_too(kit, path, monkeypatch):
    monkeypatch.setattr(whole_files, "fcntl", None)
    (path.parent / f"{whole_files._prefix(path)}0.tmp").write_bytes(b"x")
    save_model(model(kit, 1), path, kit.TABLE)
    assert leftovers(path.parent) == []
