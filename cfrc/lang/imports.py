"""Turns a first file into all files that it needs: imports found, confined to the spec roots, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path, PurePosixPath, PureWindowsPath

from cfrc.data import data_dir
from cfrc.lang import tree as t
from cfrc.lang.diagnostics import Diagnostic, SpecError, did_you_mean, has_errors, in_order, quoted
from cfrc.lang.files import read_source
from cfrc.lang.jsonnodes import DomainImport
from cfrc.lang.parse import parse_file
from cfrc.source import Source, Span

MAX_FILES = 1000


@dataclass(slots=True)
class Loaded:
    """The declarations of a file (``own``) and of it and its imports together (``all``), in order of reading."""

    own: tuple[t.Declaration, ...] = ()
    all: tuple[t.Declaration, ...] = ()
    sources: list[Source] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def library() -> Path | None:
    """The folder of the bundled spec library, if the installation has one."""
    try:
        return data_dir("specs").resolve()
    except FileNotFoundError:
        return None


def read_all(first: str | Path | Source, roots: Sequence[str | Path] = ()) -> Loaded:
    """Read a file and everything it imports.

    Imports are looked up beside the importing file, then in the spec library, then in ``roots``, and never outside
    these (the first file's folder stands for its tree). Raises :class:`SpecError` with everything that is wrong.
    """
    reader = _Reader(first, roots)
    loaded = reader.run()
    if has_errors(loaded.diagnostics):
        raise SpecError(loaded.diagnostics)
    return loaded


class _Reader:
    """One load: a queue of files to read, and what has been read."""

    def __init__(self, first: str | Path | Source, roots: Sequence[str | Path]) -> None:
        self.loaded = Loaded()
        self.seen: set[Path] = set()
        if isinstance(first, Source):
            self.first = first
            self.folder = Path(first.name).parent.resolve() if not first.name.startswith("<") else Path.cwd()
            path = Path(first.name)
            if path.is_file():
                self.seen.add(path.resolve())
        else:
            self.first = read_source(first)
            self.seen.add(Path(first).resolve())
            self.folder = Path(first).resolve().parent
        shared = library()
        self.extra = [*([shared] if shared is not None else []), *(Path(r).resolve() for r in roots)]
        self.roots = [self.folder, *self.extra]

    def run(self) -> Loaded:
        declarations: list[t.Declaration] = []
        queue: list[tuple[Source, Path]] = [(self.first, self.folder)]
        form = is_json(self.first)
        while queue:
            source, folder = queue.pop()
            self.loaded.sources.append(source)
            found = self.parse(source)
            if form and source is not self.first:  # a form takes nothing but its domain from anywhere
                found = tuple(d for d in found if isinstance(d, t.Import | t.DomainDecl))
            if not self.loaded.own and source is self.first:
                self.loaded.own = found
            declarations.extend(found)
            imported = [self.open(d, folder) for d in found if isinstance(d, t.Import)]
            queue.extend(reversed([i for i in imported if i is not None]))
        self.loaded.all = tuple(declarations)
        self.loaded.diagnostics = list(in_order(self.loaded.diagnostics))
        return self.loaded

    def parse(self, source: Source) -> tuple[t.Declaration, ...]:
        if is_json(source):
            from cfrc.lang.jsonforms.read import read_form

            declarations, diagnostics = read_form(source)
        else:
            file, diagnostics = parse_file(source)
            declarations = file.declarations
        self.loaded.diagnostics.extend(diagnostics)
        return declarations

    def open(self, node: t.Import, folder: Path) -> tuple[Source, Path] | None:
        """The imported file, unless it was read before or cannot be."""
        path = self.find_domain(node, folder) if isinstance(node, DomainImport) else self.find(node, folder)
        if path is None or path in self.seen:
            return None
        if len(self.seen) >= MAX_FILES:
            self.complain("IMP004", f"more than {MAX_FILES} files", node.path.span)
            return None
        self.seen.add(path)
        try:
            return read_source(path, self.display(path), node.path.span), path.parent
        except SpecError as error:
            self.loaded.diagnostics.extend(error.diagnostics)
            return None

    def display(self, path: Path) -> str:
        """What diagnostics call the file: relative to the working directory where that is shorter to read."""
        try:
            return str(path.relative_to(Path.cwd()))
        except ValueError:
            return str(path)

    def find(self, node: t.Import, folder: Path) -> Path | None:
        written, span = node.path.value, node.path.span
        parts = PurePosixPath(written)
        if not written or written.endswith("/") or any(c in written for c in "\0\\:*?<>|"):
            self.complain(
                "IMP003",
                f"{quoted(written, 120)} is not a path of a spec file",
                span,
                'write `import "folder/file.cfrc"`',
            )
            return None
        if parts.is_absolute() or PureWindowsPath(written).is_absolute():
            self.complain(
                "IMP002", f"the import {quoted(written, 120)} is absolute", span, "write it relative to this file"
            )
            return None
        outside = False
        for base in (folder, *self.extra):
            try:
                path = (base / parts).resolve()
                path.stat()
            except (OSError, ValueError) as problem:
                if isinstance(problem, FileNotFoundError | NotADirectoryError):
                    path = (base / parts).absolute()
                else:
                    self.complain(
                        "IMP003", f"the import {quoted(written, 120)} cannot be looked up", span, "name a file"
                    )
                    return None
            if not any(path.is_relative_to(root) for root in self.roots):
                outside = True
            elif path.is_file():
                return path
            elif path.is_dir():
                self.complain("INP002", f"{quoted(written, 120)} is a directory", span, "name a file in it")
                return None
        if outside:
            help = "imports stay in the folder of the first file, the spec library and the given roots"
            self.complain("IMP002", f"the import {quoted(written, 120)} leads outside the spec roots", span, help)
        else:
            self.complain(
                "IMP001", f"there is no file {quoted(written, 120)} to import", span, self.nearby(parts, folder)
            )
        return None

    def find_domain(self, node: DomainImport, folder: Path) -> Path | None:
        """The file of a domain named without a path; if there is none, resolution reports the unknown domain."""
        name = node.path.value
        for base in (folder, *self.extra):
            for path in ((base / f"{name}.cfrc").resolve(), (base / "domains" / f"{name}.cfrc").resolve()):
                if path.is_file() and any(path.is_relative_to(root) for root in self.roots):
                    return path
        return None

    def nearby(self, parts: PurePosixPath, folder: Path) -> str:
        """A suggestion from the folders in which the file was looked for."""
        names: list[str] = []
        for base in (folder, *self.extra):
            for path in sorted(base.glob(f"*/{escape(parts.name)}")) if len(parts.parts) == 1 else ():
                if path.is_file() and any(path.resolve().is_relative_to(r) for r in self.roots):
                    return f"did you mean `{path.relative_to(base).as_posix()}`?"
            place = (base / parts).parent
            if place.is_dir() and any(place.resolve().is_relative_to(r) for r in self.roots):
                names += sorted(str(parts.parent / p.name) for p in place.glob("*.cfrc"))[:200]
        looked = "it is looked up beside this file, in the spec library and in the given roots"
        return did_you_mean(str(parts), names, looked) or looked

    def complain(self, code: str, message: str, span: Span, help: str | None = None) -> None:
        self.loaded.diagnostics.append(Diagnostic(code, message, span, help))


def is_json(source: Source) -> bool:
    """Whether a source is a JSON form: by its name, or because it begins with a bracket, which no spec file does."""
    return source.name.lower().endswith(".json") or source.text.lstrip(" \t\r\n")[:1] in ("{", "[")
