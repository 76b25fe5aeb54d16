package lint

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// districts lists all folders of the module that have packages, from the ground up; "." is the
// root. A package may import packages of its own district and of those above it in this list.
var districts = [][]string{
	{"env", "internal/base", "internal/kit"},
	{"event", "keys", "envelope", "aggregate"},
	{"internal/plan"},
	{"pipeline"},
	{"tables"},
	{"internal/table"},
	{"store"},
	{"store/query", "store/repair"},
	{"handler", "verify", "migrate"},
	{"internal/esm", "internal/local"},
	{"internal/testworld", "ingottest"},
	{"internal/run", ".", "cmd/ingest", "cmd/streams", "migrate/capture", "publish"},
	{"examples", "internal/tool", "worker"},
	{"cmd/ingot", "cmd/migrate", "cmd/publish", "cmd/worker"},
	{"internal/prove"},
	{"integration", "events", "scripts"},
}

// walls lists what a folder must not import although its district may, with the exceptions.
var walls = []struct {
	folders   []string
	forbidden []string
	except    []string
	why       string
}{
	{[]string{"internal/esm", "internal/local"},
		[]string{"event", "keys", "envelope", "aggregate", "internal/plan", "pipeline", "internal/table", "store", "handler", "verify"},
		[]string{"internal/plan/lanes"}, "what runs on the stand-ins for AWS must meet what it would meet there"},
	{[]string{"internal/esm", "internal/local/embedded", "internal/local/lambda", "internal/local/wire"},
		[]string{"internal/plan/lanes"}, nil,
		"a stand-in for AWS knows nothing of Ingot"},
	{[]string{"internal/prove", "integration", "events", "scripts"}, []string{"cmd/ingot"}, nil, "the tool is run as a program"},
	{[]string{"handler", "internal/run"}, []string{"store", "verify"}, nil,
		"the functions use the inside of the tables, and nothing that only people and tools need"},
}

// district returns the place of a package in the list, or -1. Of two folders that a package is in,
// the inner one counts.
func district(name string) int {
	at, inner := -1, ""
	for i, folders := range districts {
		for _, folder := range folders {
			if within(name, folder) && len(folder) > len(inner) {
				at, inner = i, folder
			}
		}
	}
	return at
}

// within reports whether a package is in a folder.
func within(name, folder string) bool {
	return name == folder || folder != "." && strings.HasPrefix(name, folder+"/")
}

// imports returns all packages of the module, with what each of them imports from it. Tests do not
// count.
func imports(t *testing.T, tags string) map[string][]string {
	t.Helper()
	return importsOf(t, tags, "Imports")
}

// listed keeps what importsOf has asked the go command.
var listed = map[string]map[string][]string{}

// importsOf is like imports. The fields are those of go list that count.
func importsOf(t *testing.T, tags string, fields ...string) map[string][]string {
	t.Helper()
	format := "{{.ImportPath}}"
	for _, field := range fields {
		format += "{{range ." + field + "}} {{.}}{{end}}"
	}
	if packages := listed[tags+format]; packages != nil {
		return packages
	}
	cmd := exec.Command("go", "list", "-tags="+tags, "-f", format, "./...")
	cmd.Dir = "../../.."
	cmd.Env = append(cmd.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=linux")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list ./...: %v\n%s", err, stderr.String())
	}
	root := strings.TrimSuffix(module, "/")
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		var own []string
		for _, path := range strings.Fields(line) {
			switch {
			case path == root:
				own = append(own, ".")
			case strings.HasPrefix(path, module):
				own = append(own, strings.TrimPrefix(path, module))
			}
		}
		packages[own[0]] = own[1:]
	}
	listed[tags+format] = packages
	return packages
}

