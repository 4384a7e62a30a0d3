"""Turns a proposal's steps into the graph H: typed argument sources, guards and claims, with faults where they fail.

Resolution never rejects a proposal (``faults``); linear in its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cfrc.lang import tree as t
from cfrc.lang.diagnostics import quoted
from cfrc.lang.resolve.expressions import Resolver
from cfrc.lang.resolve.faults import collect, fault, in_argument, in_guard
from cfrc.lang.resolve.problems import Problems
from cfrc.lang.resolve.scope import Scope
from cfrc.lang.resolve.typing import strip
from cfrc.model.contract import Contract
from cfrc.model.domain import Tool
from cfrc.model.expr import Expr, Lit, NodeResult, Var
from cfrc.model.graph import Call, Fault, Proposal, Terminal
from cfrc.model.types import ANY, BOOL, Optional, Type, fits


def resolve_proposal(decl: t.ProposalDecl, contract: Contract) -> Proposal:
    """The proposal graph. Whatever is wrong with it is a fault on its node; nothing is raised."""
    return _Proposal(decl, contract).resolve()


class _Proposal:
    """One proposal while it is being resolved."""

    def __init__(self, decl: t.ProposalDecl, contract: Contract) -> None:
        self.decl, self.contract, self.domain = decl, contract, contract.domain
        self.problems = Problems()
        self.r = Resolver(self.problems)
        self.obligations = {o.name: o for o in contract.obligations}
        self.ids = self._ids()
        self.first: dict[str, int] = {}
        for i, id_ in enumerate(self.ids):
            self.first.setdefault(id_, i)
        self.nodes = {id_: self._result(decl.steps[i]) for id_, i in self.first.items()}
        names: dict[str, Expr] = {id_: NodeResult(node=id_, type=type_) for id_, type_ in self.nodes.items()}
        # Contract names win over nodes: a node that clashes is faulty anyway.
        names |= {n: Var(name=n, kind="name", type=k.type) for n, k in contract.names.items()}
        self.arguments = Scope(self.domain, names, fluents=False)
        self.guards = Scope(self.domain, names, fluents=False, nodes=self.nodes)

    def _ids(self) -> list[str]:
        """The id of every step: the written one, or a generated one for a terminal without."""
        taken = {s.id.text for s in self.decl.steps if s.id is not None} | set(self.contract.names)
        found: list[str] = []
        count = {"done": 1, "yield": 1}
        for step in self.decl.steps:
            if step.id is not None:
                found.append(step.id.text)
                continue
            assert isinstance(step, t.TerminalStep)
            name = step.kind if count[step.kind] == 1 else f"{step.kind}{count[step.kind]}"
            while name in taken:
                count[step.kind] += 1
                name = f"{step.kind}{count[step.kind]}"
            count[step.kind] += 1
            taken.add(name)
            found.append(name)
        return found

    def _result(self, step: t.CallStep | t.TerminalStep) -> Type:
        tool = self.domain.tools.get(step.tool.text) if isinstance(step, t.CallStep) else None
        return tool.result if tool is not None else ANY

    def resolve(self) -> Proposal:
        nodes: list[Call | Terminal] = []
        for i, (id_, step) in enumerate(zip(self.ids, self.decl.steps, strict=True)):
            faults: list[Fault] = []
            place = step.id.span if step.id is not None else step.span
            if self.first[id_] != i:
                line = self.decl.steps[self.first[id_]].span.line
                faults.append(
                    fault("TYP006", f"duplicate node id {quoted(id_)}", place, f"it is first used in line {line}")
                )
            if id_ in self.contract.names:
                help = "a node must not take the name of a binding or a known value"
                faults.append(fault("TYP006", f"node id {quoted(id_)} is a name of the contract", place, help))
            if isinstance(step, t.CallStep):
                nodes.append(self._call(id_, step, faults))
            else:
                nodes.append(self._terminal(id_, step, faults))
        answers = self.decl.answers.value if self.decl.answers is not None else None
        contract = self.decl.contract.text or self.contract.name  # a JSON form need not name it
        return Proposal(self.decl.name.text, contract, tuple(nodes), answers, (), self.decl.span)

    # --- calls ------------------------------------------------------------------------------------------------------

    def _call(self, id_: str, step: t.CallStep, faults: list[Fault]) -> Call:
        tool = self.domain.tools.get(step.tool.text)
        if tool is None:
            allowed = ", ".join(quoted(a) for a in sorted(self.contract.allow)[:12]) or "nothing"
            help = self.problems.suggest(step.tool.text, self.domain.tools, f"allowed: {allowed}")
            faults.append(fault("TYP001", f"unknown tool {quoted(step.tool.text)}", step.tool.span, help))
        args = self._args(step, tool, faults)
        polls = step.polls.value if step.polls is not None else 1
        if polls < 1:
            faults.append(
                fault("TYP005", "a call is polled at least once", step.polls.span if step.polls else step.span)
            )
            polls = 1
        return Call(
            id=id_,
            tool=step.tool.text,
            args=args,
            when=self._guard(step.when, faults),
            after=self._after(step.after, faults) or (),
            until=self._guard(step.until, faults),
            polls=polls,
            expect=self._guard(step.expect, faults),
            covers=self._known(step.covers, "covers", faults),
            faults=tuple(faults),
            span=step.span,
        )

    def _args(self, step: t.CallStep, tool: Tool | None, faults: list[Fault]) -> dict[str, Expr]:
        params = {p.name: p for p in tool.params} if tool is not None else {}
        args: dict[str, Expr] = {}
        given: set[str] = set()
        nameless = [arg for arg in step.args if arg.name is None]
        if nameless:
            named = {arg.name.text for arg in step.args if arg.name is not None}
            meant = dict(zip([n for n in params if n not in named], nameless, strict=False))
            given |= meant.keys()  # (they are not missing, only nameless)
            faults.append(fault("TYP003", "arguments need their names", nameless[0].span, _named(tool, meant)))
        for arg in step.args:
            if arg.name is None:
                continue
            name = arg.name.text
            if name in given:
                faults.append(fault("TYP003", f"argument {quoted(name)} is given twice", arg.name.span))
                continue
            given.add(name)
            if tool is not None and name not in params:
                help = self.problems.suggest(name, params, _signature(tool))
                message = f"{quoted(tool.name)} has no parameter {quoted(name)}"
                faults.append(fault("TYP003", message, arg.name.span, help))
                continue
            value = self._argument(arg, params[name].type if tool is not None else ANY, faults)
            if value is not None:
                args[name] = value
        for name, param in params.items():
            if name not in given and param.default is None:
                message = f"{quoted(step.tool.text)} lacks its argument `{name}`"
                faults.append(fault("TYP002", message, step.tool.span, _signature(tool)))
        return args

    def _argument(self, arg: t.Arg, wanted: Type, faults: list[Fault]) -> Expr | None:
        """The typed source of an argument, or ``None`` with its faults."""
        if isinstance(arg.value, t.Wildcard):
            faults.append(fault("GRD001", "`_` gives the argument no value", arg.value.span))
            return None
        value = self.r.resolve(arg.value, self.arguments, wanted)
        if collect(self.problems, faults, in_argument):
            return None
        # `T?` where `T` is wanted is an implied expectation: the kernel asks whether the value may be absent.
        actual = (
            value.type.item if isinstance(value.type, Optional) and not isinstance(wanted, Optional) else value.type
        )
        absent = isinstance(value, Lit) and value.value is None and not isinstance(wanted, Optional) and wanted != ANY
        if absent or not fits(actual, wanted):
            name = arg.name.text if arg.name is not None else ""
            found = "an absent value" if absent else quoted(str(value.type), 80)
            message = f"expected {quoted(str(wanted), 80)} for the argument `{name}`, found {found}"
            faults.append(fault("TYP004", message, arg.value.span))
            return None
        return value

    # --- guards, dependencies, claims -------------------------------------------------------------------------------

    def _guard(self, node: t.ExprNode | None, faults: list[Fault]) -> Expr | None:
        """A condition; a faulty one is left out, and the fault stays."""
        if node is None:
            return None
        found = self.r.resolve(node, self.guards, BOOL)
        if collect(self.problems, faults, in_guard):
            return None
        if not fits(strip(found.type), BOOL):
            message = f"expected a condition, found {quoted(str(found.type), 80)}"
            faults.append(fault("TYP005", message, node.span))
            return None
        return found

    def _after(self, names: tuple[t.Name, ...] | None, faults: list[Fault]) -> tuple[str, ...] | None:
        if names is None:
            return None
        found: dict[str, None] = {}
        for name in names:
            if name.text in self.nodes:
                found[name.text] = None
            else:
                help = self.problems.suggest(name.text, self.nodes)
                faults.append(fault("DEP001", f"no node {quoted(name.text)}", name.span, help))
        return tuple(found)

    def _known(self, names: Iterable[t.Name] | None, what: str, faults: list[Fault]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for name in names or ():
            if name.text in self.obligations:
                found[name.text] = None
            else:
                help = self.problems.suggest(name.text, self.obligations)
                faults.append(fault("EVD005", f"`{what}` names no obligation {quoted(name.text)}", name.span, help))
        return tuple(found)

    def _terminal(self, id_: str, step: t.TerminalStep, faults: list[Fault]) -> Terminal:
        return Terminal(
            id=id_,
            kind=step.kind,
            claims=self._known(step.claims, "claims", faults),
            reason=step.reason.value if step.reason is not None else "",
            when=self._guard(step.when, faults),
            after=self._after(step.after, faults),
            faults=tuple(faults),
            span=step.span,
        )


def _named(tool: Tool | None, meant: Mapping[str, t.Arg]) -> str | None:
    """The nameless arguments with the names that they probably stand for."""
    if tool is None:
        return None
    shown = ", ".join(f"{name}: {arg.value.span.text}" for name, arg in meant.items())
    return f"write {quoted(f'{tool.name}({shown})', 120)}"


def _signature(tool: Tool | None) -> str | None:
    if tool is None:
        return None
    shown = ", ".join(f"{p.name}: {p.type}" for p in tool.params)
    return f"it is declared as {tool.name}({shown})"


def known_nodes(proposal: Proposal) -> Mapping[str, Call | Terminal]:
    """The nodes by id; of a repeated id the first."""
    found: dict[str, Call | Terminal] = {}
    for node in proposal.nodes:
        found.setdefault(node.id, node)
    return found
