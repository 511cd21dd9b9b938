"""Builds the native code with sanitizers in the given folder and runs its tests."""

import os
import pathlib
import subprocess
import sys

import find_clang

OPTIONS = [
    "-Dnative_tests=true",
    "-Dpython_modules=false",
    "-Db_sanitize=address,undefined",
    "-Db_lundef=false",
    "-Dbuildtype=debugoptimized",
]


def build_environment():
    """The environment of the build: clang for every language.

    The compiler that the build makes for shaders runs under the sanitizers too; only tests are held
    to freeing everything.
    """
    clang = find_clang.command()
    compilers = {"CC": clang, "CXX": clang.replace("clang", "clang++"), "OBJC": clang}
    return {**os.environ, **compilers, "ASAN_OPTIONS": "detect_leaks=0"}


def run(command, **options):
    """Ends the program with the command's status where it fails; the command says what is wrong."""
    status = subprocess.run(command, check=False, **options).returncode
    if status:
        sys.exit(status)


def main(folder):
    environment = build_environment()
    print(f"Building the native code with sanitizers in {folder}, which takes minutes", flush=True)
    if not (pathlib.Path(folder) / "build.ninja").exists():
        run(["meson", "setup", folder, *OPTIONS], env=environment, stdout=subprocess.DEVNULL)
    # Where nobody watches, a line for each file is noise.
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    run(["ninja", "-C", folder, *quiet], env=environment)
    run(["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs"])


if __name__ == "__main__":
    main(*sys.argv[1:])
