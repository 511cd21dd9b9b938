"""Compare the messages that compiled Objective-C sends with a list of those it may send.

usage: macho_selectors.py LIST OBJECT...

OBJECT is a 64-bit Mach-O file, LIST has one selector a line; lines that begin with # are comments.
"""

import struct
import sys
from pathlib import Path

MAGIC = 0xFEEDFACF
LOAD_SEGMENT = 0x19
HEADER = struct.Struct("<8I")
COMMAND = struct.Struct("<2I")
SEGMENT = struct.Struct("<2I16s4Q4I")
SECTION = struct.Struct("<16s16s2Q8I")


def load_commands(image):
    """Yield the kind and the offset of each load command."""
    magic, _, _, _, count, *_ = HEADER.unpack_from(image)
    if magic != MAGIC:
        raise ValueError("not a 64-bit Mach-O file")
    offset = HEADER.size
    for _ in range(count):
        kind, size = COMMAND.unpack_from(image, offset)
        yield kind, offset
        offset += size


def sections(image):
    """Yield the name and the bytes of each section."""
    for kind, offset in load_commands(image):
        if kind != LOAD_SEGMENT:
            continue
        count = SEGMENT.unpack_from(image, offset)[9]
        for index in range(count):
            name, _, _, size, start, *_ = SECTION.unpack_from(
                image, offset + SEGMENT.size + index * SECTION.size
            )
            yield name.rstrip(b"\0").decode(), image[start : start + size]


def sent(path):
    """The selectors that an object file refers to."""
    names = set()
    for name, content in sections(path.read_bytes()):
        if name == "__objc_methname":
            names.update(content.decode().split("\0"))
    return names - {""}


def listed(path):
    """The selectors of a list."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return {line for line in lines if line and not line.startswith("#")}


def main(list_path, *objects):
    allowed = listed(Path(list_path))
    found = set().union(*(sent(Path(path)) for path in objects))
    for selector in sorted(found - allowed):
        print(f"sent but not in {list_path}: {selector}")
    for selector in sorted(allowed - found):
        print(f"in {list_path} but never sent: {selector}")
    print(f"{len(found)} selectors sent")
    return found != allowed


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
