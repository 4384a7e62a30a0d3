"""Turns the shape of the JSON forms into pydantic models: strict validators, and the source of the published schemas.

Imported only when a JSON form is read or a schema is asked for. Values of domain types are open here (their shape
follows from the domain); expressions, patterns and types are strings of the language.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="a name of the language")]
Path = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$", description="`node.field`")]
Target = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$", description="`tool.parameter`")
]
Expression = Annotated[str, Field(description="an expression of the language")]
Pattern = Annotated[str, Field(description='an effect or fluent pattern, e.g. "sent(receipt, _)"')]
TypeText = Annotated[str, Field(description='a type, e.g. "list[Item]"')]
Moment = Annotated[str, Field(description="a date, or an instant with its offset, in ISO 8601")]
Plain = Annotated[
    Any, Field(description="plain JSON of the type: enums by wire name, exact decimals as numbers or strings")
]
Arguments = dict[Name, Plain]
Positive = Annotated[int, Field(ge=1, le=1_000_000_000)]
Natural = Annotated[int, Field(ge=0, le=1_000_000_000_000)]
Version = Annotated[Literal[1], Field(description="version of the JSON forms")]


class Form(BaseModel):
    """A part of a JSON form: no coercion, no unknown members."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OriginForm(Form):
    """Where a trusted value comes from."""

    kind: Literal["user", "receipt", "policy"]
    turn: Natural | None = None
    receipt: str | None = None
    path: list[Name] = []
    tool: Name | None = None
    args: Annotated[
        Arguments | None, Field(description="what is known of the arguments of the tool's call, by parameter")
    ] = None
    status: Literal["success", "failure", "pending", "partial", "unknown"] | None = None
    quoted: Annotated[list[Natural], Field(min_length=2, max_length=2)] | None = None


class DomainForm(Form):
    """The domain by name, with the path of the spec file that declares it."""

    name: Name
    import_: Annotated[str | None, Field(alias="import")] = None


class NameForm(Form):
    """A binding (`fixed`) or a known value."""

    name: Name
    type: TypeText
    value: Plain
    fixed: bool = False
    for_: Annotated[list[Target], Field(alias="for", description="the parameters that the binding governs")] = []
    from_: Annotated[OriginForm | None, Field(alias="from")] = None


class KeptForm(Form):
    """A realized effect."""

    effect: Name
    args: Arguments
    from_: Annotated[OriginForm | None, Field(alias="from")] = None


class FactForm(Form):
    """A fluent's value; `kept` says that it must not change."""

    fluent: Name
    args: Arguments = {}
    value: Plain
    kept: bool = False
    from_: Annotated[OriginForm | None, Field(alias="from")] = None


class CallForm(Form):
    """A tool and its arguments."""

    tool: Name
    args: Arguments = {}


class DoubtForm(Form):
    """An effect that may have happened; `by` is the call that may have caused it."""

    effect: Name
    args: Arguments
    any: Annotated[list[Name], Field(description="the arguments that nobody knows")] = []
    by: CallForm | None = None
    from_: Annotated[OriginForm | None, Field(alias="from")] = None


class ObligationForm(Form):
    """An open obligation."""

    name: Name | None = None
    goals: Annotated[list[Expression], Field(min_length=1)]
    choice: Literal["all", "one", "any"] = "all"
    count: Positive = 1
    exists: dict[Name, TypeText] = {}
    where: Expression | None = None
    if_: Annotated[Expression | None, Field(alias="if")] = None
    before: list[Name] = []
    shared: bool = False
    from_: Annotated[OriginForm | None, Field(alias="from")] = None


class PatternLicenceForm(Form):
    """A licence to cause, undo or write instances of a pattern."""

    pattern: Pattern
    exists: dict[Name, TypeText] = {}
    where: Expression | None = None


class ToolLicenceForm(Form):
    """A licence to call an undeclared tool."""

    tool: Name


class LimitForm(Form):
    """`sum` of an amount over matching effects, or (without `sum`) their count, is at most `at_most`."""

    of: Pattern
    sum: Expression | None = None
    at_most: Plain


class ApprovalForm(CallForm):
    """An approval or a denial of a call."""

    denied: bool = False
    policy: str | None = None
    expires: Moment | None = None
    from_: Annotated[OriginForm | None, Field(alias="from")] = None


class TrustForm(CallForm):
    """Results of matching calls are an allowed source for a parameter."""

    for_: Annotated[Target, Field(alias="for")]


