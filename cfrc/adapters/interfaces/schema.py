"""Turns a JSON Schema into a type of the language, and says in words what it could not turn.

Understood: ``$ref`` within the schema, ``type`` (and lists of types), ``properties``, ``required``, ``items``,
``additionalProperties``, ``enum``, ``const``, ``anyOf``/``oneOf``/``allOf``, null as absent, and the formats of dates,
times and durations. Everything else constrains values that the tool checks itself. A part that has no type becomes
``None``: the caller leaves it out and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from cfrc.adapters.interfaces.names import is_name, pascal, stem, words
from cfrc.adapters.interfaces.registry import MOST_MEMBERS, Registry
from cfrc.adapters.interfaces.unify import unify
from cfrc.lang.diagnostics import quoted
from cfrc.lang.jsonread import Json
from cfrc.model.types import BOOL, DATE, DECIMAL, DURATION, INT, STRING, TIME, ListOf, MapOf, Optional, RecordOf, Type

_FORMATS: Mapping[str, Type] = {"date": DATE, "date-time": TIME, "duration": DURATION}
_SCALARS: Mapping[str, Type] = {"integer": INT, "number": DECIMAL, "boolean": BOOL}
_STRUCTURE = {"object": ("properties", "additionalProperties"), "array": ("items", "prefixItems")}
MOST_FIELDS = 1_000
MOST_OPTIONS = 200
DEEPEST = 60


class Schemas:
    """The schemas of one document. ``remarks`` are what a person should know about what was read since last taken."""

    def __init__(self, root: Json, registry: Registry) -> None:
        self.root, self.registry = root, registry
        self.remarks: dict[str, None] = {}
        self._known: dict[tuple[str, str], Type | None] = {}
        self._open: set[str] = set()
        self._depth = 0

    def remark(self, text: str) -> None:
        self.remarks[text] = None

    def taken(self) -> list[str]:
        said, self.remarks = list(self.remarks), {}
        return said

    def type_of(self, j: Json, hint: str, owner: str, name: str = "") -> Type | None:
        """The type, or ``None`` with a remark. ``hint`` names a record or enum that needs a name, ``name`` is the
        member that has the type, ``owner`` what the member belongs to (for a bare ``id``)."""
        if self._depth >= DEEPEST:
            return self.nothing(name, "is nested too deep")
        self._depth += 1
        try:
            return self._type_of(j, hint, owner, name)
        finally:
            self._depth -= 1

    def _type_of(self, j: Json, hint: str, owner: str, name: str) -> Type | None:
        s = j.value
        if not isinstance(s, dict):
            return self.nothing(name, "takes anything")
        ref = _text(s, "$ref")
        if ref is not None:
            return self.reference(ref, owner, name)
        for keyword in ("anyOf", "oneOf"):
            if keyword in s:
                return self.alternatives(s[keyword], hint, owner, name)
        if "allOf" in s:
            return self.all_of(s, hint, owner, name)
        if "const" in s or "enum" in s:
            return self.choice(s, hint, name)
        kinds = _kinds(s)
        optional = "null" in kinds
        kinds.discard("null")
        types = [self.simple(kind, s, hint, owner, name) for kind in sorted(kinds)]
        if not types:
            return self.nothing(name, "is always null" if optional else "takes anything")
        found = unify(types, self.registry, hint)
        if found is None:
            return self.nothing(name, "takes values of several types") if len(types) > 1 else None
        return Optional(found) if optional and not isinstance(found, Optional) else found

    def nothing(self, name: str, why: str) -> Type | None:
        """No type, and why."""
        self.remark(f"{quoted(name or 'the result', 60)} {why}")
        return None

    def reference(self, ref: str, owner: str, name: str) -> Type | None:
        if ref in self._open:
            return self.nothing(name, "contains itself, which no type here does")
        key = ref, name
        if key not in self._known:
            target = _pointer(self.root, ref)
            if target is None:
                self.remark(f"{quoted(ref, 80)} leads nowhere in this schema")
                return None
            self._open.add(ref)
            last = ref.rpartition("/")[2]
            self._known[key] = self.type_of(target, pascal(last), last, name)
            self._open.discard(ref)
        return self._known[key]

    def alternatives(self, j: Json, hint: str, owner: str, name: str) -> Type | None:
        if isinstance(j.value, list) and len(j.value) > MOST_OPTIONS:
            return self.nothing(name, f"is one of more than {MOST_OPTIONS} schemas")
        options = [o for o in (j.value if isinstance(j.value, list) else []) if not _is_null(o)]
        optional = isinstance(j.value, list) and len(options) < len(j.value)
        hints = [hint] if len(options) == 1 else [f"{hint}{n}" for n in range(1, len(options) + 1)]
        types = [self.type_of(o, h, owner, name) for o, h in zip(options, hints, strict=True)]
        found = unify(types, self.registry, hint)
        if found is None:
            return self.nothing(name, "takes values of several types")
        return Optional(found) if optional and not isinstance(found, Optional) else found

    def all_of(self, s: Mapping[str, Json], hint: str, owner: str, name: str) -> Type | None:
        """All of them at once: one that says something beside others that only describe, or records put together."""
        inner = s["allOf"].value if isinstance(s["allOf"].value, list) else []
        rest = {k: v for k, v in s.items() if k != "allOf"}
        parts = [*inner, *([Json(rest, None)] if set(rest) & {"type", "properties", "enum", "const", "$ref"} else [])]
        types = [t for p in parts if (t := self.type_of(p, hint, owner, name)) is not None]
        if len(types) > 1 and all(isinstance(t, RecordOf) for t in types):
            fields: dict[str, Type] = {}
            for t in types:
                assert isinstance(t, RecordOf)
                for field, type_ in t.fields:
                    # What any part requires is required.
                    if not isinstance(fields.get(field), Optional) and field in fields:
                        continue
                    fields[field] = type_
            return self.registry.record(hint, tuple(fields.items())) or self.nothing(name, "is too large")
        if len(types) == 1 or (types and all(t == types[0] for t in types)):
            return types[0]
        return self.nothing(name, "puts several schemas together")

    def choice(self, s: Mapping[str, Json], hint: str, name: str) -> Type | None:
        listed = s.get("enum")
        values = [s["const"].value] if "const" in s else [v.value for v in _list(listed)]
        some = [v for v in values if v is not None]
        optional = len(some) < len(values) or "null" in _kinds(s)
        found: Type | None
        if some and all(isinstance(v, str) for v in some):
            wires = tuple(dict.fromkeys(str(v) for v in some))
            found = self.registry.enum(hint, wires) if len(wires) <= MOST_MEMBERS else STRING
        else:
            found = unify([_scalar(v) for v in some], self.registry, hint)
            if found is not None:
                shown = ", ".join(str(v) for v in some[:8])
                self.remark(f"{quoted(name or 'the result', 60)} is one of {shown}: say so with `requires`")
        if found is None:
            return self.nothing(name, "is one of values that have no common type")
        return Optional(found) if optional else found

    def simple(self, kind: str, s: Mapping[str, Json], hint: str, owner: str, name: str) -> Type | None:
        if kind in _SCALARS:
            if kind == "integer" and stem(name) is not None:
                self.remark(
                    f"decide: is {quoted(name, 60)} an identifier? Those are strings here; it is read as an int"
                )
            return _SCALARS[kind]
        if kind == "string":
            return self.string(s, owner, name)
        if kind == "array":
            items = s.get("items")
            if items is None or not isinstance(items.value, dict):
                return self.nothing(name, "is a list of anything")
            item = self.type_of(items, hint, owner, name)
            return None if item is None else ListOf(item)
        return self.object(s, hint, name) if kind == "object" else self.nothing(name, f"has the type {quoted(kind)}")

    def string(self, s: Mapping[str, Json], owner: str, name: str) -> Type:
        format_ = _text(s, "format") or ""
        if format_ in _FORMATS:
            return _FORMATS[format_]
        of = stem(name)
        if of == "" or (of is None and format_ == "uuid"):
            of = self.registry.owner("_".join(words(owner)))
        return STRING if not of else self.registry.id(of)

    def object(self, s: Mapping[str, Json], hint: str, name: str) -> Type | None:
        properties = s.get("properties")
        extra = s.get("additionalProperties")
        if properties is None or not properties.value:
            if extra is not None and isinstance(extra.value, dict) and extra.value:
                value = self.type_of(extra, f"{hint}Value", hint, name)
                return None if value is None else MapOf(STRING, value)
            if extra is not None and extra.value is False:
                return RecordOf(None, ())
            return self.nothing(name, "is an object of anything")
        found = self.registry.record(hint, tuple(self.fields(s, hint)))
        return found if found is not None else self.nothing(name, "is too large")

    def fields(self, s: Mapping[str, Json], hint: str) -> Iterator[tuple[str, Type]]:
        """The fields of an object's schema; members that cannot be fields are left out with a remark."""
        properties = s["properties"].value
        required = {str(r.value) for r in _list(s.get("required"))}
        for name, j in list(properties.items())[:MOST_FIELDS] if isinstance(properties, dict) else []:
            if not is_name(name):
                self.remark(f"the member {quoted(name, 60)} is left out: it is no name of the language")
                continue
            found = self.type_of(j, pascal(hint, name), hint, name)
            if found is None:
                self.remark(f"the member {quoted(name, 60)} is left out")
            elif name in required or isinstance(found, Optional):
                yield name, found
            else:
                yield name, Optional(found)


