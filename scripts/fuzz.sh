#!/usr/bin/env bash
# Runs every fuzz target of the module, one after another, for the time given (a Go duration such as 30s).
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# = 1 ] || { echo "usage: scripts/fuzz.sh DURATION" >&2; exit 2; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# When the time is up, Go before 1.27 may report that itself as a failure, with no input (https://go.dev/issue/75804).
# Such a target is run once more; whatever else fails ends the run, and Go has written the input into testdata/fuzz.
fuzz() { # package, target, duration
  local try
  for try in 1 2; do
    go test -run '^$' -fuzz "^$2\$" -fuzztime "$3" -fuzzminimizetime 1x "$1" 2>&1 | tee "$log" && return
    ! grep -q 'Failing input written\|panic' "$log" && grep -q '^ *context deadline exceeded$' "$log" || return 1
    echo "fuzz: $2 found nothing; the end of its time was taken for a failure (try $try)"
  done
  return 1
}

# go test -list prints the targets of a package, then the package's own line.
listing=$(go test -list '^Fuzz' ./...)
found=0 targets=()
while read -r first package _; do
  case $first in
    Fuzz*) targets+=("$first") ;;
    ok)
      for target in ${targets[@]+"${targets[@]}"}; do
        echo "== $package $target"
        fuzz "$package" "$target" "$1"
        found=$((found + 1))
      done
      targets=()
      ;;
  esac
done <<<"$listing"
echo "fuzz: $found targets, $1 each"