// disorder returns the imports that break the order, and packages that are in no district.
func disorder(packages map[string][]string) []string {
	var faults []string
	in := func(name string, folders []string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return within(name, folder) })
	}
	for name, imported := range packages {
		own := district(name)
		if own < 0 {
			faults = append(faults,
				name+" is in no folder of the list districts in internal/prove/lint/layers_test.go; move it into a district")
			continue
		}
		for _, other := range imported {
			if at := district(other); at > own {
				faults = append(faults, name+" imports "+other+", which stands above it; take the import out, or move what both need down")
			}
			for _, w := range walls {
				if in(name, w.folders) && in(other, w.forbidden) && !in(other, w.except) {
					faults = append(faults, name+" imports "+other+", and "+w.why)
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

func TestEachPackageImportsThoseBelowIt(t *testing.T) {
	for _, tags := range []string{"", "ingotlocal"} {
		for _, fault := range disorder(imports(t, tags)) {
			t.Errorf("with tags %q: %s", tags, fault)
		}
	}
}

// TestDistrictsSayWhatTheyKnow shows that each district of internal/ says in its doc.go what it
// knows, what it may import, and what it must never know.
func TestDistrictsSayWhatTheyKnow(t *testing.T) {
	found := 0
	for _, folders := range districts {
		for _, folder := range folders {
			if !strings.HasPrefix(folder, "internal/") || folder == "internal/testworld" {
				continue
			}
			found++
			text, err := os.ReadFile(filepath.Join("..", "..", "..", folder, "doc.go"))
			if err != nil {
				t.Errorf("%v; write it, as the other districts have it", err)
			}
			for _, part := range []string{"// Package " + path.Base(folder) + " ", "\n// May import: ", "\n// Never knows: "} {
				if err == nil && !strings.Contains("\n"+string(text), part) {
					t.Errorf("%s/doc.go lacks %q", folder, strings.TrimSpace(part))
				}
			}
		}
	}
	if entries, err := os.ReadDir(filepath.Join("..", "..")); err != nil || len(entries) != found+1 {
		t.Errorf("internal/ has %d folders (%v), and %d districts and testworld are listed", len(entries), err, found)
	}
}

// importLines returns a line for each package of the module: its path, and those that it imports.
var importLines = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
})

// TestOneReaderOfYAML shows that only internal/plan/yamlfile uses the YAML library, so that every
// mistake in a file that a person writes has a place and says what to write. Tests may use the
// library.
func TestOneReaderOfYAML(t *testing.T) {
	out, err := importLines()
	must.Succeed(t, err)
	var readers []string
	for line := range strings.Lines(string(out)) {
		if own := strings.Fields(line); strings.Contains(line, " github.com/goccy/go-yaml") {
			readers = append(readers, strings.TrimPrefix(own[0], module))
		}
	}
	if want := []string{"internal/plan/yamlfile"}; !slices.Equal(readers, want) {
		t.Errorf("%v use the YAML library, want %v alone; use internal/plan/yamlfile", readers, want)
	}
}

// insides lists the packages that only their façade and each other may import, with what each of
// them may import.
var insides = map[string]map[string][]string{
	"internal/local/embedded": {
		"api":    nil,
		"value":  {"api"},
		"expr":   {"api", "value"},
		"dynamo": {"api", "value", "expr"},
		"sqs":    {"api", "value"},
		"s3":     {"api"},
	},
}

// rooms lists the packages of internal/table, with those of them that each may import.
var rooms = map[string][]string{
	"archive":     {"payloads"},
	"rows":        nil,
	"records":     {"rows"},
	"fences":      {"rows"},
	"payloads":    nil,
	"generations": {"rows"},
	"count":       {"rows", "generations"},
	"differences": {"rows"},
	"plain":       {"rows", "payloads", "differences"},
	"transact":    {"rows", "generations", "count", "plain"},
	"put":         {"rows", "payloads", "generations", "plain", "transact"},
	"walk":        {"rows"}, // for tools alone
}

// breaches returns the imports that go through a wall.
func breaches(insides map[string]map[string][]string, packages map[string][]string) []string {
	var faults []string
	for facade, rooms := range insides {
		for name, imported := range packages {
			room, within := strings.CutPrefix(name, facade+"/")
			for _, other := range imported {
				target, inside := strings.CutPrefix(other, facade+"/")
				switch {
				case !inside || name == facade || other == name:
				case !within:
					faults = append(faults, name+" imports "+other+", which only "+facade+" may use; import "+facade+" instead")
				case !slices.Contains(rooms[room], target):
					faults = append(faults, name+" imports "+other+"; what both need belongs into a package below both")
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// Tests count here: what they need of a façade is missing from it.
func TestWallsInsideAFacade(t *testing.T) {
	for _, tags := range []string{"", "ingotlocal"} {
		packages := importsOf(t, tags, "Imports", "TestImports", "XTestImports")
		for _, fault := range breaches(insides, packages) {
			t.Errorf("with tags %q: %s", tags, fault)
		}
		for facade, rooms := range insides {
			for name := range packages {
				room, within := strings.CutPrefix(name, facade+"/")
				if _, known := rooms[room]; within && !known {
					t.Errorf("%s is not in the map insides of internal/prove/lint/layers_test.go; say there what it may import", name)
				}
			}
		}
	}
}

// TestOnlyTablesKnowDynamoDB shows that of the packages that the functions and verify are made of,
// which are those below internal/local, only those of the tables use the client of DynamoDB.
func TestOnlyTablesKnowDynamoDB(t *testing.T) {
	out, err := importLines()
	must.Succeed(t, err)
	know := []string{"tables", "store", "store/query", "store/repair", "migrate", "migrate/rowmap"} // a table of any kind moves
	for line := range strings.Lines(string(out)) {
		own := strings.Fields(line)
		name := strings.TrimPrefix(own[0], module)
		if at := district(name); 0 <= at && at < district("internal/local") && slices.ContainsFunc(own, func(path string) bool {
			return strings.HasPrefix(path, "github.com/aws/aws-sdk-go-v2/service/dynamodb")
		}) {
			if !within(name, "internal/table") && !slices.Contains(know, name) {
				t.Errorf("%s uses the client of DynamoDB; only internal/table and %v may", name, know)
			}
		}
	}
}

// TestWhatFindsAStackIsSmall shows that the package that finds a stack needs few others, and that
// the flags which choose one bring in neither AWS on this machine nor the rules of check.
func TestWhatFindsAStackIsSmall(t *testing.T) {
	packages := imports(t, "")
	var needs func(name string, all map[string]bool) map[string]bool
	needs = func(name string, all map[string]bool) map[string]bool {
		all[name] = true
		for _, other := range packages[name] {
			if !all[other] {
				needs(other, all)
			}
		}
		return all
	}
	if all := needs("internal/tool/target", map[string]bool{}); len(all) > 20 {
		t.Errorf("internal/tool/target needs %d packages, and at most 20 are enough: %q", len(all), slices.Sorted(maps.Keys(all)))
	}
	for name := range needs("cmd/ingot/command", map[string]bool{}) {
		if within(name, "internal/tool/check/rules") || within(name, "internal/testworld") ||
			within(name, "internal/local") && name != "internal/local/nearby" {
			t.Errorf("cmd/ingot/command needs %s; move what it uses into a smaller package", name)
		}
	}
}

// TestFamiliesOfCommandsAreApart shows that a family of commands imports no other. What they share
// is in package command.
func TestFamiliesOfCommandsAreApart(t *testing.T) {
	found := 0
	for name, imported := range imports(t, "") {
		if !within(name, "cmd/ingot") || name == "cmd/ingot" || within(name, "cmd/ingot/command") {
			continue
		}
		found++
		for _, other := range imported {
			if within(other, "cmd/ingot") && !within(other, "cmd/ingot/command") {
				t.Errorf("%s imports %s; what both need belongs to cmd/ingot/command", name, other)
			}
		}
	}
	if found < 7 {
		t.Errorf("only %d families", found)
	}
}

// TestRoomsOfTheTables shows that each package of internal/table imports only those that the list
// allows it.
func TestRoomsOfTheTables(t *testing.T) {
	packages := imports(t, "")
	maps.DeleteFunc(packages, func(name string, _ []string) bool { return !within(name, "internal/table") })
	for _, fault := range breaches(map[string]map[string][]string{"internal/table": rooms}, packages) {
		t.Error(fault)
	}
	for name := range packages {
		if _, known := rooms[strings.TrimPrefix(name, "internal/table/")]; !known && name != "internal/table" {
			t.Errorf("%s is not in the list rooms of internal/prove/lint/layers_test.go; say there what it may import", name)
		}
	}
}

func TestBreachesAreFound(t *testing.T) {
	rooms := map[string]map[string][]string{"f": {"a": nil, "b": {"a"}, "c": {"a"}}}
	for name, tt := range map[string]struct {
		packages map[string][]string
		want     string // empty if nothing is found
	}{
		"fine":       {map[string][]string{"f": {"f/a", "f/b"}, "f/b": {"f/a", "x"}, "x": nil, "y": {"f"}}, ""},
		"from afar":  {map[string][]string{"y": {"f/b"}}, "y imports f/b, which only f may use"},
		"a sibling":  {map[string][]string{"f/c": {"f/b"}}, "f/c imports f/b; what both need"},
		"from below": {map[string][]string{"f/a": {"f/b"}}, "f/a imports f/b; what both need"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := strings.Join(breaches(rooms, tt.packages), "\n")
			if (tt.want == "") != (faults == "") || !strings.HasPrefix(faults, tt.want) {
				t.Errorf("found %q, want %q", faults, tt.want)
			}
		})
	}
}

func TestDisorderIsFound(t *testing.T) {
	for name, tt := range map[string]struct {
		packages map[string][]string
		want     string // empty if nothing is found
	}{
		"fine": {map[string][]string{"event": nil, "keys": {"event"}, "store": {"event", "keys"}, ".": {"store"}}, ""},
		"upward": {map[string][]string{"event": nil, "keys": {"store"}, "store": {"event"}},
			"keys imports store, which stands above it"},
		"new":      {map[string][]string{"util": {"event"}}, "util is in no folder"},
		"likeness": {map[string][]string{"keysmith": nil}, "keysmith is in no folder"},
		"stand-in": {map[string][]string{"internal/local/stack": {"internal/plan/lanes"}, "internal/local/wire": {"internal/plan/lanes"}},
			"internal/local/wire imports internal/plan/lanes, and a stand-in"},
		"a pipe":    {map[string][]string{"internal/local/stack": {"pipeline"}}, "internal/local/stack imports pipeline, and what runs"},
		"no proofs": {map[string][]string{"handler": {"verify"}}, "handler imports verify, and the functions"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := strings.Join(disorder(tt.packages), "\n")
			if (tt.want == "") != (faults == "") || !strings.HasPrefix(faults, tt.want) || strings.Contains(faults, "\n") {
				t.Errorf("found %q, want %q", faults, tt.want)
			}
		})
	}
}
