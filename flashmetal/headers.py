"""Headers of one's own: their text takes the place of the lines that include them.

Metal compiles one text and knows no files of the caller's. Expanding here makes every device see
the same text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from ._text import counted

__all__ = ["Headers", "RegisteredHeaders", "expand", "expand_headers", "explain_missing"]

MAIN = "program_source"  # what Metal's compiler calls the text that it is given

# Comments, strings and characters come along so that what looks like a directive inside them is
# left alone.
TOKENS = re.compile(
    r"""^[ \t]*\#[ \t]*(?P<how>include|import)[ \t]*(?P<quote>["<])(?P<name>[^">\n]+)[">][^\n]*
      | ^[ \t]*\#[ \t]*pragma[ \t]+(?P<once>once)\b[^\n]*
      | ^[ \t]*\#[ \t]*(?P<condition>if|ifdef|ifndef|endif)\b
      | \b__has_include[ \t]*\([ \t]*(?P<asked_quote>["<])(?P<asked>[^">\n]+)[">][ \t]*\)
      | /\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
MISSING = re.compile(r"fatal error: '([^'\n]+)' file not found")
MOST_NAMES = 20  # of registered headers, in the text of an error


class Headers(Protocol):
    """Where headers come from."""

    def lookups(self, name: str, quoted: bool, includer: str) -> Sequence[str]:
        """Return where a header is looked up that `includer` includes, first to last.

        `includer` is such a place too, or what `expand` was given as `main`.
        """

    def read(self, place: str) -> str | None:
        """Return the text of the header in a place; None when there is none."""


class RegisteredHeaders:
    """Headers that were registered by name: names are as paths, and relative to the includer's."""

    def __init__(self, registered: Mapping[str, str]) -> None:
        self.registered = registered
        normal = {posixpath.normpath(name): text for name, text in registered.items()}
        self.texts = {**normal, **registered}

    def lookups(self, name: str, quoted: bool, includer: str) -> list[str]:
        """Return the name beside the includer's, for one in quotes, and the name itself."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(includer), name))
        whole = name if name in self.texts else posixpath.normpath(name)
        return list(dict.fromkeys([beside, whole] if quoted else [whole]))

    def read(self, place: str) -> str | None:
        """Return the text of the header of this name."""
        return self.texts.get(place)


def expand_headers(source: str, headers: Mapping[str, str]) -> str:
    """Replace the lines of a text that include registered headers by those headers.

    Other includes stay. Diagnostics about a header name it and its lines. A header with
    ``#pragma once``, or one that is imported, comes in once. One that includes itself, whether or
    not by way of others, is an error of the text, unless a guard ends it.

    Parameters
    ----------
    source
        MSL.
    headers
        Texts by the names that they are included by.
    """
    return expand(source, RegisteredHeaders(headers)) if headers else source


def expand(source: str, headers: Headers, main: str = "") -> str:
    """Do so with headers from anywhere; `main` is the place of the text itself."""
    return Expansion(headers, main).expand(source, (), certain=True)


def explain_missing(message: str, source: str, headers: Headers, main: str = "") -> str:
    """Return the compiler's text, with a note about each header that is not there.

    Parameters
    ----------
    message
        Of the compiler, about the expanded text.
    source, headers, main
        What `expand` was given.
    """
    missing = set(MISSING.findall(message))
    if not missing:
        return message
    expansion = Expansion(headers, main)
    expansion.expand(source, (), certain=True)
    notes = [
        f"note: '{name}' was looked up as {', '.join(expansion.missed[name])}"
        for name in sorted(missing & expansion.missed.keys())
    ]
    if notes and isinstance(headers, RegisteredHeaders):
        notes.append(f"note: {_list_names(sorted(headers.registered))}")
    return "\n".join([message.rstrip("\n"), *notes, ""]) if notes else message


def _list_names(names: Sequence[str]) -> str:
    if not names:
        return "no header is registered: KernelRegistry.register_header does it"
    shown = ", ".join(names[:MOST_NAMES])
    rest = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{counted(len(names), 'header')} registered before the source: {shown}{rest}"


def _belongs_to_metal(name: str, quoted: bool) -> bool:
    # <metal_stdlib>, <metal_tensor> and <MetalPerformancePrimitives/...>
    return not quoted and ("." not in name or name.startswith("Metal"))


class Expansion:
    """One text in the making: what it has included, and what it has not found."""

    def __init__(self, headers: Headers, main: str) -> None:
        self.headers = headers
        self.main = main
        self.missed: dict[str, Sequence[str]] = {}
        # Headers that are in the text whatever the conditions in it come to, and others.
        self.certain: set[str] = set()
        self.possible: dict[str, str] = {}  # with the macros that say whether they are
        self.once: dict[str, bool] = {}  # whether each is to come in once

    def expand(self, text: str, chain: tuple[str, ...], *, certain: bool) -> str:
        """Expand the last text of `chain`, each of which includes the next; () is the source.

        `certain`: no condition leaves it out.
        """
        depth = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal depth
            if match["condition"]:
                depth += -1 if match["condition"] == "endif" else 1
            if match["once"] and chain:
                return ""
            if match["asked"]:
                found = self._find(match["asked"], match["asked_quote"], chain)
                return match[0] if found is None else "1"
            place = self._find(match["name"], match["quote"], chain) if match["name"] else None
            if place is None:
                return match[0]
            inner = self._include(place, chain, match["how"], certain=certain and depth <= 0)
            line = text.count("\n", 0, match.start()) + 2
            return inner and f"{inner}\n{_line(line, chain[-1] if chain else MAIN)}"

        return TOKENS.sub(replace, text)

    def _find(self, name: str, quote: str, chain: tuple[str, ...]) -> str | None:
        includer = chain[-1] if chain else self.main
        places = self.headers.lookups(name, quote == '"', includer)
        for place in places:
            if self.headers.read(place) is not None:
                return place
        if not _belongs_to_metal(name, quote == '"'):
            self.missed.setdefault(name, places)
        return None

    def _include(self, place: str, chain: tuple[str, ...], how: str, *, certain: bool) -> str:
        """Return the lines that stand for a header."""
        text = self.headers.read(place) or ""
        if place not in self.once:
            self.once[place] = any(match["once"] for match in TOKENS.finditer(text))
        once = how == "import" or self.once[place]
        if once and (place in self.certain or place in chain):
            return ""
        if place in chain:
            return self._close(place, chain)
        if certain:
            self.certain.add(place)
        macro = self.possible.get(place)
        if not certain and macro is None:
            macro = self.possible[place] = f"__flashmetal_included_{len(self.possible)}"
        inner = self.expand(text, (*chain, place), certain=certain)
        lines = f"{_line(1, place)}\n{inner}"
        return lines if macro is None else _guard(lines, macro, once=once)

    def _close(self, place: str, chain: tuple[str, ...]) -> str:
        """Return a header that is being included once more: its guard has to leave it empty."""
        circle = [*chain[chain.index(place) :], place]

        def replace(match: re.Match[str]) -> str:
            found = match["name"] and self._find(match["name"], match["quote"], (place,))
            if not found:
                return match[0]
            return f"#error include cycle: {' includes '.join(circle)}" * (found == circle[1])

        return f"{_line(1, place)}\n{TOKENS.sub(replace, self.headers.read(place) or '')}"


def _line(number: int, place: str) -> str:
    quoted = place.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line {number} "{quoted}"'


def _guard(lines: str, macro: str, *, once: bool) -> str:
    if once:
        return f"#ifndef {macro}\n#define {macro}\n{lines}\n#endif"
    return f"#undef {macro}\n#define {macro}\n{lines}"
