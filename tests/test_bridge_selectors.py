"""The bridge asks before it sends a message that older systems do not know."""

import re
from pathlib import Path

import pytest

BRIDGE = Path(__file__).parent.parent / "bridge"
SOURCES = sorted(BRIDGE.glob("*.m"))
ROW = re.compile(r"^ \* (?P<selector>\w+:?) +(?P<since>macOS \d+) +(?P<file>\w+\.m) +\w+$", re.M)
GUARD = re.compile(r"respondsToSelector:@selector\(([\w:]+)\)")

pytestmark = pytest.mark.timeout(20)


def table():
    """Map each selector of the table in internal.h to the file that guards it."""
    text = (BRIDGE / "internal.h").read_text()
    return {row["selector"]: row["file"] for row in ROW.finditer(text)}


def functions(source):
    """Split a source into its functions: each ends with a brace in the first column."""
    return re.split(r"^}$", source.read_text(), flags=re.M)


def use_of(selector):
    """Match a message or a property access that sends `selector`."""
    name = selector.removesuffix(":")
    if selector.endswith(":"):
        name = name.removeprefix("set")
        name = name[0].lower() + name[1:]
        return re.compile(rf"\.{name} = |{selector}(?!\))")
    if name.startswith("is"):
        name = f"{name}|{name[2].lower()}{name[3:]}"
    return re.compile(rf"\w\.({name})\b| ({name})\]")


def test_the_table_lists_every_guard():
    found = {
        (selector, source.name)
        for source in SOURCES
        for selector in GUARD.findall(source.read_text())
    }
    assert found == set(table().items())
    assert found, "no guard found: has the table moved?"


@pytest.mark.parametrize("selector", sorted(table()))
def test_every_use_stands_beside_its_guard(selector):
    uses = [
        (source.name, function)
        for source in SOURCES
        for function in functions(source)
        if use_of(selector).search(function)
    ]
    assert uses, f"{selector} is in the table but nothing sends it"
    for name, function in uses:
        assert selector in GUARD.findall(function), f"{name} sends {selector} without asking"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_availability_is_asked_of_the_object(source):
    text = source.read_text()
    assert "@available" not in text, "always true on Linux: use respondsToSelector:"
    assert not re.search(r"#\s*if(n?def)?\b.*(__APPLE__|TARGET_OS|__linux__)", text)
