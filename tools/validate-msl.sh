#!/usr/bin/env bash
# validate-msl.sh DIR: compiles every .metal file below DIR, layout asserts on.
#
# On a Mac with Xcode: xcrun metal, and metallib over each result. Elsewhere: metal-check (clang and headers of our
# own), which METAL_CHECK may name; otherwise it is built. MSL_STD is the language version (default metal2.4).
# Exit status: 0 if every file passed, 1 if one failed, 2 if nothing could be checked.
set -euo pipefail

if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi
dir=$1
std=${MSL_STD:-metal2.4}

if [ "$(uname)" = Darwin ] && xcrun -sdk macosx --find metal >/dev/null 2>&1; then
    # Versions before 3.0 are named per platform.
    case $std in
        metal2.*) std=macos-$std ;;
    esac
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    passed=0
    failed=0
    while IFS= read -r -d '' file; do
        if xcrun -sdk macosx metal -std="$std" -DONESHADER_CHECK_LAYOUT -c "$file" -o "$out/x.air" &&
            xcrun -sdk macosx metallib "$out/x.air" -o "$out/x.metallib"; then
            passed=$((passed + 1))
        else
            echo "$file: failed"
            failed=$((failed + 1))
        fi
    done < <(find "$dir" -name '*.metal' -print0 | sort -z)
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
elif [ -n "${METAL_CHECK:-}" ]; then
    exec "$METAL_CHECK" --quiet --std="$std" "$dir"
else
    root=$(cd "$(dirname "$0")/.." && pwd)
    exec cargo run --quiet --manifest-path "$root/Cargo.toml" -p metal-check -- --quiet --std="$std" "$dir"
fi
