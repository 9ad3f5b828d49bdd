import os
import stat
import sys

import pytest

from hornbook.errors import TraceError
from hornbook.trace.files import claim, new_file, open_to_append, replace_file, sentence

pytestmark = pytest.mark.requirement("trace:file:per-process")


def test_a_new_file_was_not_there(tmp_path):
    path = tmp_path / "file"
    os.close(new_file(path))
    with pytest.raises(FileExistsError):
        new_file(path)


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and modes")
def test_a_link_is_no_file(tmp_path):
    path = tmp_path / "link"
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        new_file(path)
    with pytest.raises(OSError, match="symbolic links"):
        open_to_append(path)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.requirement("trace:file:anchor")
def test_a_file_is_replaced_whole_and_for_us_alone(tmp_path):
    path = tmp_path / "HEAD"
    replace_file(path, b"one")
    (tmp_path / "HEAD.tmp").write_bytes(b"left by a crash, and longer")
    replace_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert [item.name for item in tmp_path.iterdir()] == ["HEAD"]
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.requirement("trace:file:anchor")
def test_a_replacement_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "HEAD"
    replace_file(path, b"one")

    def full(fd, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"two")
    assert path.read_bytes() == b"one"


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks")
def test_a_file_is_claimed_once(tmp_path):
    path = tmp_path / "file"
    first, second = new_file(path), open_to_append(path)
    claim(first)
    with pytest.raises(TraceError, match="another process is writing it"):
        claim(second)
    os.close(first)
    claim(second)
    os.close(second)


def test_an_error_is_said_in_a_sentence():
    assert sentence(OSError(28, "No space left on device")) == "No space left on device"
    assert sentence(FileExistsError(17, "File exists", "/runs")) == "/runs: File exists"
    assert sentence(TraceError("the run has ended")) == "the run has ended"
    assert sentence(ZeroDivisionError()) == "ZeroDivisionError"
