#!/usr/bin/env bash
# Prints the folder of a go command that can build this repository: the one on PATH if it is 1.21 or later, which with
# GOTOOLCHAIN=auto fetches a newer one by itself; else one fetched, as a module that go verifies, by the older one on PATH
# or, where there is none, of a Debian package.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
wanted=1.26.8 # of the line that go.mod names

fail() {
  echo "go: $1; install the Go version that go.mod names from https://go.dev/dl and try again" >&2
  exit 1
}

minor() { (cd / && "$1" env GOVERSION 2>/dev/null) | sed -n 's/^go1\.\([0-9]*\).*/\1/p'; }

old=$(command -v go || true)
if [ -n "$old" ]; then
  found=$(minor "$old")
  if [ "${found:-0}" -ge 21 ]; then
    dirname "$old"
    exit
  fi
else
  "$here/debian-install.sh" golang-go ca-certificates || fail "there is no go on PATH, and none could be installed"
  old=$(command -v go) || fail "the package golang-go brought no go command"
fi

[ "$(uname -s)" = Linux ] || fail "the go on PATH is too old"
case $(uname -m) in
  x86_64) arch=amd64 ;;
  aarch64) arch=arm64 ;;
  *) fail "there is no Go to fetch for this processor" ;;
esac
# Outside of any module. Writable, because a module brings its programs without the right to be run, and each inner
# go.mod under another name: what a newer go would put right itself.
dir=$(cd / && GOFLAGS=-modcacherw "$old" mod download -json "golang.org/toolchain@v0.0.1-go$wanted.linux-$arch" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p') ||
  fail "Go $wanted could not be fetched as a module"
[ -n "$dir" ] || fail "Go $wanted could not be fetched as a module"
find "$dir/bin" "$dir/pkg/tool" -type f -exec chmod +x {} +
find "$dir" -name _go.mod -execdir cp _go.mod go.mod \;
echo "$dir/bin"
