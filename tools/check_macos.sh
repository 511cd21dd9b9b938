#!/bin/sh
# Compiles the bridge for macOS on any system and checks the messages that it sends.
# Needs ziglang from PyPI in PYTHON's environment; bridge/README.md says what this proves.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
target=aarch64-macos.${MACOSX_DEPLOYMENT_TARGET:-14.0}
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

compile() {
    "$python" -m ziglang cc -target "$target" -std=gnu11 -Wall -Wextra -Werror \
        -Ibridge -Ibridge/include "$@"
}

for source in bridge/*.c; do
    case $source in
    */condition_posix.c) continue ;; # Apple's systems take condition_relative.c
    esac
    compile -DFM_VERSION='""' -c "$source" -o "$objects/$(basename "$source").o"
done
for source in bridge/*.m bridge/apple/*.m; do
    compile -x objective-c -fblocks -fno-objc-arc -Wno-unguarded-availability-new \
        -Wno-deprecated-declarations -Ibridge/host/include \
        -c "$source" -o "$objects/$(basename "$source").o"
done
"$python" tools/macho_selectors.py bridge/apple/selectors.txt "$objects"/*.m.o
