"""`assay verify`: what it prints, its exit codes, and that it needs nothing but the file."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from bundles import bundle_of_two_agents, forged, members_of
from logs import Log, begin
from records import recorded

from assay.app import bundles
from assay.cli.main import main
from assay.core import events as e
from assay.export.bundle import EXPORTER, Verification


@pytest.fixture
async def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "report.zip"
    path.write_bytes(await bundle_of_two_agents())
    return path


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home which must not be made, and settings which cannot be read: verifying wants neither."""
    config = tmp_path / "config.toml"
    config.write_text("this is = [no toml")
    monkeypatch.setenv("ASSAY_CONFIG", str(config))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_bundle_which_holds(bundle: Path, nowhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(bundle)]) == 0
    out = capsys.readouterr().out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("ok")] == [
        *("zip", "members", "events", "report.json", "report.md", "report.html"),
        *("documents", "snapshots", "passages", "markers", "claims", "counts", "text"),
    ]
    assert out.splitlines()[-1].startswith(f"{bundle} is consistent with itself; not signed: run ")
    assert "claimed by its maker, and not checkable" in out.splitlines()[-2]
    assert out.splitlines()[-1].endswith("a report that passed its final check")
    assert not nowhere.exists()


def test_a_bundle_which_does_not(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = members_of(bundle.read_bytes())["report.md"]
    bundle.write_bytes(forged(bundle.read_bytes(), {"report.md": report + b"More.\n"}))
    assert main(["verify", str(bundle)]) == 3
    out = capsys.readouterr().out
    assert "WRONG  report.md" in out
    assert f"{bundle} does not hold: report.md" in out


def test_of_another_release_it_says_what_was_not_checked(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle.write_bytes(forged(bundle.read_bytes(), {"report.md": b"Another report.\n"}, release="99.0"))
    assert main(["verify", str(bundle)]) == 3
    last = capsys.readouterr().out.splitlines()[-1]
    assert "consistent" not in last
    assert last.endswith(
        f"report.md and report.html were NOT checked (written by Assay 99.0, this is {version('assay')})"
    )
    assert main(["verify", str(bundle), "--json"]) == 3
    found = msgspec.json.decode(capsys.readouterr().out)
    assert (found["ok"], found["whole"]) == (True, False)


def test_of_another_release_with_thousands_of_members(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more: dict[str, bytes | None] = {f"later-{at}.bin": b"" for at in range(50)}
    bundle.write_bytes(forged(bundle.read_bytes(), more, release="99.0"))
    assert main(["verify", str(bundle)]) == 3
    last = capsys.readouterr().out.splitlines()[-1]
    assert "and 46 other members were NOT checked" in last


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (e.RunFailed(stop_reason="failed", error="the model is down"), "without a report: the run failed"),
        (e.RunCancelled(), "without a report: the run was cancelled"),
        (None, "without a report: the run had not ended"),
    ],
)
def test_a_run_without_a_report_failed_no_check(
    event: e.Event | None, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Log()
    begin(log)
    if event is not None:
        log.add("", event)
    path = tmp_path / "failed.zip"
    path.write_bytes(EXPORTER.render(recorded(log.events)))
    assert main(["verify", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1].endswith(reason)
    assert "final check" not in out


def test_as_json(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle.write_bytes(bundle.read_bytes() + b"x")
    assert main(["verify", str(bundle), "--json"]) == 3
    found = msgspec.json.decode(capsys.readouterr().out, type=Verification)
    assert (found.file, found.ok) == (str(bundle), False)
    assert [(each.name, each.problems) for each in found.checks if not each.ok] == [
        ("zip", ("1 bytes follow its end",))
    ]


def test_what_is_no_bundle_at_all(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "note.zip").write_text("hello")
    os.mkfifo(tmp_path / "pipe.zip")
    for name, why in (
        ("nosuch.zip", "No such file"),
        ("note.zip", "is not a zip file"),
        ("pipe.zip", "is not a file"),
        (".", "is a folder"),
    ):
        assert main(["verify", str(tmp_path / name)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert why in line


def test_hostile_words_stay_words(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle.write_bytes(forged(bundle.read_bytes(), {"report.md": None}, release="\x1b]0;owned\x07\u202e1.0\n\nok zip"))
    assert main(["verify", str(bundle)]) == 3
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert sum(line.startswith("ok     zip") for line in out.splitlines()) == 1


def test_a_process_of_its_own(bundle: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "assay", "verify", str(bundle)], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture
def settings_file(nowhere: Path, tmp_path: Path) -> Path:
    """Settings which can be read, and a key for signing in them."""
    path = tmp_path / "config.toml"
    path.unlink()
    assert main(["keys", "sign", "create"]) == 0
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions there")
def test_a_key_for_signing_is_kept_as_other_keys_are(settings_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = tomllib.loads(settings_file.read_text())["signing"]["key"]
    assert stat.S_IMODE(settings_file.stat().st_mode) == 0o600
    printed = capsys.readouterr()
    assert main(["config", "list"]) == 0
    assert main(["keys", "sign", "show"]) == 0
    assert main(["keys", "sign", "list"]) == 0
    assert main(["keys", "sign", "create"]) == 2
    later = capsys.readouterr()
    assert secret not in printed.out + printed.err + later.out + later.err
    assert "--replace" in later.err
    assert tomllib.loads(settings_file.read_text())["signing"]["key"] == secret
    assert main(["keys", "sign", "create", "--replace"]) == 0
    assert tomllib.loads(settings_file.read_text())["signing"]["key"] != secret


def test_signed_bundles_and_who_has_to_have_signed_them(
    bundle: Path, settings_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = bundle.read_bytes()
    bundle.write_bytes(bundles.sign_bundle(plain, "r1"))
    own = str(bundles.own_key())
    assert main(["keys", "sign", "create", "--replace"]) == 0
    other = str(bundles.own_key())
    capsys.readouterr()

    def verified(*options: str) -> tuple[int, str]:
        code = main(["verify", str(bundle), *options])
        return code, capsys.readouterr().out.splitlines()[-1]

    assert verified("--signer", own)[0] == 0
    assert verified()[0] == 0
    assert "which is none you trust" in verified()[1]
    assert verified("--require-signature") == (3, f"{bundle} had to be signed by somebody you trust, and is not")
    assert verified("--signer", other)[0] == 3
    assert main(["keys", "sign", "trust", "alice", own]) == 0
    assert verified("--require-signature")[0] == 0
    assert "; signed by alice (key " in verified("--signer", "alice")[1]
    assert main(["keys", "sign", "distrust", "alice"]) == 0
    assert verified("--require-signature")[0] == 3
    bundle.write_bytes(plain)
    assert verified("--require-signature")[0] == 3
    assert verified("--signer", own)[0] == 3
    assert verified("--json")[0] == 0


@pytest.mark.parametrize("who", ["nobody", "RWQ", "/nowhere/key.pub"])
def test_who_is_no_signer_is_an_error(who: str, bundle: Path, settings_file: Path) -> None:
    assert main(["verify", str(bundle), "--signer", who]) == 2


def test_a_bundle_without_an_answer_says_so(
    settings_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = ["--home", str(tmp_path / "runs")]
    (tmp_path / "tides.md").write_text("The tide rises twice a day at the harbour of Vlissingen.\n")
    assert main(["Who is the mayor of Vlissingen?", "--in", str(tmp_path / "tides.md"), "-q", *home]) == 6
    assert main(["runs", "export", "last", "-o", str(tmp_path / "none.zip"), *home]) == 0
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "none.zip")]) == 0
    said = "a report that passed its final check, and says that it does not answer the question"
    assert capsys.readouterr().out.splitlines()[-1].endswith(said)


def test_a_text_cannot_be_signed(tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("A claim.\n")
    assert main(["verify", str(tmp_path / "text.md"), "--require-signature"]) == 2


def test_exporting_signs_bundles_alone(settings_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = ["--home", str(tmp_path / "runs")]
    (tmp_path / "tides.md").write_text("The tide rises twice a day at the harbour of Vlissingen.\n")

    def ran(*words: str) -> int:
        return main([*words, *home])

    asked = ["When does the tide rise?", "--in", str(tmp_path / "tides.md"), "-q"]
    assert ran(*asked) == 0
    signed = tmp_path / "signed.zip"
    assert ran("runs", "export", "last", "--sign", "-o", str(signed)) == 0
    assert main(["verify", str(signed), "--require-signature"]) == 0
    text = tmp_path / "report.md"
    assert ran("runs", "export", "last", "--sign", "-o", str(text)) == 2
    settings_file.unlink()
    unsigned = tmp_path / "unsigned.zip"
    assert ran("runs", "export", "last", "--sign", "-o", str(unsigned)) == 2
    assert "assay keys sign create" in capsys.readouterr().err
    assert not unsigned.exists()
