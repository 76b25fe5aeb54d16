#!/usr/bin/env bash
# Prints the folders of the packages whose tests need the race detector: those whose files start goroutines or a server,
# or whose tests check that no goroutine is left. In all others, a test and all it calls are one goroutine.
set -euo pipefail
cd "$(dirname "$0")/.."

# The worlds of demo, sim and ingottest run every request one after the other, by their own clock. docs and lint read
# files and run the go command. integration needs an emulator, and runtimeapi and run/function build the functions:
# .ci/run runs them under the race detector by itself. The tests of stack and archive start no goroutine.
apart='^\./(internal/(tool/demo|prove/(sim(/.*)?|docs|lint)|local/(lambda/runtimeapi|stack)|run/function|table/archive)'
apart+='|ingottest|integration(/.*)?)$'

starts='Env\.Each\(|esm\.NewStream|goleak\.|synctest\.|httptest\.New|http\.Server\{|\.Go\(func|\bgo func\b|^\s*go [a-zA-Z_.]+\('

# Dot directories hold caches and builds.
find . -path './.*' -prune -o -name testdata -prune -o -name '*.go' -print0 | xargs -0 grep -lE "$starts" | xargs -n 1 dirname | sort -u |
  while read -r folder; do
    if compgen -G "$folder/*_test.go" >/dev/null && ! [[ $folder =~ $apart ]]; then
      printf '%s\n' "$folder"
    fi
  done
