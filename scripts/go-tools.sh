#!/usr/bin/env bash
# Installs the named pinned Go tools (staticcheck, govulncheck, actionlint) under .cache/bin if missing, and prints that directory.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

mkdir -p "$here/../.cache/bin"
bin=$(cd "$here/../.cache/bin" && pwd)
install() { # command, package, version
  # The stamp carries the Go version too: a tool built by an older Go cannot read code for a newer one.
  local stamp
  stamp=$bin/.$1-$3-$(go env GOVERSION)
  [ ! -x "$bin/$1" ] || [ ! -e "$stamp" ] || return 0
  if ! GOBIN=$bin GOFLAGS='' go install "$2@$3" >&2; then
    echo "go-tools: $1 $3 could not be installed (above); check that Go modules can be downloaded" >&2
    return 1
  fi
  touch "$stamp"
}
for tool in "$@"; do
  case $tool in
    staticcheck) install staticcheck honnef.co/go/tools/cmd/staticcheck v0.8.2 ;;
    govulncheck) install govulncheck golang.org/x/vuln/cmd/govulncheck v1.9.0 ;;
    actionlint) install actionlint github.com/rhysd/actionlint/cmd/actionlint v1.7.12 ;;
    *)
      echo "go-tools: no version is pinned for $tool; there are staticcheck, govulncheck and actionlint" >&2
      exit 2
      ;;
  esac
done
echo "$bin"
