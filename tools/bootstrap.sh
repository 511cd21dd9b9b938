#!/bin/sh
# Installs the system packages that building flashmetal takes: clang 19 or newer with lld, a C++
# compiler, GCC's Objective-C runtime, the Blocks runtime, Python's headers and venv. With apt it
# installs what is missing; elsewhere it prints the command. Safe to repeat: when nothing is
# missing it does nothing.
set -eu
PYTHON=${PYTHON:-python3}
OLDEST_CLANG=19
NEWEST_CLANG=30

have() { command -v "$1" >/dev/null 2>&1; }

clang_found() {
    "$PYTHON" "$(dirname "$0")/build/find_clang.py" >/dev/null 2>&1
}

compiles() { # language, program text
    file=$(mktemp -d)
    printf '%s\n' "$2" >"$file/probe.$1"
    status=0
    gcc -fsyntax-only -idirafter "$(gcc -print-file-name=include)" "$file/probe.$1" \
        >/dev/null 2>&1 || status=1
    rm -rf "$file"
    return $status
}

python_headers() {
    "$PYTHON" -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))'
}

links() { # library
    [ "$(gcc -print-file-name="lib$1.so")" != "lib$1.so" ]
}

missing() { # the kinds of thing that are not there, a word each
    clang_found || echo clang
    have ld.lld || ls /usr/bin/ld.lld-* >/dev/null 2>&1 || echo lld
    have g++ || have c++ || have clang++ || echo c++
    compiles c '#include <objc/objc.h>' && links objc || echo objc
    compiles c '#include <Block.h>' && links BlocksRuntime || echo blocks
    python_headers || echo python-headers
    "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || echo venv
}

newest_clang() { # the newest clang-N that apt offers
    n=$NEWEST_CLANG
    while [ "$n" -ge "$OLDEST_CLANG" ]; do
        if apt-cache show "clang-$n" >/dev/null 2>&1; then
            echo "$n"
            return
        fi
        n=$((n - 1))
    done
}

apt_packages() { # for the words of missing()
    clang=$(newest_clang)
    gcc_major=$(gcc -dumpversion | cut -d. -f1)
    for thing in $1; do
        case $thing in
        clang)
            if [ -z "$clang" ]; then
                echo "This system's apt offers no clang $OLDEST_CLANG or newer: add the LLVM" \
                    "project's apt repository, then run this again." >&2
                return 1
            fi
            echo "clang-$clang libclang-rt-$clang-dev"
            ;;
        lld) echo "lld-${clang:-$OLDEST_CLANG}" ;;
        c++) echo g++ ;;
        objc) echo "libobjc-$gcc_major-dev" ;;
        blocks) echo libblocksruntime-dev ;;
        python-headers) echo python3-dev ;;
        venv) echo python3-venv ;;
        esac
    done
}

install_with_apt() {
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! have sudo; then
            echo "Run as root: tools/bootstrap.sh (it installs packages with apt-get)." >&2
            exit 1
        fi
        as_root=sudo
    fi
    $as_root apt-get update -qq
    packages=$(apt_packages "$1")
    # shellcheck disable=SC2086  # one word a package
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $packages
}

if [ "$(uname -s)" = Darwin ]; then
    if ! xcode-select -p >/dev/null 2>&1; then
        echo "Install Xcode's command line tools: xcode-select --install" >&2
        exit 1
    fi
    exit 0
fi

if ! have "$PYTHON"; then
    echo "Install Python 3.10 or newer first, or name it: PYTHON=/path/to/python3" >&2
    exit 1
fi
if ! have gcc; then
    echo "Install gcc first, with your system's package manager." >&2
    exit 1
fi
lacking=$(missing | tr '\n' ' ')
[ -n "$lacking" ] || exit 0
echo "Missing for the build: $lacking"

if have apt-get; then
    install_with_apt "$lacking"
elif have dnf; then
    echo "Run: sudo dnf install clang lld gcc-c++ gcc-objc libblocksruntime-devel python3-devel" >&2
    exit 1
elif have pacman; then
    echo "Run: sudo pacman -S clang lld gcc-objc libblocksruntime python" >&2
    exit 1
else
    echo "Install clang $OLDEST_CLANG or newer, lld, a C++ compiler, GCC's libobjc with headers," \
        "libBlocksRuntime with headers, and Python's headers." >&2
    exit 1
fi

still=$(missing | tr '\n' ' ')
if [ -n "$still" ]; then
    echo "Still missing after the installation: $still" >&2
    exit 1
fi
