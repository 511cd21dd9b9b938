#!/bin/sh
# Installs the system packages that building and testing flashmetal takes: clang 19 or newer with
# its sanitizers and lld, a C++ compiler, GCC's Objective-C runtime, the Blocks runtime, Python's
# headers and venv. With apt it installs what is missing, and on x86-64 what the native tests for
# arm64 take; elsewhere it prints the command. Safe to repeat: when nothing is missing it does
# nothing.
set -eu
PYTHON=${PYTHON:-python3}
build_tools=$(dirname "$0")/build
OLDEST_CLANG=19
NEWEST_CLANG=24

stop() { # sentence
    echo "$1" >&2
    exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

python() { "$PYTHON" -c "import os, sys, sysconfig; $1" 2>/dev/null; }

find_clang() { "$PYTHON" "$build_tools/find_clang.py" 2>/dev/null; }

sanitizers() {
    for name in libclang_rt.asan.a "libclang_rt.asan-$(uname -m).a"; do
        [ "$("$(find_clang)" -print-file-name="$name")" = "$name" ] || return 0
    done
    return 1
}

includes() { # header
    echo "#include <$1>" |
        gcc -fsyntax-only -idirafter "$(gcc -print-file-name=include)" -x c - >/dev/null 2>&1
}

links() { # library
    [ "$(gcc -print-file-name="lib$1.so")" != "lib$1.so" ]
}

missing() { # the kinds of thing that are not there, a word each
    if ! find_clang >/dev/null; then
        echo clang
    elif ! sanitizers; then
        echo sanitizers
    fi
    have ld.lld || ls /usr/bin/ld.lld-* >/dev/null 2>&1 || echo lld
    have g++ || have c++ || have clang++ || echo c++
    { includes objc/objc.h && links objc; } || echo objc
    { includes Block.h && links BlocksRuntime; } || echo blocks
    python 'open(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' ||
        echo python-headers
    python 'import ensurepip, venv' || echo venv
    if have apt-get && [ "$(uname -m)" = x86_64 ]; then
        have qemu-aarch64 || echo emulator
        ls /usr/lib/gcc-cross/aarch64-linux-gnu/*/libstdc++.a >/dev/null 2>&1 || echo arm64-c++
    fi
}

clang_for_apt() { # the version that is there, or the oldest good one that apt offers
    if clang=$(find_clang); then
        "$clang" -dumpversion | cut -d. -f1
        return
    fi
    version=$OLDEST_CLANG
    while [ "$version" -le "$NEWEST_CLANG" ]; do
        if apt-cache show "clang-$version" >/dev/null 2>&1; then
            echo "$version"
            return
        fi
        version=$((version + 1))
    done
    return 1
}

apt_packages() { # words of missing(), version of clang
    python=python$(python 'print("%d.%d" % sys.version_info[:2])')
    gcc=$(gcc -dumpversion | cut -d. -f1)
    for thing in $1; do
        case $thing in
        clang) echo "clang-$2 libclang-rt-$2-dev" ;;
        sanitizers) echo "libclang-rt-$2-dev" ;;
        lld) echo "lld-$2" ;;
        c++) echo g++ ;;
        objc) echo "libobjc-$gcc-dev" ;;
        blocks) echo libblocksruntime-dev ;;
        python-headers) echo "$python-dev" ;;
        venv) echo "$python-venv" ;;
        emulator) echo qemu-user ;;
        arm64-c++) echo "libstdc++-$gcc-dev-arm64-cross" ;;
        esac
    done | tr '\n' ' '
}

install_with_apt() { # words of missing()
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        # What apt has not been told yet, it may offer all the same.
        packages=$(apt_packages "$1" "$(clang_for_apt || echo "$OLDEST_CLANG")")
        have sudo || stop "System packages are missing; have root install them, then repeat:
    apt-get update && apt-get install -y --no-install-recommends $packages"
        as_root=sudo
    fi
    $as_root apt-get update -qq
    version=$(clang_for_apt) || stop "apt offers no clang $OLDEST_CLANG or newer: add the LLVM \
project's apt repository, then repeat."
    packages=$(apt_packages "$1" "$version")
    echo "Installing with apt-get: $packages"
    log=$(mktemp)
    # shellcheck disable=SC2086  # one word a package
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=300 $packages >"$log" 2>&1 || {
        cat "$log" >&2
        rm "$log"
        stop "apt-get could not install them: see above."
    }
    rm "$log"
}

have "$PYTHON" || stop "There is no $PYTHON: install Python 3.10 or newer, or name it: PYTHON=/path/to/python3"
python 'sys.exit(sys.version_info < (3, 10))' ||
    stop "$PYTHON is older than 3.10: install a newer Python and name it, e.g. PYTHON=python3.12."

if [ "$(uname -s)" = Darwin ]; then
    xcode-select -p >/dev/null 2>&1 ||
        stop "Install Xcode's command line tools, then repeat: xcode-select --install"
    exit 0
fi

have gcc || stop "There is no gcc: install it with your system's package manager, then repeat."
lacking=$(missing | tr '\n' ' ')
[ -n "$lacking" ] || exit 0

if have apt-get; then
    install_with_apt "$lacking"
elif have dnf; then
    stop "Install what is missing ($lacking), then repeat:
    sudo dnf install clang lld compiler-rt gcc-c++ gcc-objc libblocksruntime-devel python3-devel"
elif have pacman; then
    stop "Install what is missing ($lacking), then repeat:
    sudo pacman -S clang lld compiler-rt gcc-objc libdispatch python"
else
    stop "Install what is missing ($lacking), then repeat: clang $OLDEST_CLANG or newer with its \
sanitizers, lld, a C++ compiler, GCC's libobjc and libBlocksRuntime with headers, Python's headers."
fi

still=$(missing | tr '\n' ' ')
[ -z "$still" ] || stop "Still missing after the installation: $still"
