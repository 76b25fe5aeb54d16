package lint

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// elsewhere lists paths that the repository names and that are not in it.
var elsewhere = []string{
	// What ingot init writes into a new repository.
	"events/sample.ndjson", "events/ingest.json", "pipeline/pipeline.yaml",
	// Made up by a test.
	"cmd/other", "cmd/ingst", "events/10",
	// A page of AWS.
	"docs/lambdas-md",
}

// TestNamedPathsExist shows that each path of this repository that a file of it names is there: in
// a list of what may not ship, in a wall between packages, in a script, in a page. A folder that
// moves would else take itself out of a rule, and nothing would turn red.
func TestNamedPathsExist(t *testing.T) {
	there := map[string]bool{}
	for _, file := range tracked(t, "*") {
		for at := strings.TrimPrefix(file, "../../../"); at != "."; at = path.Dir(at) {
			there[at] = true
		}
	}
	named := pathPattern(there)
	looked := 0
	for _, file := range tracked(t, "*") {
		name := strings.TrimPrefix(file, "../../../")
		if name == "CHANGELOG.md" || name == "internal/prove/lint/guards_test.go" || strings.Contains(name, "/testdata/") &&
			path.Ext(name) != ".txtar" {
			continue // what was, what this test makes up, and data
		}
		text := must.Read(t, file)
		for _, p := range missing(named, path.Dir(name), strings.ReplaceAll(string(text), `\.`, "."), there) {
			t.Errorf("%s names %s, which does not exist; name the path where it is now", name, p)
		}
		looked++
	}
	if looked < 500 {
		t.Errorf("only %d files looked at", looked)
	}
}

// pathPattern matches a path of at least two parts that begins with a folder of the root.
func pathPattern(there map[string]bool) *regexp.Regexp {
	var roots []string
	for _, p := range slices.Sorted(maps.Keys(there)) {
		if first, _, below := strings.Cut(p, "/"); below && !slices.Contains(roots, regexp.QuoteMeta(first)) {
			roots = append(roots, regexp.QuoteMeta(first))
		}
	}
	return regexp.MustCompile(`(^|[^\w/.$}*@-])((?:\.\.?/)*(?:` + strings.Join(roots, "|") + `)/[\w.*/-]+)`)
}

// upward matches the beginning of a path that leads out of a folder.
var upward = regexp.MustCompile(`^(\.\.?/)+`)

// missing returns the paths in a text that neither the root nor the text's own folder has. A path
// may be a package with a name of it, and a pattern with * is not looked at.
func missing(named *regexp.Regexp, folder, text string, there map[string]bool) (list []string) {
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		p := strings.TrimRight(m[2], "./")
		below := upward.ReplaceAllString(p, "")
		symbol := strings.TrimSuffix(below, path.Ext(below)) // Type.method has one more
		known := strings.Contains(p, "*") || there[below] || there[symbol] || there[strings.TrimSuffix(symbol, path.Ext(symbol))] ||
			there[below+".go"] || there[path.Join(folder, p)] ||
			slices.ContainsFunc(elsewhere, func(e string) bool { return below == e || strings.HasPrefix(below, e+"/") })
		if !known && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func TestMissingFindsPaths(t *testing.T) {
	there := map[string]bool{}
	for _, p := range []string{"internal", "internal/a", "internal/a/a.go", "docs", "docs/x.md", ".ci", ".ci/run"} {
		there[p] = true
	}
	for text, want := range map[string]string{
		`"internal/a", "internal/gone"`:          "internal/gone",
		"internal/a.Name and internal/a/a":       "",
		"internal/a.Name.method":                 "",
		"`../../internal/gone/b.go`":             "../../internal/gone/b.go",
		"see docs/x.md. And .ci/run, docs/y.md:": "docs/y.md",
		"./internal/b/...":                       "./internal/b",
		"https://a.example/docs/z.md":            "",
		"$d/docs/z.md and docs/*.txt":            "",
	} {
		must.Equal(t, strings.Join(missing(pathPattern(there), "internal/a", text, there), " "), want, text)
	}
}
