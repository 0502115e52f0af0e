#!/bin/sh
# Installs Cove from the tarball that fits this machine, after its checksum was compared with SHA256SUMS.
#   sh install.sh [--prefix DIR] [--from DIR|URL]
#     --prefix   where bin/cove and its pages go (root: /usr/local; everybody else: ~/.local)
#     --from     the folder or the address with SHA256SUMS and the tarballs (COVE_FROM, else the folder of this script)
set -eu

fail() { printf 'install: %s\n' "$*" >&2; exit 1; }
say() { printf 'install: %s\n' "$*" >&2; }

prefix="" from=${COVE_FROM:-}
while [ $# -gt 0 ]; do
    case $1 in
        --prefix=*) prefix=${1#*=} ;;
        --from=*) from=${1#*=} ;;
        --prefix) [ $# -gt 1 ] || fail "--prefix needs a folder"; prefix=$2; shift ;;
        --from) [ $# -gt 1 ] || fail "--from needs a folder or an address"; from=$2; shift ;;
        -h|--help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) fail "unknown argument $1 (try --help)" ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
if [ -z "$from" ]; then
    case $0 in
        */install.sh|install.sh) from=$(cd "$(dirname "$0")" && pwd) ;;
        *) fail "say where the packages are: --from DIR or --from URL" ;;
    esac
fi
[ "$(uname -s)" = Linux ] || fail "Cove runs on Linux; on $(uname -s), run it in a Linux container"
case $(uname -m) in
    x86_64|amd64) arch=x86_64 ;;
    aarch64|arm64) arch=aarch64 ;;
    *) fail "there is no package for $(uname -m), only for x86_64 and aarch64" ;;
esac

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
trap 'exit 1' HUP INT TERM

get() { # NAME: from the folder or the address, into $place
    case $from in
        http://*|https://*)
            if command -v curl >/dev/null; then curl -fsSL --retry 3 -o "$place/$1" "$from/$1"
            elif command -v wget >/dev/null; then wget -q -O "$place/$1" "$from/$1"
            else fail "neither curl nor wget is here to get $from/$1"
            fi || fail "cannot get $from/$1" ;;
        *) cp "$from/$1" "$place/$1" || fail "there is no $1 in $from" ;;
    esac
}
sum() {
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

get SHA256SUMS
# The one for glibc first; a static one runs where that does not.
names=$(sed -n "s/^[0-9a-f]\{64\}  \(cove-[0-9A-Za-z.+-]*-$arch-linux\(-musl\)\{0,1\}\.tar\.gz\)\$/\1/p" "$place/SHA256SUMS" | sort -r)
names="$(printf '%s\n' "$names" | grep -v -e '-musl') $(printf '%s\n' "$names" | grep -e '-musl' || true)"
found=
for name in $names; do
    get "$name"
    wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\$/\1/p" "$place/SHA256SUMS")
    [ "$(sum "$place/$name")" = "$wanted" ] || fail "$name is not what SHA256SUMS says: it is damaged or not ours; nothing was installed"
    mkdir "$place/tree"
    tar -xzf "$place/$name" -C "$place/tree" --strip-components=1
    if said=$("$place/tree/bin/cove" --version 2>&1); then found=$name; break; fi
    rm -rf "$place/tree" "${place:?}/$name"
done
[ -n "${names# }" ] || fail "there is no tarball for $arch in $from"
if [ -z "$found" ]; then
    for loader in /lib/ld-musl-*; do
        if [ -e "$loader" ] && ! printf %s "$names" | grep -q -e '-musl'; then
            fail "the package in $from is for glibc, and this machine has musl (Alpine): run Cove in a container of Debian's, or make a package for musl: scripts/release $arch-unknown-linux-musl"
        fi
    done
    fail "no package runs on this machine; the last one said: $said"
fi

mkdir -p "$prefix/bin" 2>/dev/null && [ -w "$prefix/bin" ] || fail "cannot write to $prefix/bin: name another folder with --prefix, or run this as root"
cp -R "$place/tree/share" "$prefix/"
# In one step, also while an older one runs.
cp "$place/tree/bin/cove" "$prefix/bin/.cove.$$"
chmod 755 "$prefix/bin/.cove.$$"
mv -f "$prefix/bin/.cove.$$" "$prefix/bin/cove"
say "$said is now $prefix/bin/cove"
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) say "$prefix/bin is not in PATH: add it, or call $prefix/bin/cove" ;;
esac
say "\`cove doctor\` shows what this machine has, \`cove setup\` brings what it lacks"
