"""Has a judge rate claims: `mutations` and `grounding` with `--judge PROVIDER:NAME`.

`--judge oracle` is a judge made of code. It calls every sentence supported, and finds every hidden value: that of the
claim before its edit if that is known, else the claim's own if the passage has it. So it believes everything and
overlooks nothing; every objection comes from the comparison by code. It measures requests and comparison, not a model.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from assay.app.claim_judge import judge_rows
from assay.core.claims import HOLDING
from assay.core.messages import Price, Profile, Reply, Request, ToolCall
from assay.core.usage import Usage
from assay.models.script import Scripted
from assay.services.claim_checks import BadRow, CheckedRow, ClaimRow
from assay.verify.amounts import tokens
from assay.verify.analyzed_text import fold_text
from assay.verify.checks import examine
from assay.verify.evidence import text_evidence
from assay.verify.judge.masks import MaskedClaim, NameScope, mask_values
from assay.verify.rules.numbers import states

ORACLE = "oracle"
A_CLASS = 25
_HIDDEN = re.compile(r"\{([A-Z])\} is a (?:number|date|name)")
_REFERENCE = re.compile(r"\[[\d.,]+\]")
"""Numbers of sources in labelled claims: another one says nothing else."""
REFUSED = ("unsupported", "contradicted", "partial")


class Oracle:
    """Knows the rows it will be asked about, and of some what the claim was before it was edited."""

    def __init__(self, rows: Sequence[ClaimRow], before: Mapping[str, str]) -> None:
        self._known: dict[str, tuple[ClaimRow, bool]] = {}
        self._before = before
        for row in rows:
            for names in (True, False):
                masked = _masked(row.claim, row.doc, names=names)
                self._known[" ".join(masked.text.split())] = (row, names)

    def __call__(self, request: Request) -> Reply:
        """The answer to one question."""
        sentence = request.user_texts("sentence")[0]
        found = self._known.get(sentence.partition("\nHidden: ")[0].partition("\nSentence and")[0])
        values = self._values(*found) if found else {}
        slots = [{"slot": letter, "value": values.get(letter) or "not stated"} for letter in _HIDDEN.findall(sentence)]
        arguments = {"slots": slots, "reason": "", "verdict": "supported"}
        return Reply(calls=(ToolCall(id="1", name="verdict", arguments=arguments),), stop="calls")

    def _values(self, row: ClaimRow, names: bool) -> dict[str, str]:
        before, masked = self._before.get(str(row.id)), _masked(row.claim, row.doc, names=names)
        was = _masked(before, row.doc, names=names) if before else masked
        same = was.text == masked.text
        evidence = tokens(fold_text(row.doc).text)
        found = {}
        for at, each in enumerate(masked.hidden):
            true = was.hidden[at].text if same else each.text
            own = tokens(fold_text(true).text)
            there = any(states(token, one, evidence) for token in evidence for one in own)
            found[each.letter] = true if there or (not own and true in row.doc) else ""
        return found


def _masked(claim: str, doc: str, *, names: NameScope = "all") -> MaskedClaim:
    return mask_values(claim, examine(claim, text_evidence(doc)), names=names)


async def verdicts(
    rows: Sequence[ClaimRow], name: str, before: Mapping[str, str] = {}
) -> tuple[list[CheckedRow], Usage]:
    """The rows' verdicts by the judge `name`; `before` are claims before they were edited, by the rows' ids."""
    found: list[CheckedRow] = []

    def told(row: CheckedRow | BadRow) -> None:
        assert isinstance(row, CheckedRow)
        found.append(row)

    profile = Profile(name=ORACLE, price=Price(input=0.0, output=0.0))
    models = {ORACLE: Scripted(Oracle(rows, before), profile=profile)} if name == ORACLE else {}
    used = await judge_rows(rows, told, model=name, remember=False, models=models)
    return found, used


Edit = Callable[[str, str, random.Random], str | None]
Pairs = Sequence[tuple[str, str]]
"""Claims and the passages which support them."""


async def edited(pairs: Pairs, edits: Mapping[str, Edit], name: str, a_class: int) -> dict[str, list[CheckedRow]]:
    """The verdicts on edited claims, at most `a_class` of each way."""
    rows: list[ClaimRow] = []
    before: dict[str, str] = {}
    for way, edit in edits.items():
        count = 0
        for at, (claim, passage) in enumerate(pairs):
            made = edit(claim, passage, random.Random(f"{way}/{at}"))
            if count == a_class:
                break
            if made is None or (_REFERENCE.sub("", made) == _REFERENCE.sub("", claim) and way != "as it is"):
                continue
            count += 1
            rows.append(ClaimRow(id=f"{way}/{at}", doc=passage, claim=made))
            before[f"{way}/{at}"] = claim
    found, used = await verdicts(rows, name, before)
    print(f"judged by {name}: {used.model_calls} calls, {used.tokens:,} tokens, {used.usd:.2f} US dollars")
    ways: dict[str, list[CheckedRow]] = {way: [] for way in edits}
    for row in found:
        ways[str(row.id).partition("/")[0]].append(row)
    return ways


def table(title: str, ways: Mapping[str, Sequence[CheckedRow]]) -> None:
    """How many the rules objected to, how many the judge, and what is left."""
    print(f"{title:<26}{'tried':>6}{'rules':>9}{'judge':>9}{'both':>9}{'unchecked':>11}{'supported':>11}")
    whole: list[CheckedRow] = []
    for way, rows in (*ways.items(), ("all", whole)):
        if way != "all":
            whole += rows
        judged = Counter(row.verdict for row in rows if row.rule == "judge")
        refused = sum(judged[verdict] for verdict in REFUSED)
        rules = sum(row.rule != "judge" and row.verdict in REFUSED for row in rows)
        supported = sum(row.verdict in HOLDING for row in rows)
        shares = [each / max(1, len(rows)) for each in (rules, refused, rules + refused)]
        print(
            f"  {way:<24}{len(rows):>6}"
            + "".join(f"{share:>9.1%}" for share in shares)
            + f"{judged['unchecked']:>11}{supported:>11}"
        )
