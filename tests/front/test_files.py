"""Files that go out: whole or absent, and never over earlier ones unasked."""

import pytest

from ptft_sym.files import replacing, result_folder, write_text


def test_a_failed_write_leaves_the_old_file_and_no_debris(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "old")

    def fail():
        with replacing(target) as partial:
            partial.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_text() == "old"
    write_text(target, "new")
    assert target.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_default_folders_are_numbered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [str(result_folder(None, "r")) for _ in range(3)] == ["r", "r-2", "r-3"]


def test_a_full_folder_needs_force(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(FileExistsError, match="not empty; give another one, or --force"):
        result_folder(tmp_path, "r")
    assert result_folder(tmp_path, "r", force=True) == tmp_path
    assert (tmp_path / "mine.txt").read_text() == "x"
    assert result_folder(tmp_path / "new" / "deep", "r").is_dir()
    with pytest.raises(NotADirectoryError, match="there is a file of that name"):
        result_folder(tmp_path / "mine.txt", "r", force=True)
