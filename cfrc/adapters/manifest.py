"""Turns journals and manifests of recorded handoffs into the trials that an audit judges.

A manifest is JSON, one object a line: ``{"run", "contract"?, "proposal"?, "journal"?, "reference"?, "transcript"?,
"usage"?}``, with paths relative to the manifest. ``contract`` may be left out where the journal tells it.
Where a file declares several contracts or proposals: ``{"file", "name"}``. ``transcript`` is a file, or several that
follow each other; ``usage`` maps stages to a transcript or to counters.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from cfrc.adapters.transcripts import read_transcript
from cfrc.handoff.auditing.trials import Trial
from cfrc.lang.diagnostics import Diagnostic, SpecError, did_you_mean, quoted
from cfrc.lang.files import read_source
from cfrc.lang.jsonread import Json, JsonProblem, read_json_values
from cfrc.lang.jsonvalues import kind_of
from cfrc.lang.load import load_contract, load_proposal
from cfrc.model.contract import Contract
from cfrc.model.graph import Proposal
from cfrc.model.transcript import Transcript
from cfrc.source import Source, Span

T = TypeVar("T")

FIELDS = ("run", "contract", "proposal", "journal", "reference", "transcript", "usage")
STAGE = "prefix"
"""The stage that a trial's own transcript is, unless ``usage`` says otherwise."""

_SQLITE = b"SQLite format 3\0"


