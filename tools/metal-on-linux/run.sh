#!/usr/bin/env bash
# Runs rig-metal's promises over its `apple` module on Linux. Needs gobjc and libgnustep-base-dev (Debian's names).
# Arguments go to cargo test, such as --release or a test's name.
set -euo pipefail
cd "$(dirname "$0")"
# Copies a crate of the main workspace's lock file from cargo's registry, and edits one file of the copy.
copy() { # crate, sed script, file
  local version target source
  version=$(sed -n "/^name = \"$1\"\$/{n;s/version = \"\(.*\)\"/\1/p}" ../../Cargo.lock)
  target=target/$1
  [ "$(cat "$target/.version" 2>/dev/null || true)" = "$version" ] && return
  (cd ../.. && cargo fetch --quiet --locked)
  source=$(ls -d "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$1-$version" | head -1)
  rm -rf "$target" && mkdir -p target && cp -r "$source" "$target"
  sed -i "$2" "$target/$3"
  echo "$version" > "$target/.version"
}
# The line that ties the bindings to Apple's linker.
copy objc2-metal '/^#\[link(name = "Metal", kind = "framework")\]$/d' src/generated/mod.rs
# Classes are looked up by name: those that GCC compiles export no symbol that could be linked.
copy objc2 '/^gnustep-1-7 = \[/,/^\]/{/"unstable-static-class",/d}' Cargo.toml
exec cargo "${METAL_ON_LINUX_CARGO:-test}" "$@"
