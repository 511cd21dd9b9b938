"""Writes a C header with the SHA-256 of each shader's text, as DIGEST_name."""

import hashlib
import pathlib
import sys


def main(output, *shaders):
    lines = ["#pragma once"]
    for shader in map(pathlib.Path, shaders):
        digest = hashlib.sha256(shader.read_bytes()).hexdigest()
        lines.append(f'#define DIGEST_{shader.stem} "{digest}"')
    pathlib.Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