def is_journal(path: str | Path) -> bool:
    """Whether the file begins as a SQLite database does."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        return False  # whoever reads it as a text says what is wrong with it


def read_manifest(source: Source, roots: Sequence[str | Path] = ()) -> list[Trial]:
    """The trials of a manifest, in order. ``roots`` are more folders that imports may name files of.

    Raises :class:`SpecError` at the first line that cannot be used: AUD001 (what is there), AUD002 (what is missing),
    AUD003 (two runs of one name), AUD004 (no journal), or the codes of a file that a line names.
    """
    reader = _Reader(source, tuple(roots))
    found = [reader.trial(j) for j in _lines(source)]
    if not found:
        raise _wrong("AUD002", "the manifest names no run", Span(source, 0, 0), "each line is one run, " + _EXAMPLE)
    return found


_EXAMPLE = 'such as {"run": "r1", "contract": "r1.cfrc", "journal": "r1.journal"}'
_STAGES = 'such as {"construct": {"input_tokens": 812, "output_tokens": 96}, "residual": "r1.chat.json"}'


def distinct(trials: Sequence[Trial]) -> list[Trial]:
    """The trials, if each has its own name: they are counted by it. Raises :class:`SpecError` (AUD003)."""
    seen: set[str] = set()
    for trial in trials:
        if trial.name in seen:
            raise _wrong("AUD003", f"the run {quoted(trial.name, 200)} is given twice", None, "name each run once")
        seen.add(trial.name)
    return list(trials)


def _lines(source: Source) -> list[Json]:
    try:
        return list(read_json_values(source))
    except JsonProblem as problem:
        raise SpecError([Diagnostic(problem.code, problem.message, problem.span, problem.help)]) from None


def _wrong(code: str, message: str, at: Json | Span | None, help: str | None = None) -> SpecError:
    return SpecError([Diagnostic(code, message, at.span if isinstance(at, Json) else at, help)])


class _Reader:
    """Reads one manifest: paths are relative to its folder."""

    def __init__(self, source: Source, roots: tuple[str | Path, ...]) -> None:
        self.source, self.roots = source, roots
        self.folder = Path(os.path.dirname(source.name))
        self.names: set[str] = set()

    def trial(self, j: Json) -> Trial:
        if not isinstance(j.value, dict):
            raise _wrong("AUD001", f"expected a run, an object; found {kind_of(j)}", j, _EXAMPLE)
        members = j.value
        for name in members:
            if name not in FIELDS:
                known = ", ".join(f"`{f}`" for f in FIELDS)
                help = did_you_mean(name, FIELDS, f"a run has {known}")
                raise _wrong("AUD001", f"a run has no field {quoted(name)}", j.key_span(name), help)
        name = self._name(j, members)
        if "contract" not in members and ("journal" not in members or "proposal" in members):
            help = "name the contract's file; only a journal can do without, which tells it itself"
            raise _wrong("AUD002", f"the run {quoted(name)} has no field `contract`", j, help)
        contract = self._contract(members.get("contract"), "contract")
        proposal = self._proposal(members.get("proposal"), contract)
        journal = self._journal(members["journal"]) if "journal" in members else None
        reference = self._contract(members.get("reference"), "reference")
        if contract is not None and reference is not None and reference.domain.name != contract.domain.name:
            message = f"the reference is for {quoted(reference.domain.name)}, the contract for another domain"
            raise _wrong("AUD001", message, members["reference"], f"it has to be for {quoted(contract.domain.name)}")
        transcripts = self._transcripts(members.get("transcript"))
        usage = self._usage(members.get("usage"), transcripts)
        return Trial(name, contract, proposal, journal, reference, transcripts, usage)

    def _name(self, j: Json, members: Mapping[str, Json]) -> str:
        found = members.get("run")
        if found is None:
            raise _wrong("AUD002", "a run has no field `run`", j, 'give each run a name: {"run": "r1", …}')
        name = self._text(found, "run")
        if name in self.names:
            raise _wrong("AUD003", f"the run {quoted(name, 200)} is given twice", found, "name each run once")
        self.names.add(name)
        return name

    def _text(self, j: Json, what: str) -> str:
        if isinstance(j.value, str) and j.value:
            return j.value
        found = "an empty string" if j.value == "" else kind_of(j)
        raise _wrong("AUD001", f"expected text for `{what}`, found {found}", j, _EXAMPLE)

    # -- files --------------------------------------------------------------------------------------------------------

    def _at(self, j: Json, read: Callable[[Source], T], what: str) -> T:
        """What a file holds; complaints about it say where it was named. Raises :class:`SpecError`."""
        place = j.span
        path = self.folder / self._text(j, what)
        try:
            return read(read_source(path, place=place))
        except SpecError as problem:
            raise SpecError(_named(d, place) for d in problem.diagnostics) from None

    def _chosen(self, j: Json, what: str) -> tuple[Json, str | None]:
        """A file, and which of its declarations: ``"FILE"`` or ``{"file": "FILE", "name": "NAME"}``."""
        if not isinstance(j.value, dict):
            return j, None
        for name in j.value:
            if name not in ("file", "name"):
                help = did_you_mean(name, ("file", "name"), "it has `file` and `name`")
                raise _wrong("AUD001", f"`{what}` has no field {quoted(name)}", j.key_span(name), help)
        for name in ("file", "name"):
            if name not in j.value:
                raise _wrong("AUD002", f"`{what}` has no field `{name}`", j, 'such as {"file": "a.cfrc", "name": "b"}')
        return j.value["file"], self._text(j.value["name"], "name")

    def _contract(self, j: Json | None, what: str) -> Contract | None:
        if j is None:
            return None
        file, name = self._chosen(j, what)
        return self._at(file, lambda s: load_contract(s, name, roots=self.roots), what)

    def _proposal(self, j: Json | None, contract: Contract | None) -> Proposal | None:
        if j is None or contract is None:
            return None
        file, name = self._chosen(j, "proposal")
        return self._at(file, lambda s: load_proposal(s, contract, name), "proposal")

    def _journal(self, j: Json) -> Path:
        path = self.folder / self._text(j, "journal")
        if is_journal(path):
            return path
        if not os.path.isfile(path):
            read_source(path, place=j.span)
        help = "name the file that `cfrc run` or `cfrc guard` wrote with `--journal`"
        raise _wrong("AUD004", f"{quoted(str(path), 200)} is not a journal", j, help)

    def _transcripts(self, j: Json | None) -> tuple[Transcript, ...]:
        if j is None:
            return ()
        several = j.value if isinstance(j.value, list) else [j]
        return tuple(self._at(x, read_transcript, "transcript") for x in several)

    # -- counters -----------------------------------------------------------------------------------------------------

    def _usage(self, j: Json | None, transcripts: Sequence[Transcript]) -> Mapping[str, Mapping[str, int]]:
        own: Counter[str] = Counter()
        for t in transcripts:
            own.update(t.usage)
        found: dict[str, Mapping[str, int]] = {STAGE: own} if own else {}
        if j is None:
            return found
        if not isinstance(j.value, dict):
            raise _wrong("AUD001", f"expected the stages of `usage`, an object; found {kind_of(j)}", j, _STAGES)
        for stage, counted in j.value.items():
            if isinstance(counted.value, str):
                found[stage] = self._at(counted, read_transcript, "usage").usage
            elif isinstance(counted.value, dict):
                found[stage] = {name: _count(name, n) for name, n in counted.value.items()}
            else:
                message = f"expected a transcript or counters for {quoted(stage)}, found {kind_of(counted)}"
                raise _wrong("AUD001", message, counted, _STAGES)
        return found


def _count(name: str, j: Json) -> int:
    if isinstance(j.value, int) and not isinstance(j.value, bool) and j.value >= 0:
        return j.value
    raise _wrong("AUD001", f"the counter {quoted(name)} is not a whole number of tokens", j, _STAGES)


def _named(d: Diagnostic, place: Span | None) -> Diagnostic:
    """The complaint, with the place in the manifest that led to it."""
    if place is None or (d.span is not None and d.span.source is place.source):
        return d
    return replace(d, notes=(*d.notes, ("named here", place)))
