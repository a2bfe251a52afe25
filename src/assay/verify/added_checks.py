"""Checks of other packages. They compare a claim with its passages as ours do; an error in one ends no run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from assay.core.claims import CHECKS
from assay.core.errors import UnknownName
from assay.verify.analyzed_text import AnalyzedText, Texts
from assay.verify.evidence import ClaimSlot, SlotFinding


class AddedCheck(msgspec.Struct, frozen=True):
    """A check of another package. `find` is like `rules.negation.find`; a check with the name of ours replaces it."""

    name: str
    package: str
    find: Callable[[AnalyzedText, Texts], Iterable[SlotFinding]]

    def findings(self, claim: AnalyzedText, texts: Texts) -> list[SlotFinding]:
        """Its findings, under its name. If it fails, a finding says so, and the claim is unchecked by it."""
        try:
            return [self._own(each) for each in self.find(claim, texts)]
        except Exception as fault:  # noqa: BLE001 - another's code: its fault is told, and ends no run
            said = f"{type(fault).__name__}: {fault}"
            return [SlotFinding(rule=self.name, slot=ClaimSlot("", 0, 0), outcome="failed", said=said)]

    def _own(self, finding: SlotFinding) -> SlotFinding:
        plain = msgspec.to_builtins(finding) | {"rule": self.name}
        found = msgspec.convert(plain, SlotFinding)
        if found.outcome == "failed":
            raise ValueError("a check raises an exception if it fails")
        return found


def faults(checks: Sequence[AddedCheck], findings: Iterable[SlotFinding]) -> tuple[str, ...]:
    """Messages about failed checks, each once: its package, its first error and the number of claims."""
    failed: dict[str, list[str]] = {}
    for each in findings:
        if each.outcome == "failed":
            failed.setdefault(each.rule, []).append(each.said)
    told = []
    for check in checks:
        if said := failed.get(check.name):
            claims = "1 claim" if len(said) == 1 else f"{len(said)} claims"
            told.append(
                f"the check {check.name!r} of the package {check.package} failed on {claims}, which it left unchecked: "
                f"{said[0]}"
            )
    return tuple(told)


def sound(findings: Iterable[SlotFinding]) -> tuple[SlotFinding, ...]:
    """What was found, without the faults of checks: they tell nothing of a claim."""
    return tuple(each for each in findings if each.outcome != "failed")


def require_known(off: Iterable[str], added: Iterable[AddedCheck]) -> None:
    """Make sure that there is a check with each name.

    Raises:
        UnknownName: there is none; the message suggests the nearest.
    """
    names = (*CHECKS, *(each.name for each in added))
    for name in off:
        if name not in names:
            raise UnknownName("check", name, names)
