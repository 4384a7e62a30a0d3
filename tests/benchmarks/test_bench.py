"""The benchmark runs, and its table has every row. Nothing here asserts a time."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from benchmarks import peers
from benchmarks.__main__ import main
from benchmarks.graphs import SHAPES, ground, steps
from benchmarks.measures import COMMANDS, MEASURES
from benchmarks.symbolic import desk, guards, text
from cfrc.lang.load import load
from cfrc.model.verdict import Status
from cfrc.source import Source
from cfrc.verify.admission import admit


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_ground_graphs_are_admitted_without_the_solver(shape: str, named: bool) -> None:
    plan = ground(shape, 12, named)
    verdict = admit(plan.contract, plan.proposal)
    assert verdict.status is Status.ADMITTED
    assert verdict.stats.solved == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_steps_are_in_an_executable_order(shape: str) -> None:
    for item, *needs in steps(shape, 50):
        assert all(0 <= n < item for n in needs)
    peers.floor(ground(shape, 50))


def test_a_diamond_splits_and_joins() -> None:
    assert steps("diamond", 5) == ((1, 0, 0), (2, 1, 1), (3, 1, 1), (4, 2, 3), (5, 4, 4))


def test_symbolic_specs_mean_what_their_rows_say() -> None:
    def status(spec_text: str) -> Status:
        spec = load(Source("<test>", spec_text))
        (contract,), (proposal,) = spec.contracts.values(), spec.proposals.values()
        return admit(contract, proposal).status

    assert status(desk(4)) is Status.ADMITTED
    assert status(guards(6, hole=False)) is Status.ADMITTED
    assert status(guards(6)) is Status.REFUSED


@pytest.mark.parametrize("count", [60, 120, 1200])
def test_texts_have_the_length_that_is_asked_for(count: int) -> None:
    assert len(text(count).splitlines()) == count


@pytest.fixture(scope="module")
def rows() -> Iterator[list[dict[str, object]]]:
    """One quick run of everything, as JSON."""
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("builtins.print", lambda *parts, **_: written.extend(map(str, parts)))
        assert main(["--quick", "--json"]) == 0
    yield json.loads("\n".join(written))["rows"]


def test_every_group_has_rows(rows: list[dict[str, object]]) -> None:
    assert [*dict.fromkeys(r["group"] for r in rows)] == list(MEASURES)
    assert all(isinstance(r["ms"], float) for r in rows)


def test_every_command_is_started_and_succeeds(rows: list[dict[str, object]]) -> None:
    started = {r["name"]: r["note"] for r in rows if r["group"] == "start"}
    for command, _, _ in COMMANDS:
        assert started[f"cfrc {command}"] == ""


def test_peers_and_aims_stand_beside_the_ground_rows(rows: list[dict[str, object]]) -> None:
    first = next(r for r in rows if r["group"] == "ground")
    assert first["aim_ms"] == 0.2
    assert set(first["peers"]) == {"replay floor", "unified-planning"}  # type: ignore[call-overload]
    assert str(first["note"]).startswith("admitted, ")


def test_an_absent_peer_is_said_to_be_absent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    assert main(["--quick", "--only", "decision"]) == 0
    assert "Cedar absent" in capsys.readouterr().out


def test_a_case_that_takes_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.measures.CUTOFF", 0.001)
    assert main(["--quick", "--only", "ground"]) == 0
    assert "given up" in capsys.readouterr().out
