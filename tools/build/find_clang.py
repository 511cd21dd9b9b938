"""Finds the clang that compiles the Objective-C bridge: OBJC, or the newest from version 19 on."""

import os
import re
import shutil
import subprocess
import sys

OLDEST = 19
NEWEST = 24  # of the versioned names that are tried
ADVICE = (
    f"flashmetal is built with clang {OLDEST} or newer, and none was found: run "
    "tools/bootstrap.sh, or name one in the environment, e.g. OBJC=clang-19"
)


def version(command):
    """The major version of a clang command; 0 when it is none. Apple's counts as new enough."""
    if not shutil.which(command):
        return 0
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    if "Apple clang" in done.stdout:
        return OLDEST
    found = re.search(r"clang version (\d+)", done.stdout)
    return int(found[1]) if found else 0


def command():
    """The command's name; leaves the program with one sentence when there is none."""
    named = os.environ.get("OBJC")
    if named:
        return named
    for name in [*(f"clang-{n}" for n in range(NEWEST, OLDEST - 1, -1)), "clang"]:
        if version(name) >= OLDEST:
            return name
    sys.exit(ADVICE)


if __name__ == "__main__":
    print(command())
