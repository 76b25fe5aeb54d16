#!/usr/bin/env bash
# Checks the sources without running them: "go" for the Go code, "systems" for what is compiled on macOS and Windows
# alone, "template" for the SAM template; all when not told.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."

lint_go() {
  local unformatted bin
  # Dot directories hold caches and builds.
  unformatted=$(find . -path './.*' -prune -o -name '*.go' -print0 | xargs -0 -r gofmt -l)
  if [ -n "$unformatted" ]; then
    printf 'lint: not formatted; run gofmt -w on:\n%s\n' "$unformatted" >&2
    return 1
  fi
  large
  go vet ./...
  go mod tidy -diff
  bin=$("$here/go-tools.sh" staticcheck)
  "$bin/staticcheck" ./...
  workflows
  vulnerabilities
}

# The flag is that of scripts/release: what is compiled for one of them is there for the other.
lint_systems() {
  GOFLAGS=-trimpath CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go vet ./...
  GOFLAGS=-trimpath CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go vet ./...
}

# Those of this repository, and of those that ingot init makes.
workflows() {
  local bin
  bin=$("$here/go-tools.sh" actionlint)
  "$bin/actionlint" .github/workflows/*.yml internal/tool/scaffold/files/*ci.yml
}

# What a build has left behind does not belong here. Nothing else in the repository has half a megabyte.
large() {
  local files
  files=$(git ls-files -z | xargs -0 -r sh -c 'find "$@" -size +512k' find)
  if [ -n "$files" ]; then
    printf 'lint: too large for the repository; take them out with git rm --cached:\n%s\n' "$files" >&2
    return 1
  fi
}

# Known vulnerabilities fail the check; only a database that cannot be reached is passed over, for lint must work offline.
vulnerabilities() {
  if ! timeout 10 bash -c 'exec 3<>/dev/tcp/vuln.go.dev/443' 2>/dev/null; then
    echo "lint: govulncheck skipped: its database at vuln.go.dev cannot be reached"
    return 0
  fi
  local bin
  bin=$("$here/go-tools.sh" govulncheck)
  "$bin/govulncheck" ./...
}

# The last template is that of a repository without Go, which ingot init makes.
lint_template() {
  [ -e template.yaml ] || return 0
  local bin template
  bin=$("$here/sam.sh")
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  go run ./cmd/ingot init "$made/shop" --no-go >/dev/null
  set -- template.yaml cmd/migrate/template.yaml cmd/publish/template.yaml cmd/worker/template.yaml "$made/shop/template.yaml"
  "$bin/cfn-lint" "$@"
  for template; do
    SAM_CLI_TELEMETRY=0 "$bin/sam" validate --lint --region us-east-1 --template "$template"
  done
}

[ $# -gt 0 ] || set -- go systems template
for part in "$@"; do
  case $part in
    go | systems | template) "lint_$part" ;;
    *)
      echo "lint: unknown part $part; use go, systems or template" >&2
      exit 2
      ;;
  esac
done
