"""Turns a case and its verdict into a spec file that loads as it is, and that ``cfrc test`` runs again.

A domain of the spec library is imported by its name there; any other is copied beside the cases, with what it imports,
because imports never lead out of a file's folder.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cfrc.adapters.handoffs import Case
from cfrc.adapters.text import contract_text, proposal_text
from cfrc.lang.imports import library, read_all
from cfrc.model.verdict import Status, Verdict

WORDS = {Status.ADMITTED: "admits", Status.REFUSED: "rejects"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cases are: the folder, and the name under which a file in it imports the domain."""

    folder: Path
    domain: str


def place(domain: Path, out: Path | None) -> Place:
    """The folder ``out`` made ready for cases of a domain; without ``out`` the domain's own, where nothing is written.

    Raises ``OSError`` when the folder cannot be made, and :class:`cfrc.lang.diagnostics.SpecError` as loading does.
    """
    domain = domain.resolve()
    if out is None:
        return Place(domain.parent, domain.name)
    out.mkdir(parents=True, exist_ok=True)
    shared = library()
    if shared is not None and domain.is_relative_to(shared):
        return Place(out, domain.relative_to(shared).as_posix())
    for source in read_all(domain).sources:
        path = Path(source.name).resolve()
        if path.is_relative_to(domain.parent) and path.parent != out.resolve():
            copy = out / path.relative_to(domain.parent)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(source.text, encoding="utf-8")
    return Place(out, domain.name)


def case_text(case: Case, domain: str) -> str:
    """The contract and the proposal of a case, as a file that imports the domain."""
    parts = [f'import "{domain}"\n', contract_text(case.contract)]
    if case.proposal is not None:
        parts.append(proposal_text(case.proposal))
    return "\n".join(parts)


def check_line(case: Case, verdict: Verdict) -> str:
    """The check that the verdict passes: ``check p rejects binding, grounding``."""
    word = WORDS.get(verdict.status, verdict.status.word)
    kinds = ", ".join(sorted({f.kind for f in verdict.errors})) if verdict.status is Status.REFUSED else ""
    subject = f"contract {case.name}" if case.proposal is None else case.proposal.name
    return f"check {subject} {word} {kinds}".rstrip() + "\n"
