"""Takes the barriers out of the shaders one by one: the sanitizer must find each missing.

A check that finds no race proves something only if it would find one. Needs an NVIDIA GPU, CuPy
and compute-sanitizer.
"""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import gpu_kernels

BARRIER = re.compile(r"threadgroup_barrier\([^)]*\);")
CHECK = pathlib.Path(__file__).with_name("check_shaders.py")
SANITIZER = ("compute-sanitizer", "--tool", "racecheck", "--error-exitcode", "9")


def has_hazards(shaders: pathlib.Path) -> bool:
    """Run the check on the shaders of a folder; whether the sanitizer finds a race."""
    command = [*SANITIZER, sys.executable, CHECK, "--few", "--shaders", shaders]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if "RACECHECK SUMMARY" not in finished.stdout:
        sys.exit(f"the sanitizer did not run: {finished.stdout}{finished.stderr}")
    return "RACECHECK SUMMARY: 0 hazards" not in finished.stdout


def hides_without(shader: pathlib.Path, barrier: re.Match[str]) -> bool:
    """Whether the sanitizer finds no race when the shader lacks a barrier."""
    with tempfile.TemporaryDirectory() as folder:
        copies = pathlib.Path(folder)
        shutil.copytree(gpu_kernels.SHADERS, copies, dirs_exist_ok=True)
        text = barrier.string[: barrier.start()] + ";" + barrier.string[barrier.end() :]
        (copies / shader.name).write_text(text, encoding="utf-8")
        return not has_hazards(copies)


def main() -> int:
    wrong = has_hazards(gpu_kernels.SHADERS)
    print(f"as they are: {'races' if wrong else 'no race'}")
    for shader in sorted(gpu_kernels.SHADERS.glob("*.metal")):
        for barrier in BARRIER.finditer(shader.read_text(encoding="utf-8")):
            hidden = hides_without(shader, barrier)
            line = barrier.string.count("\n", 0, barrier.start()) + 1
            print(f"{shader.name}:{line} without its barrier: {'NOT FOUND' if hidden else 'found'}")
            wrong |= hidden
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