def _licence(value: Any) -> str:
    return "<tool>" if isinstance(value, dict) and "tool" in value else "<pattern>"


LicenceForm = Annotated[
    Annotated[ToolLicenceForm, Tag("<tool>")] | Annotated[PatternLicenceForm, Tag("<pattern>")], Discriminator(_licence)
]


class ContractForm(Form):
    """A residual contract."""

    cfrc: Version
    contract: Name
    domain: Name | Annotated[str, Field(pattern=r"\.cfrc$", description="the spec file of that name")] | DomainForm
    request: str | None = None
    policy: str | None = None
    as_of: Moment | None = None
    head: str | None = None
    names: list[NameForm] = []
    kept: list[KeptForm] = []
    facts: list[FactForm] = []
    doubts: list[DoubtForm] = []
    owes: list[ObligationForm] = []
    allow: list[Name] = []
    within: list[LicenceForm] | None = None
    limits: list[LimitForm] = []
    approvals: list[ApprovalForm] = []
    trusts: list[TrustForm] = []


class CallNodeForm(Form):
    """A call. An argument is a plain literal or a source: an object with exactly one of `ref`, `out`, `expr`, `lit`."""

    id: Name
    call: Name
    args: dict[str, Any] = {}
    when: Expression | None = None
    after: list[Name] | None = None
    until: Expression | None = None
    polls: Positive | None = None
    expect: Expression | None = None
    covers: list[Name] | None = None


class DoneForm(Form):
    """What a `done` claims to have discharged."""

    claims: list[Name] | None = None


class YieldForm(Form):
    """Why a run is handed back."""

    reason: str | None = None


class DoneNodeForm(Form):
    """The task is done."""

    id: Name | None = None
    done: DoneForm
    when: Expression | None = None
    after: list[Name] | None = None


class YieldNodeForm(Form):
    """The run is handed back."""

    id: Name | None = None
    yield_: Annotated[YieldForm, Field(alias="yield")]
    when: Expression | None = None
    after: list[Name] | None = None


def _node(value: Any) -> str:
    for key in ("done", "yield"):
        if isinstance(value, dict) and key in value and "call" not in value:
            return f"<{key}>"
    return "<call>"


NodeForm = Annotated[
    Annotated[CallNodeForm, Tag("<call>")]
    | Annotated[DoneNodeForm, Tag("<done>")]
    | Annotated[YieldNodeForm, Tag("<yield>")],
    Discriminator(_node),
]


class ProposalForm(Form):
    """A proposal graph: the successor's whole remainder."""

    cfrc: Version
    name: Name | None = None
    contract: Name | None = None
    answers: Annotated[str | None, Field(description="the digest of the contract that it answers")] = None
    nodes: list[NodeForm]


class ReceiptForm(CallForm):
    """What the environment returned for one call."""

    id: str
    status: Literal["success", "failure", "pending", "partial", "unknown"]
    result: Plain = None
    attempt: Positive = 1
    actor: Name | None = None
    at: Moment | None = None


class ChoiceForm(Form):
    """A value that the user accepted."""

    name: Name
    type: TypeText
    value: Plain
    turn: Natural | None = None


class ReceiptEntryForm(Form):
    """A receipt in a ledger."""

    receipt: ReceiptForm


class ChoiceEntryForm(Form):
    """An accepted choice in a ledger."""

    accepted: ChoiceForm


class ApprovalEntryForm(Form):
    """An approval or a denial in a ledger."""

    approval: ApprovalForm


def _entry(value: Any) -> str:
    for key in ("accepted", "approval"):
        if isinstance(value, dict) and key in value:
            return f"<{key}>"
    return "<receipt>"


EntryForm = Annotated[
    Annotated[ReceiptEntryForm, Tag("<receipt>")]
    | Annotated[ChoiceEntryForm, Tag("<accepted>")]
    | Annotated[ApprovalEntryForm, Tag("<approval>")],
    Discriminator(_entry),
]


class LedgerForm(Form):
    """A ledger: receipts, accepted choices and approvals in order."""

    cfrc: Version
    ledger: Name
    domain: Name | Annotated[str, Field(pattern=r"\.cfrc$", description="the spec file of that name")] | DomainForm
    entries: list[EntryForm] = []


FORMS: dict[str, type[Form]] = {"contract": ContractForm, "proposal": ProposalForm, "ledger": LedgerForm}
