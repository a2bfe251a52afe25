"""Questions which lead over several documents, with the built-in model over real files: no script."""

from __future__ import annotations

from pathlib import Path

import pytest
from sampling import crossed

from assay import Assay
from assay.core.brief import SetDepth
from assay.core.report import Report

FIRST = "Which of the EIPs required by EIP-9 was created first?"
LAST = FIRST.replace("first", "last")
WROTE = "Who wrote the PEP that replaced PEP 5?"


def eip(number: int, title: str, created: str, requires: str = "") -> str:
    needs = f"requires: {requires}\n" if requires else ""
    header = f"eip: {number}\ntitle: {title}\nauthor: Ann Lee\nstatus: Final\ncreated: {created}\n{needs}"
    return f"---\n{header}---\n\n## Abstract\n\n{title} is about tokens and contracts of the chain.\n"


def pep(number: int, title: str, author: str, **fields: str) -> str:
    lines = {"PEP": str(number), "Title": title, "Author": author, "Status": "Final", "Created": "01-Jan-2001"}
    header = "\n".join(f"{key}: {value}" for key, value in (lines | fields).items())
    return f"{header}\n\n\nAbstract\n========\n\n{title} is about releases of the language.\n"


FILES = {
    "eip-9.md": eip(9, "Blob gas", "2024-02-01", "20, 155, 1559"),
    "eip-20.md": eip(20, "Token standard", "2015-11-19"),
    "eip-155.md": eip(155, "Replay protection", "2016-10-14"),
    "eip-1559.md": eip(1559, "Fee market", "2019-04-13"),
    "eip-7.md": eip(7, "Delegate call", "2015-11-15"),
    "pep-0005.txt": pep(5, "Guidelines for evolution", "Paul Prescod", **{"Superseded-By": "387"}),
    "pep-0387.txt": pep(387, "Backwards compatibility", "Benjamin Peterson"),
    "pep-0006.txt": pep(6, "Bug fix releases", "Aahz"),
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


async def researched(question: str, sources: Path, strategy: str, depth: SetDepth | None = None) -> Report:
    async with Assay() as assay:
        return await assay.start(question, sources=[sources], strategy=strategy, depth=depth).report()


def cited(report: Report) -> set[str]:
    return {Path(source.url).name for source in report.sources if source.number is not None}


ANSWERS = {FIRST: "Created of EIP-20 (", LAST: "Created of EIP-1559 ("}


@pytest.mark.parametrize(("question", "strategy"), crossed(ANSWERS, ["orchestrated", "reflective"]))
async def test_the_one_created_first_or_last(question: str, strategy: str, documents: Path) -> None:
    report = await researched(question, documents, strategy)
    assert report.markdown.startswith(ANSWERS[question])
    assert cited(report) == {"eip-9.md", "eip-20.md", "eip-155.md", "eip-1559.md"}
    assert report.summary.claims == report.summary.grounded_count
    assert report.plan is not None
    assert report.plan.steps[0].title == "What does EIP-9 require?"


@pytest.mark.parametrize(("strategy", "depth"), crossed(["orchestrated", "reflective"], ["light", "medium"]))
async def test_what_is_asked_of_a_document_another_names(strategy: str, depth: SetDepth, documents: Path) -> None:
    report = await researched(WROTE, documents, strategy, depth)
    first = report.markdown.splitlines()[0]
    assert first.startswith("Author of PEP 387 (Backwards compatibility): Benjamin Peterson")
    assert cited(report) == {"pep-0005.txt", "pep-0387.txt"}
    assert {claim.verdict for claim in report.claims} == {"supported"}


async def test_where_the_way_ends_nothing_is_made_up(documents: Path) -> None:
    report = await researched("Who wrote the PEP that replaced PEP 6?", documents, "orchestrated")
    assert "Benjamin Peterson" not in report.markdown
    assert report.summary.unsupported == 0
