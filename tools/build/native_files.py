"""Prints the tracked C, C++, CUDA, Objective-C and Metal files, one a line, for clang-format."""

import pathlib
import subprocess

SUFFIXES = {".c", ".cpp", ".cuh", ".h", ".m", ".metal"}
HEADERS = pathlib.PurePath("bridge/host/msl/include")  # Metal's have no suffix

listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
for name in listed.stdout.splitlines():
    path = pathlib.PurePath(name)
    metal_header = HEADERS in path.parents and path.suffix == "" and path.name[0] != "."
    if path.suffix in SUFFIXES or metal_header:
        print(name)
