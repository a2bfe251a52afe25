"""Where reports are written: checked before, whole or not at all, in the place and with the mode of what was there."""

import os
import stat
from pathlib import Path

import click
import pytest

from assay.cli.destinations import check_paths, save
from assay.core.errors import StoreError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_old_file_keeps_its_mode_and_a_new_one_has_that_of_new_files(tmp_path: Path) -> None:
    old, new, plain = tmp_path / "old.md", tmp_path / "new.md", tmp_path / "plain"
    old.write_text("before")
    old.chmod(0o640)
    plain.touch()
    save(old, b"after")
    save(new, b"after")
    assert (old.read_text(), mode(old), mode(new)) == ("after", 0o640, mode(plain))


def test_a_link_stays_one(tmp_path: Path) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link.md"
    folder.mkdir()
    link.symlink_to(folder / "real.md")
    for data in (b"one", b"two"):  # the first makes what the link names
        assert check_paths([link]) == (link,)
        save(link, data)
        assert link.is_symlink()
        assert (folder / "real.md").read_bytes() == data
    assert [each.name for each in folder.iterdir()] == ["real.md"]


def test_links_which_lead_nowhere(tmp_path: Path) -> None:
    lost, ring = tmp_path / "lost.md", tmp_path / "ring.md"
    lost.symlink_to(tmp_path / "nosuch" / "report.md")
    ring.symlink_to(ring)
    with pytest.raises(click.UsageError, match="nosuch does not exist"):
        check_paths([lost])
    with pytest.raises(StoreError, match=r"lost\.md cannot be written"):
        save(lost, b"x")
    check_paths([ring])
    save(ring, b"x")
    assert ring.read_bytes() == b"x"


def test_the_longest_names(tmp_path: Path) -> None:
    longest = tmp_path / f"{'n' * 252}.md"
    assert check_paths([longest]) == (longest,)
    save(longest, b"x")
    assert [each.name for each in tmp_path.iterdir()] == [longest.name]
    with pytest.raises(click.UsageError, match=r"cannot be written \(File name too long"):
        check_paths([tmp_path / f"{'n' * 253}.md"])


def test_the_same_file_is_written_once(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.md").symlink_to("report.md")
    path, other = tmp_path / "report.md", tmp_path / "other.md"
    same = [path, tmp_path / "folder" / ".." / "report.md", tmp_path / "link.md", Path(os.path.relpath(path))]
    assert check_paths([*same, other]) == (path, other)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(click.UsageError, match="is not a file"):
        check_paths([tmp_path / "pipe.md"])
