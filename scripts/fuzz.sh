#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another, for the time given (a Go duration such as 30s).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 1 ] || { echo "usage: scripts/fuzz.sh DURATION" >&2; exit 2; }

# go test -list prints the targets of a package, then the package's own line.
listing=$(go test -list '^Fuzz' ./...)
found=0 targets=()
while read -r first package _; do
  case $first in
    Fuzz*) targets+=("$first") ;;
    ok)
      for target in ${targets[@]+"${targets[@]}"}; do
        echo "== $package $target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 1x "$package"
        found=$((found + 1))
      done
      targets=()
      ;;
  esac
done <<<"$listing"
echo "fuzz: $found targets, $1 each"
