"""The rooms of ARCHITECTURE.md: nothing imports upwards, and start-up pays for nothing heavy."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "cfrc"

BELOW: dict[str, set[str]] = {
    "data": set(),
    "source": set(),
    "collector": set(),
    "codes": {"data"},
    "model": {"source"},
    "lang": {"source", "data", "collector", "model"},
    "verify": {"source", "collector", "model"},
    "handoff": {"source", "model", "lang", "verify"},
    "lifecycle": {"source", "model", "lang", "verify", "handoff"},
    "finality": {"source", "model", "lang", "verify"},
    "adapters": {"source", "collector", "model", "lang", "handoff"},
    "report": {"source", "data", "codes", "model", "lang", "verify", "handoff", "lifecycle", "finality"},
    "testing": {"source", "data", "codes", "model", "lang", "verify", "handoff", "lifecycle", "finality", "report"},
}
BELOW["cli"] = set(BELOW)
BELOW["__main__"] = {"cli"}
"""What each room may import besides itself."""

ONLY_IN = {
    "z3": {"verify"},
    "networkx": {"model", "verify"},
    "lark": {"lang"},
    "httpx": {"handoff"},
    "mcp": {"handoff", "cli"},
    "scipy": {"handoff"},
    "click": {"cli"},
    "rich": {"report", "cli"},
    "hypothesis": {"testing"},
    "pytest": {"testing"},
}
"""Third-party packages that belong to certain rooms."""

WITHIN_HANDOFF: dict[str, set[str]] = {
    "tools": set(),
    "wire": set(),
    "mcp_answers": set(),
    "mcp_tools": set(),
    "freezing": set(),
    "closing": {"freezing"},
    "running": {"freezing"},
    "guarding": {"freezing", "running"},
    "auditing": {"freezing", "running"},
}
"""What each part of the room `handoff` may import besides itself and what stands beside the five."""

MODULES = sorted(p.relative_to(PACKAGE) for p in PACKAGE.rglob("*.py"))


def room_of(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def imports(module: Path) -> Iterator[str]:
    """The absolute names of everything that a module imports, at any depth of its code."""
    for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            base = node.module or ""
            yield from (f"{base}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("module", [m for m in MODULES if m != Path("__init__.py")], ids=str)
def test_nothing_imports_upwards(module: Path) -> None:
    room = room_of(module)
    assert room in BELOW, f"{module}: a new room needs a line in ARCHITECTURE.md and in this test"
    for name in imports(module):
        top, _, rest = name.partition(".")
        if top == "cfrc":
            other = rest.partition(".")[0]
            facade = other == "__version__" and room in {"report", "cli"}
            assert facade or other == room or other in BELOW[room], f"{module} imports {name}"
        assert room in ONLY_IN.get(top, {room}), f"{module} imports {name}"


def test_the_parts_of_a_handoff_are_in_order() -> None:
    beside = {"tools", "wire", "mcp_answers", "mcp_tools"}
    for module in MODULES:
        if room_of(module) != "handoff" or module.name == "__init__.py":
            continue
        own = module.parts[1].removesuffix(".py")
        for name in imports(module):
            if name.startswith("cfrc.handoff."):
                other = name.split(".")[2]
                assert other == own or other in WITHIN_HANDOFF[own] | beside, f"{module} imports {name}"


def test_verification_neither_opens_files_nor_prints() -> None:
    for module in MODULES:
        if room_of(module) not in {"verify", "model"}:
            continue
        for node in ast.walk(ast.parse((PACKAGE / module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"open", "print", "input"}, f"{module}:{node.lineno}"


def test_every_module_says_what_it_turns_into_what() -> None:
    for module in MODULES:
        text = (PACKAGE / module).read_text(encoding="utf-8")
        if text.strip():
            doc = ast.get_docstring(ast.parse(text)) or ""
            assert re.search(r"\bturns?\b", doc.lower()), f"{module} does not say what it turns into what"


def loaded_by(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has loaded after running the code."""
    report = "\nimport sys; print('\\n'.join(sorted({m.partition('.')[0] for m in sys.modules})), file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return set(run.stderr.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_by("import cfrc") & {"z3", "networkx", "hypothesis", "pydantic", "rich", "lark", "click"}


def test_every_public_name_can_be_fetched() -> None:
    import cfrc

    assert set(cfrc.__all__) == {"__version__"}.union(*cfrc._HOMES.values())
    for name in cfrc.__all__:
        assert getattr(cfrc, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cfrc.nothing