def stems_of(j: Json) -> Iterator[str]:
    """What the names of members anywhere in a schema say they identify, where their values are strings."""
    stack: list[tuple[str, Json]] = [("", j)]
    while stack:
        name, at = stack.pop()
        if isinstance(at.value, list):
            stack += [(name, item) for item in at.value]
        elif isinstance(at.value, dict):
            found = stem(name)
            if found and "string" in _kinds(at.value) | _kinds(_members(at.value.get("items"))):
                yield found
            for key, inner in at.value.items():
                within = key in ("items", "anyOf", "oneOf", "allOf")
                stack.append((name if within else key, inner))


def kinds_of(root: Json, j: Json, depth: int = 0) -> tuple[set[str], set[str] | None]:
    """The JSON types that a schema allows (none: any), and the strings if only some are allowed."""
    s = _members(j)
    ref = _text(s, "$ref")
    if ref is not None:
        target = _pointer(root, ref)
        return (set(), None) if target is None or depth > 20 else kinds_of(root, target, depth + 1)
    values = [s["const"].value] if "const" in s else [v.value for v in _list(s.get("enum"))]
    if values:
        named = {{str: "string", bool: "boolean", int: "integer", Fraction: "number"}.get(type(v), "") for v in values}
        return named - {""}, {v for v in values if isinstance(v, str)}
    for keyword in ("anyOf", "oneOf"):
        if keyword in s:
            found = [kinds_of(root, o, depth + 1) for o in _list(s[keyword]) if not _is_null(o)] if depth < 8 else []
            if not found or any(not kinds for kinds, _ in found):
                return set(), None
            some = [w for _, w in found if w is not None]
            return set().union(*(k for k, _ in found)), set().union(*some) if len(some) == len(found) else None
    return (set(), None) if "allOf" in s else (_kinds(s) - {"null"}, None)


