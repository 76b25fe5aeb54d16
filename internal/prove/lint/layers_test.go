package lint

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// layers lists all packages of the module; "." is the root. Each package may import those above it,
// and none below it. The place of a new package is below everything that it imports and above
// everything that imports it.
var layers = []string{
	// For tests alone.
	"internal/kit/testclock", "internal/kit/sampleshop", "internal/kit/corpus", "internal/kit/slow", "internal/kit/golden", "internal/kit/replay",
	// What an event is, and what it adds to which total: pure.
	"internal/base/excerpt", "internal/base/itemform", "event", "keys", "envelope", "aggregate", "internal/plan/lanes", "internal/plan/where", "internal/plan/yamlfile", "internal/plan/lifetime", "internal/plan/jsonschema", "internal/plan/packed", "pipeline",
	"internal/base/reserved",
	// The tables, the two functions, and the proof.
	"env", "internal/base/awserr", "internal/table/payloads", "store", "internal/table/tables", "handler", "verify", "internal/tool/work",
	// What stands in for AWS.
	"internal/local/embedded/api", "internal/local/embedded/value", "internal/local/embedded/expr",
	"internal/local/embedded/dynamo", "internal/local/embedded/sqs", "internal/local/embedded/s3", "internal/local/embedded", "internal/local/wire",
	"internal/local/lambda/esm", "internal/local/lambda/mappings", "internal/local/lambda/runtimeapi", "internal/local/stack",
	// What runs the functions on it: the test world, seeded worlds, the tests of users.
	"internal/testworld",
	"internal/prove/sim", "internal/prove/sim/scenario", "internal/prove/sim/worlds",
	"internal/prove/sim/mutants/hunt/found", "internal/prove/sim/mutants/hunt", "internal/prove/sim/mutants",
	"ingottest",
	// What is deployed.
	"internal/run/emf", "internal/run/function", ".", "cmd/ingest", "cmd/streams",
	// The tool.
	"internal/tool/show",
	"internal/tool/fields",
	"internal/tool/ndjson", "internal/tool/frequent", "internal/tool/sample",
	"internal/tool/estimate", "internal/tool/changes", "internal/tool/check/template", "internal/tool/check",
	"internal/tool/target/targettest", "internal/tool/target",
	"internal/tool/send",
	"internal/tool/explain",
	"internal/tool/quarantine", "internal/tool/pause",
	"internal/tool/status",
	"internal/tool/cost", "internal/tool/propose", "internal/tool/scaffold",
	"examples", "internal/tool/demo/tally", "internal/tool/demo",
	"internal/tool/dev/disk", "internal/tool/dev", "internal/tool/console",
	"cmd/ingot",
	"examples/totals", // what a user's program does with the library
	// Tests against other implementations, benchmarks, and what checks the repository itself.
	"internal/prove/peers/dynoxide", "internal/prove/peers/endpoint", "integration/contract", "integration/twin", "integration/crash", "integration",
	"internal/prove/cold", "internal/prove/cold/reference", "internal/prove/cold/reference/streams", "internal/prove/bench",
	"events", "internal/prove/docs", "internal/prove/schema", "internal/prove/lint", "scripts/skips", "scripts/house",
}

// imports returns all packages of the module, with what each of them imports from it. Tests do not
// count.
func imports(t *testing.T, tags string) map[string][]string {
	t.Helper()
	return importsOf(t, tags, "Imports")
}

