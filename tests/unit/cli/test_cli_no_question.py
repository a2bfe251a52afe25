"""What is no question is not researched, and what is one is."""

from pathlib import Path

import click
import pytest

from assay.cli.main import cli

COMMANDS_IN_WORDS = {
    "doctor please": "assay doctor",
    "please doctor": "assay doctor",
    "docter please": "assay doctor",
    "the doctor, please!": "assay doctor",
    "help me": "assay --help",
    "help please": "assay --help",
    "show me my runs": "assay runs show",
    "list my runs": "assay runs list",
    "list all runs please": "assay runs list",
    "runs list": "assay runs list",
    "runs lsit": "assay runs list",
    "my runs": "assay runs",
    "delete all runs": "assay runs rm",
    "remove this run": "assay runs rm",
    "export the report": "assay runs export",
    "open my report": "assay runs open",
    "resume the run": "assay runs resume",
    "cancel this run": "assay runs cancel",
    "list my documents": "assay docs list",
    "add documents": "assay docs add",
    "add some documents": "assay docs add",
    "docs search": "assay docs search",
    "search my documents": "assay docs search",
    "list collections": "assay docs list",
    "the models": "assay models",
    "all models": "assay models",
    "set a key": "assay keys set",
    "list keys": "assay keys list",
    "show settings": "assay config",
    "list settings": "assay config list",
    "add a user": "assay users add",
    "list users": "assay users list",
    "list conversations": "assay threads list",
    "show history": "assay runs show",
    "serve this": "assay serve",
    "server version": "assay serve",
    "verify this": "assay verify",
    "db check": "assay db check",
    "schedule list": "assay schedule list",
    "list schedules": "assay schedule list",
}

QUESTIONS = """
    doctor shortage in rural France
    history of the metric system
    history of models
    show the causes of the 1929 crash
    how do I add documents
    what is a worker
    What is a lease?
    Who runs the docs team at Python?
    list the moons of Jupiter
    help for people with hay fever
    how to export wine from Chile
    search engines before Google
    serve and volley tennis
    the batch process in brewing
    open source licences compared
    key exchange protocols
    config files in Linux distributions
    research on sleep
    plan of the city of Berlin
    chat programs of the 1990s
    schedule of the 2026 world cup
    worker bees
    model railways
    thread pitch of M8 screws
    claims of homeopathy
    fetch in JavaScript
    run times of marathon winners
    database migration strategies
    version control before Git
    cancel culture
    resume writing tips
    delete key on Mac keyboards
    remove rust from iron
    new documents released about JFK
    user interfaces of the Xerox Alto
    verify a proof by computer
    view from the Eiffel tower
    ask not what your country can do for you
    Wie hoch ist der Eiffelturm?
    フランスの首都はどこですか
    北京是中国的首都吗
    tides at Brest
    PEP 8
""".strip().splitlines()


def meant(words: str, *options: str) -> list[str]:
    """The command line that `assay WORDS` is taken for."""
    context = cli.make_context("assay", [words, *options])
    return [*context._protected_args, *context.args]


@pytest.mark.parametrize("words", COMMANDS_IN_WORDS)
def test_a_command_in_words_is_told_and_not_run(words: str):
    with pytest.raises(click.UsageError) as refused:
        meant(words)
    assert f"did you mean '{COMMANDS_IN_WORDS[words]}'?" in refused.value.message
    assert "to research the words: assay research '" in refused.value.message


@pytest.mark.parametrize("words", [line.strip() for line in QUESTIONS])
def test_a_question_or_a_topic_is_researched(words: str):
    assert meant(words, "--offline") == ["research", words, "--offline"]


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ("https://example.org/harbor.html", "assay fetch https://example.org/harbor.html"),
        ("HTTP://EXAMPLE.ORG", "an address alone is no question"),
        ("notes.pdf", "--in notes.pdf"),
        ("docs/", "a path alone is no question"),
        ("../papers/a.docx", "--in ../papers/a.docx"),
        ("???", "a question has words"),
        ("  ...  ", "a question has words"),
    ],
)
def test_a_path_an_address_or_nothing_is_told_what_to_do_with_it(words: str, way: str):
    with pytest.raises(click.UsageError) as refused:
        meant(words)
    assert way in refused.value.message


def test_a_file_of_any_name_is_no_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "minutes of May").write_text("The harbour was closed.")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(click.UsageError, match="--in 'minutes of May'"):
        meant("minutes of May")


def test_over_named_documents_and_after_research_any_words_are_a_question():
    assert meant("doctor please", "--in", "docs/")[0] == "research"
    assert cli.make_context("assay", ["research", "doctor please"]).args == ["doctor please"]
