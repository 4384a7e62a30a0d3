"""Whatever parses either resolves or is refused with diagnostics that have a place; nothing else ever happens."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import SpecError
from cfrc.lang.imports import Loaded
from cfrc.lang.jsonforms import ledger_to_json
from cfrc.lang.load import load, resolve
from cfrc.lang.parse import parse_file
from cfrc.model.check import Spec
from cfrc.source import Source
from tests.lang import trees
from tests.lang.test_json_forms import reread_contract, reread_proposal, spec_text
from tests.lang.test_resolve_examples import BILLING, CONTRACT, LEDGER, PROPOSAL

TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|[^\s\w]+|\s+')
TEXTS = (spec_text(), BILLING + CONTRACT + PROPOSAL + LEDGER)
DOMAIN = parse_file(Source("<d>", BILLING))[0].declarations[0]


def judged(loaded: Loaded) -> Spec | None:
    try:
        return resolve(loaded)
    except SpecError as error:
        for d in error.diagnostics:
            assert re.fullmatch(r"(NAM|EXP)\d{3}", d.code), d
            assert d.span is not None and d.span.start <= d.span.end
            assert d.message and not d.message.endswith(".") and all(c.isprintable() for c in d.message), d.message
    return None


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(trees.file)
def test_any_tree(file: t.File) -> None:
    judged(Loaded(file.declarations, (DOMAIN, *file.declarations)))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_texts_with_swapped_words(data: st.DataObject) -> None:
    tokens = TOKEN.findall(data.draw(st.sampled_from(TEXTS)))
    words = sorted({w for w in tokens if not w.isspace()})
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(tokens) - 1))
        tokens[at] = data.draw(st.sampled_from(words)) if not tokens[at].isspace() else tokens[at]
    file, diagnostics = parse_file(Source("<fuzz>", "".join(tokens)))
    if diagnostics:
        return
    spec = judged(Loaded(file.declarations, file.declarations))
    if spec is not None:
        for contract in spec.contracts.values():
            assert replace(reread_contract(contract), digest=contract.digest) == contract
        for proposal in spec.proposals.values():
            if not any(n.faults for n in proposal.nodes):
                assert reread_proposal(proposal, spec.contracts[proposal.contract]).nodes == proposal.nodes
        for ledger in spec.ledgers.values():
            assert ledger_to_json(ledger)


def test_the_texts_are_right() -> None:
    for text in TEXTS:
        assert load(Source("<t>", text)).contracts