// importsOf is like imports. The fields are those of go list that count.
func importsOf(t *testing.T, tags string, fields ...string) map[string][]string {
	t.Helper()
	format := "{{.ImportPath}}"
	for _, field := range fields {
		format += "{{range ." + field + "}} {{.}}{{end}}"
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
	return packages
}

// disorder returns the imports and entries that break the order.
func disorder(order []string, packages map[string][]string) []string {
	var faults []string
	for name, imported := range packages {
		own := slices.Index(order, name)
		if own < 0 {
			faults = append(faults, name+" is not in the list layers of internal/prove/lint/layers_test.go; put it there below everything that it imports and above everything that imports it")
			continue
		}
		for _, other := range imported {
			if at := slices.Index(order, other); at > own {
				faults = append(faults, name+" imports "+other+", which stands below it; take the import out, or move what both need up")
			}
		}
	}
	for i, name := range order {
		if _, there := packages[name]; !there {
			faults = append(faults, name+" is listed, and there is no such package; take it out of the list layers")
		}
		if slices.Index(order, name) != i {
			faults = append(faults, name+" is listed twice")
		}
	}
	slices.Sort(faults)
	return faults
}

func TestEachPackageImportsThoseAboveIt(t *testing.T) {
	for _, tags := range []string{"", "ingotlocal"} {
		for _, fault := range disorder(layers, imports(t, tags)) {
			t.Errorf("with tags %q: %s", tags, fault)
		}
	}
}

// TestOneReaderOfYAML shows that only internal/plan/yamlfile uses the YAML library, so that every
// mistake in a file that a person writes has a place and says what to write. Tests may use the
// library.
func TestOneReaderOfYAML(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
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

// TestOnlyStoreKnowsDynamoDB shows that no other package that the functions and verify are made of
// uses the client of DynamoDB. The layers above "What stands in for AWS" are these packages.
func TestOnlyStoreKnowsDynamoDB(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	end := slices.Index(layers, "internal/local/embedded/api")
	var users []string
	for line := range strings.Lines(string(out)) {
		own := strings.Fields(line)
		name := strings.TrimPrefix(own[0], module)
		if at := slices.Index(layers, name); 0 <= at && at < end && slices.ContainsFunc(own, func(path string) bool {
			return strings.HasPrefix(path, "github.com/aws/aws-sdk-go-v2/service/dynamodb")
		}) {
			users = append(users, name)
		}
	}
	if !slices.Equal(users, []string{"store"}) {
		t.Errorf("%v use the client of DynamoDB; only store may", users)
	}
}

// TestStandInsKnowNothingOfIngot shows that the stand-ins for AWS and Lambda do not know Ingot. So
// what runs on them meets what it would meet there.
func TestStandInsKnowNothingOfIngot(t *testing.T) {
	found := 0
	for name, imported := range imports(t, "") {
		for _, standIn := range []string{"internal/local/embedded", "internal/local/lambda/esm", "internal/local/lambda/mappings", "internal/local/lambda/runtimeapi"} {
			if name != standIn && !strings.HasPrefix(name, standIn+"/") {
				continue
			}
			found++
			for _, other := range imported {
				if !strings.HasPrefix(other, standIn+"/") && other != "internal/base/reserved" { // DynamoDB's reserved words
					t.Errorf("%s imports %s; a stand-in for AWS must not know what runs on it", name, other)
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d stand-ins found", found)
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
	order := []string{"event", "keys", "store"}
	for name, tt := range map[string]struct {
		packages map[string][]string
		want     string // empty if nothing is found
	}{
		"fine":   {map[string][]string{"event": nil, "keys": {"event"}, "store": {"event", "keys"}}, ""},
		"upward": {map[string][]string{"event": nil, "keys": {"store"}, "store": {"event"}}, "keys imports store, which stands below it"},
		"new":    {map[string][]string{"event": nil, "keys": nil, "store": nil, "util": {"event"}}, "util is not in the list layers"},
		"gone":   {map[string][]string{"event": nil, "store": nil}, "keys is listed, and there is no such package"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := strings.Join(disorder(order, tt.packages), "\n")
			if (tt.want == "") != (faults == "") || !strings.HasPrefix(faults, tt.want) || strings.Contains(faults, "\n") {
				t.Errorf("found %q, want %q", faults, tt.want)
			}
		})
	}
}

// widestRow is how many characters a row of the table of docs/design.md may have.
const widestRow = 160

// TestDesignListsPackagesInThisOrder shows that the table of docs/design.md names each package
// once, in this order, and fits on a screen.
func TestDesignListsPackagesInThisOrder(t *testing.T) {
	page, err := os.ReadFile("../../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Packages\n")
	listed, rows := listedPackages(section, layers)
	for i, name := range layers {
		if i >= len(listed) || listed[i] != name {
			t.Fatalf("after %v, the table of docs/design.md must name %s, as layers does; it names %v",
				listed[max(0, i-3):min(i, len(listed))], name, listed[min(i, len(listed)):min(i+3, len(listed))])
		}
	}
	if len(listed) > len(layers) {
		t.Errorf("the table of docs/design.md also names %v, which are no packages or stand there twice", listed[len(layers):])
	}
	if rows > 55 {
		t.Errorf("the table of docs/design.md has %d rows, which do not fit on a screen; put packages of one purpose into one row", rows)
	}
	for _, row := range tooWide(section) {
		t.Errorf("docs/design.md: this row has %d characters, and at most %d are read at a glance; shorten it:\n%s", utf8.RuneCountInString(row), widestRow, row)
	}
}

// listedPackages returns the packages that a table names in its first column, and how many rows the
// table has. A name that ends in … stands for itself, if there is such a package, and all below it.
func listedPackages(section string, known []string) (listed []string, rows int) {
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		for cell := range strings.SplitSeq(strings.SplitN(line, "|", 3)[1], ",") {
			name := strings.TrimSuffix(strings.Trim(cell, " `"), "/")
			below, all := strings.CutSuffix(name, "/…")
			if !all {
				listed = append(listed, name)
				continue
			}
			for _, p := range known {
				if p == below || strings.HasPrefix(p, below+"/") {
					listed = append(listed, p)
				}
			}
		}
	}
	return listed, rows
}

// tooWide returns the rows of the table that are too wide.
func tooWide(section string) (rows []string) {
	for line := range strings.Lines(section) {
		if row := strings.TrimSpace(line); strings.HasPrefix(row, "| `") && utf8.RuneCountInString(row) > widestRow {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestListedPackages(t *testing.T) {
	listed, rows := listedPackages("| package | x |\n| --- | --- |\n| `a/`, `.` | both |\n| `b/…` | c |\n", []string{"a", ".", "b/c", "b", "bc"})
	if got := strings.Join(listed, " "); got != "a . b/c b" || rows != 2 {
		t.Errorf("%d rows with %s", rows, got)
	}
	fits := "| `a/` | " + strings.Repeat("…", widestRow-len("| `a/` |  |")) + " |"
	if got := tooWide(fits + "\nNo row is " + strings.Repeat("x", widestRow) + "\n" + fits + " \n" + fits + ".\n"); len(got) != 1 || got[0] != fits+"." {
		t.Errorf("too wide are %q", got)
	}
}
