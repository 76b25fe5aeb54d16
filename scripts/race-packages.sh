#!/usr/bin/env bash
# Prints the folders of the packages whose tests need the race detector: those whose files start goroutines or a server,
# or whose tests check that no goroutine is left. In all others, a test and all it calls are one goroutine. With the
# argument "commands" it prints which tests of cmd/ingot need it, as go test -run takes them: those in files that do so.
# What the other commands start is started in packages that have tests of their own.
set -euo pipefail
cd "$(dirname "$0")/.."

# The worlds of demo, sim and ingottest run every request one after the other, by their own clock. docs and lint read
# files and run the go command. integration needs an emulator, and runtimeapi and run/function build the functions:
# .ci/run runs them under the race detector by itself. The tests of stack and archive start no goroutine.
apart='^\./(internal/(tool/demo|prove/(sim(/.*)?|docs|lint)|local/(lambda/runtimeapi|stack)|run/function|table/archive)'
apart+='|ingottest|cmd/ingot|integration(/.*)?)$'

starts='Env\.Each\(|esm\.NewStream|goleak\.|synctest\.|httptest\.New|http\.Server\{|\.Go\(func|\bgo func\b|^\s*go [a-zA-Z_.]+\('

if [ "${1:-}" = commands ]; then
  grep -lE "$starts" cmd/ingot/*_test.go | grep -v /demo_ | xargs sed -nE 's/^func (Test[A-Za-z0-9_]+)\(.*/^\1$/p' | paste -sd '|'
  exit
fi

# Dot directories hold caches and builds.
find . -path './.*' -prune -o -name testdata -prune -o -name '*.go' -print0 | xargs -0 grep -lE "$starts" | xargs -n 1 dirname | sort -u |
  while read -r folder; do
    if compgen -G "$folder/*_test.go" >/dev/null && ! [[ $folder =~ $apart ]]; then
      printf '%s\n' "$folder"
    fi
  done
