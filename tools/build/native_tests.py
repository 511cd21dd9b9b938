"""Builds the native code with sanitizers in the given folder and runs its tests."""

import os
import pathlib
import subprocess
import sys

OPTIONS = [
    "-Dnative_tests=true",
    "-Dpython_modules=false",
    "-Db_sanitize=address,undefined",
    "-Db_lundef=false",
    "-Dbuildtype=debugoptimized",
]


def main(folder):
    # The compiler that the build makes for shaders runs under the sanitizers too; only tests
    # are held to freeing everything.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    if not (pathlib.Path(folder) / "build.ninja").exists():
        command = ["meson", "setup", folder, *OPTIONS]
        subprocess.run(command, check=True, env=environment)
    subprocess.run(["meson", "compile", "-C", folder], check=True, env=environment)
    test = ["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs"]
    return subprocess.run(test, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
