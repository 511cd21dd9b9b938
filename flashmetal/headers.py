"""Headers of one's own: their text takes the place of the lines that include them.

Metal compiles one text and knows no files of the caller's. Expanding here makes every device see
the same text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["expand_headers"]

MAIN = "program_source"  # what Metal's compiler calls the text that it is given

# Comments and strings come along so that what looks like a directive inside them is left alone.
TOKENS = re.compile(
    r"""^[ \t]*\#[ \t]*(?P<how>include|import)[ \t]*["<](?P<name>[^">\n]+)[">][^\n]*
      | ^[ \t]*\#[ \t]*pragma[ \t]+(?P<once>once)\b[^\n]*
      | /\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


def expand_headers(source: str, headers: Mapping[str, str]) -> str:
    """Replace the lines of a text that include registered headers by those headers.

    Other includes stay. Diagnostics about a header name it and its lines. A header with
    ``#pragma once``, or one that is imported, comes in once; one that includes itself, whether or
    not by way of others, adds nothing.

    Parameters
    ----------
    source
        MSL.
    headers
        Texts by the names that they are included by.
    """
    return Expansion(headers).expand(source, MAIN, ()) if headers else source


class Expansion:
    """One text in the making: what it may include and what it has included."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self.once: set[str] = set()

    def expand(self, text: str, name: str, including: tuple[str, ...]) -> str:
        """Expand `text`, called `name`, which the texts of `including` are in the middle of."""

        def replace(match: re.Match[str]) -> str:
            if match["once"] and including:
                self.once.add(name)
                return ""
            included = match["name"]
            if included not in self.headers:
                return match[0]
            if included in self.once or included in (*including, name):
                return ""
            if match["how"] == "import":
                self.once.add(included)
            inner = self.expand(self.headers[included], included, (*including, name))
            line = text.count("\n", 0, match.start()) + 2
            return f'#line 1 "{included}"\n{inner}\n#line {line} "{name}"'

        return TOKENS.sub(replace, text)
