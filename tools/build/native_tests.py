"""Builds the native code with sanitizers in the given folder and runs its tests.

Where the tools are there, the engines are then built for another processor, arm64, in a folder
beside it, and their tests run under an emulator.
"""

import os
import pathlib
import platform
import shutil
import subprocess
import sys

import find_clang

OPTIONS = ["-Dnative_tests=true", "-Dpython_modules=false"]
SANITIZE = [
    "-Db_sanitize=address,undefined",
    "-Db_lundef=false",
    "-Dbuildtype=debugoptimized",
]
# Host Metal's Objective-C needs libraries that are not there for another processor.
ENGINES_ALONE = ["-Dmetal=none", "-Dbuildtype=debugoptimized"]

EMULATOR = "qemu-aarch64"
TARGET = "aarch64-linux-gnu"
# A static program needs no libraries while it runs.
CROSS_FILE = """[binaries]
c = ['{clang}', '--target={target}']
cpp = ['{clangxx}', '--target={target}']
ar = 'ar'
strip = 'strip'
exe_wrapper = '{emulator}'

[built-in options]
c_link_args = ['--ld-path={linker}', '-static']
cpp_link_args = ['--ld-path={linker}', '-static']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""


def clangs():
    """The commands of clang for C and for C++."""
    clang = find_clang.command()
    return clang, clang.replace("clang", "clang++")


def find_linker():
    """The path of an lld, which links for every processor; None: there is none."""
    versions = range(find_clang.NEWEST, find_clang.OLDEST - 1, -1)
    paths = map(shutil.which, ["ld.lld", *(f"ld.lld-{version}" for version in versions)])
    return next(filter(None, paths), None)


def build_environment():
    """The environment of the build: clang for every language.

    The compiler that the build makes for shaders runs under the sanitizers too; only tests are held
    to freeing everything.
    """
    clang, clangxx = clangs()
    compilers = {"CC": clang, "CXX": clangxx, "OBJC": clang}
    return {**os.environ, **compilers, "ASAN_OPTIONS": "detect_leaks=0"}


def run(command, **options):
    """Ends the program with the command's status where it fails; the command says what is wrong."""
    status = subprocess.run(command, check=False, **options).returncode
    if status:
        sys.exit(status)


def build_and_test(folder, options, environment):
    """Sets the folder up if it is new, builds what has changed and runs all tests."""
    if not (folder / "build.ninja").exists():
        command = ["meson", "setup", folder, *OPTIONS, *options]
        run(command, env=environment, stdout=subprocess.DEVNULL)
    # Where nobody watches, a line for each file is noise.
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    run(["ninja", "-C", folder, *quiet], env=environment)
    run(["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs"])


def compiles_for_target():
    """Whether there are an emulator and what C++ programs for its processor are linked with."""
    linker = find_linker()
    if platform.machine() != "x86_64" or not linker or not shutil.which(EMULATOR):
        return False
    _, clangxx = clangs()
    options = [f"--target={TARGET}", f"--ld-path={linker}", "-static"]
    command = [clangxx, *options, "-x", "c++", "-", "-o"]
    program = "#include <thread>\nint main() { std::thread([] {}).join(); }"
    done = subprocess.run(
        [*command, os.devnull], input=program, text=True, capture_output=True, check=False
    )
    return done.returncode == 0


def write_cross_file(folder):
    """Writes the description of the other processor for meson; gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    clang, clangxx = clangs()
    path = folder / "cross_file.ini"
    path.write_text(
        CROSS_FILE.format(
            clang=clang,
            clangxx=clangxx,
            target=TARGET,
            linker=find_linker(),
            emulator=EMULATOR,
        )
    )
    return path


def main(name):
    folder = pathlib.Path(name)
    print(f"Building the native code with sanitizers in {folder}, which takes minutes", flush=True)
    build_and_test(folder, SANITIZE, build_environment())
    if not compiles_for_target():
        print(f"Without {EMULATOR} and a C++ library for it, arm64 is left out")
        return
    folder = folder.with_name(folder.name + "-arm64")
    print(f"Building the engines for arm64 in {folder}", flush=True)
    cross_file = write_cross_file(folder)
    build_and_test(folder, [f"--cross-file={cross_file}", *ENGINES_ALONE], dict(os.environ))


if __name__ == "__main__":
    main(*sys.argv[1:])