def _members(j: Json | None) -> Mapping[str, Json]:
    return j.value if j is not None and isinstance(j.value, dict) else {}


def _kinds(s: Mapping[str, Json]) -> set[str]:
    """The types that a schema names, or that its other keywords imply."""
    given = s.get("type")
    if given is not None:
        return {str(k.value) for k in ([given] if isinstance(given.value, str) else _list(given))}
    return {kind for kind, words in _STRUCTURE.items() if any(w in s for w in words)}


def _is_null(j: Json) -> bool:
    s = _members(j)
    return _text(s, "type") == "null" or ("const" in s and s["const"].value is None)


def _scalar(value: Any) -> Type | None:
    match value:
        case bool():
            return BOOL
        case int():
            return INT
        case Fraction():
            return DECIMAL
        case str():
            return STRING
    return None


def _text(s: Mapping[str, Json], name: str) -> str | None:
    return v if name in s and isinstance(v := s[name].value, str) else None


def _list(j: Json | None) -> list[Json]:
    return j.value if j is not None and isinstance(j.value, list) else []


def _pointer(root: Json, ref: str) -> Json | None:
    """What ``#/$defs/Order`` points at. References to other documents lead nowhere: nothing is fetched."""
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return None
    at = root
    for part in ref[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at.value, dict) and key in at.value:
            at = at.value[key]
        elif isinstance(at.value, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(at.value):
            at = at.value[int(key[:9])]
        else:
            return None
    return at
