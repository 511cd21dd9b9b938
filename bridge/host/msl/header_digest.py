"""Writes a C++ header with the digest of files: the key of compiled kernels depends on it."""

import hashlib
import pathlib
import sys


def main(output, *names):
    digest = hashlib.sha256()
    for name in sorted(names):
        content = pathlib.Path(name).read_bytes()
        digest.update(f"{pathlib.Path(name).name}:{len(content)}:".encode() + content)
    text = f'#pragma once\n#define MSL_HEADER_DIGEST "{digest.hexdigest()}"\n'
    pathlib.Path(output).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
