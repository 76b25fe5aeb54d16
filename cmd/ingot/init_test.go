package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/cmd/ingot/local"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// inRepository runs a command in a repository that init has made.
func inRepository(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}

// ci runs the commands of a repository's CI workflow, and returns what they print.
func ci(t *testing.T, dir string) (out string) {
	t.Helper()
	for line := range strings.Lines(content(t, filepath.Join(dir, ".github/workflows/ci.yml"))) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "- run: "); ok {
			out += inRepository(t, dir, "sh", "-c", command)
		}
	}
	return out
}

// A new repository builds, and its CI passes. check, explain and demo find nothing wrong with it.
// It is exactly what this version writes.
func TestInitMakesARepository(t *testing.T) {
	slow.Test(t, "it builds and tests two repositories")
	sample := filepath.Join(t.TempDir(), "sample.ndjson")
	write(t, sample, samples)
	for name, option := range map[string]string{"small": "", "proposed": "--events " + sample} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "shop")
			tool(t, "init "+option, dir).says(t, exitFine)
			must.Say(t, ci(t, dir), ": no mistakes")
			must.Say(t, inRepository(t, dir, "go", "tool", "ingot", "explain", "events/ingest.json"), "Inserted")
			must.Say(t, inRepository(t, dir, "make", "demo"), "Every event is stored once and counted once.")
			must.Equal(t, inRepository(t, dir, "go", "tool", "ingot", "init", "--diff"), "")
			next := filepath.Join(filepath.Dir(dir), "next")
			inRepository(t, dir, "go", "tool", "ingot", "init", next)
			inRepository(t, next, "go", "build", "./...")
		})
	}
}

// newShop makes a repository, as far as that needs no Go.
func newShop(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	tool(t, "init --module example.com/shop --no-tidy", dir).says(t, exitFine, "go mod tidy && make test")
	return dir
}

// proposed makes a repository from a sample, and returns what init says.
func proposed(t *testing.T, sample, options string) (dir string, got ran) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "visits")
	return dir, piped(t, sample, "init --events - --no-tidy "+options, dir)
}

// example copies the pipeline.yaml of an example, and its schemas, into a new folder.
func example(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	folder, err := fs.Sub(examples.Files, name)
	if err == nil {
		err = os.CopyFS(dir, folder)
	}
	must.Succeed(t, err)
	return dir
}

// A folder that has a pipeline.yaml already is a beginning: the repository is made for it, and the
// file stays. The sample is made up from it, and the functions embed its schemas.
func TestInitForAPipeline(t *testing.T) {
	dir := example(t, "feed")
	name := filepath.Join(dir, "pipeline.yaml")
	was := content(t, name)
	tool(t, "init --events "+name, dir).says(t, exitUsage, name+" is there already, and --events proposes another")
	got := tool(t, "init --no-tidy", dir).says(t, exitFine, "ingot: "+name+" stays as it is; ")
	must.Equal(t, strings.Contains(got.out, "pipeline.yaml"), false)
	must.Equal(t, content(t, name), was)
	must.Say(t, content(t, filepath.Join(dir, "feed.go")), "\n//go:embed pipeline.yaml schemas/post.json\n")
	tool(t, "check --pipeline "+name+" --template "+filepath.Join(dir, "template.yaml")+" --parameter Payloads=keep --events "+
		filepath.Join(dir, "events", "sample.ndjson")).says(t, exitFine).prints(t, "Inserted")
	tool(t, "init --diff", dir).says(t, exitFine)
}

// A pipeline.yaml with mistakes is refused by its place, and nothing is written.
func TestInitForAWrongPipeline(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "pipeline.yaml")
	write(t, name, "ingot: 1\nepoch: none\n")
	tool(t, "init --module example.com/shop", dir).says(t, exitUsage, name+":2:8: ")
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// The tests of a repository know that an event may be several items, and that it may have a schema.
func TestInitTakesAnExample(t *testing.T) {
	slow.Test(t, "it builds and tests two repositories")
	dir := example(t, "feed")
	tool(t, "init", dir).says(t, exitFine)
	inRepository(t, dir, "go", "test", "./...")
	dir = example(t, "ledger")
	tool(t, "init", dir).says(t, exitFine, "a bound (atLeast, atMost) or requires may refuse an event")
	write(t, filepath.Join(dir, "events", "sample.ndjson"),
		`{"type":"account.opened","account":"bank","book":"outside","opened_at":"2026-03-01T08:00:00Z"}
{"type":"account.opened","account":"ada","book":"customers","opened_at":"2026-03-01T08:00:00Z"}
{"type":"transfer.posted","transfer_id":"t-1","posted_at":"2026-03-01T09:00:00Z","entries":[{"account":"bank","book":"outside","cents":-5000},{"account":"ada","book":"customers","cents":5000}]}`+"\n")
	inRepository(t, dir, "go", "test", "./...")
}

// The tests of a repository say which lines of a sample are one event, if they fail.
func TestInitNamesLinesOfOneEvent(t *testing.T) {
	slow.Test(t, "it builds and tests a repository")
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pipeline.yaml"), `{ingot: 1, epoch: 1, type: "{type}", events: {
  visit: {id: "{n}", at: "{at}", key: {pk: "VISIT#{n}", sk: "-"}},
  state: {id: "{n}", at: "{at}", mode: latest, revision: rev number, key: {pk: "STATE#{n}", sk: "-"}}}}`)
	tool(t, "init --module example.com/shop", dir).says(t, exitFine)
	const at = `"at":"2026-03-01T09:00:00Z"`
	write(t, filepath.Join(dir, "events", "sample.ndjson"), `{"type":"visit","n":"1",`+at+`}
{"type":"state","n":"1",`+at+`,"rev":1}
{"type":"visit","n":"1",`+at+`,"site":"north"}
{"type":"state","n":"1",`+at+`,"rev":1,"site":"north"}
{"type":"state","n":"1",`+at+`,"rev":2}
`)
	cmd := exec.Command("go", "test", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("they pass")
	}
	must.Say(t, string(out), "another payload is stored under this key",
		"lines 1 and 3 of events/sample.ndjson are the same event (VISIT#1 / -): keep one of them, or give one another id",
		"lines 2 and 4 of events/sample.ndjson are revisions of one event (STATE#1 / -): keep one of them, or see that their revisions differ",
		"lines 2 and 5 of events/sample.ndjson are revisions of one event")
}

const samples = `{"type":"visit","visit_id":"v1","site":"north","at":"2026-03-01T09:00:00Z"}
{"type":"visit","visit_id":"v2","site":"north","at":"2026-03-01T09:01:00Z"}
not an event
{"type":"visit","visit_id":"v3","site":"south","at":"2026-03-01T09:02:00Z"}
`

// init changes no file that exists, and writes no file next to it.
func TestInitChangesNoFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "Makefile"), "mine\n")
	got := tool(t, "init --module example.com/shop", dir)
	got.says(t, exitUsage, "has Makefile already, and init changes no file; name a new folder, or move this file away\n")
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	write(t, filepath.Join(dir, "README.md"), "mine\n")
	must.Say(t, tool(t, "init --module example.com/shop", dir).errors, "or move these files away\n")
	// In a repository that init has made, --diff is what helps.
	write(t, filepath.Join(dir, "go.mod"), "module example.com/shop\n")
	write(t, filepath.Join(dir, "pipeline.yaml"), "ingot: 1\n")
	must.Say(t, tool(t, "init --module example.com/shop", dir).errors, "or see what differs with ingot init --diff "+dir+"\n")
}

// The Makefile of a repository says that Go compiles, the first time and after an upgrade.
func TestInitMakefileSaysThatItCompiles(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not on PATH; to have the Makefile of a new repository run, install it")
	}
	dir, bin := newShop(t), t.TempDir()
	must.Succeed(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	const tests, tool = "The first time, Go compiles the tests. This can take minutes.\n",
		"The first time, Go compiles the tool. This can take minutes.\n"
	for _, step := range []struct{ target, says string }{{"test", tests}, {"check", tool}, {"demo", ""}, {"test", ""}, {"upgrade", ""},
		{"demo", tool}, {"check", ""}} {
		if step.target == "upgrade" {
			before := time.Now().Add(-time.Hour)
			for _, name := range []string{"compiled-tests", "compiled-tool"} { // older than go.mod
				must.Succeed(t, os.Chtimes(filepath.Join(dir, ".ingot", name), before, before))
			}
			continue
		}
		out := inRepository(t, dir, "make", step.target)
		if strings.Count(out, "The first time") != min(1, len(step.says)) || !strings.Contains(out, step.says) {
			t.Errorf("make %s says\n%s", step.target, out)
		}
	}
}

// --diff shows what a user changed, but it does not show the user's own files.
func TestInitDiff(t *testing.T) {
	dir := newShop(t)
	if got := tool(t, "init --diff", dir); got.code != exitFine || got.out != "" {
		t.Fatalf("a new repository: exit %d: %s%s", got.code, got.out, got.errors)
	}
	samconfig := filepath.Join(dir, "samconfig.toml") // as Git checks it out on Windows
	write(t, samconfig, strings.ReplaceAll(content(t, samconfig), "\n", "\r\n"))
	tool(t, "init --diff", dir).says(t, exitFine)
	change(t, filepath.Join(dir, "template.yaml"), "MaximumRetryAttempts: -1", "MaximumRetryAttempts: 5")
	change(t, filepath.Join(dir, "README.md"), "# shop", "# My shop")
	must.Succeed(t, os.Remove(filepath.Join(dir, "Makefile")))
	got := tool(t, "init --diff", dir).says(t, exitDifference).prints(t, "-            MaximumRetryAttempts: 5\n",
		"+            MaximumRetryAttempts: -1\n", "+++ Makefile (this version)")
	got.lacks(t, "My shop")
}

// With --no-go there is no Go code, and check finds nothing wrong: only the functions are not there
// yet. The layer has pipeline.yaml alone, so a schema in a file of its own is refused.
func TestInitNoGo(t *testing.T) {
	t.Setenv("PATH", "")
	dir := filepath.Join(t.TempDir(), "shop")
	got := tool(t, "init --no-go", dir).says(t, exitFine, "next: cd "+dir+" && make check\n")
	got.lacks(t, ".go\n", "go.mod")
	t.Chdir(dir)
	got = tool(t, "check --events events/sample.ndjson")
	got.says(t, exitFine).prints(t, "there is no functions/ingest.zip, which IngestFunction is deployed from", ": 2 warnings\n")
	same := tool(t, "init --no-go --diff")
	must.Equal(t, same, ran{line: same.line})
	tool(t, "init --no-go", example(t, "feed")).says(t, exitUsage, "schemas/post.json, and --no-go deploys no file beside it")
}

// If go mod tidy fails, init does not say that it is done: its last line says how to go on.
func TestInitWithoutGo(t *testing.T) {
	t.Setenv("PATH", "")
	dir := filepath.Join(t.TempDir(), "shop")
	got := tool(t, "init", dir)
	if got.code != exitFailed || strings.Contains(got.errors, "done") ||
		!strings.Contains(got.errors, "go on with: cd "+dir+" && go mod tidy && make test\n") { // -trimpath adds a line
		t.Errorf("exit %d: %s", got.code, got.errors)
	}
}

// With --output json, init lists its files in one object, and --diff the differences.
func TestInitJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	got := tool(t, "init --no-tidy --output json", dir)
	var made local.InitReport
	got.says(t, exitFine).reads(t, &made)
	must.Equal(t, slices.Contains(made.Files, filepath.Join(dir, "pipeline.yaml")), true, got.out)
	got = tool(t, "init --output json --diff", dir).says(t, exitFine)
	must.Equal(t, strings.TrimSpace(got.out), "{}")
	change(t, filepath.Join(dir, "Makefile"), "CONFIG = default", "CONFIG = prod")
	got = tool(t, "init --output json --diff", dir)
	var differs local.InitReport
	got.says(t, exitDifference).reads(t, &differs)
	if len(differs.Differences) != 1 || differs.Differences[0].File != "Makefile" ||
		!strings.Contains(differs.Differences[0].Diff, "\n-CONFIG = prod\n+CONFIG = default\n") {
		t.Error(got.out)
	}
}

func change(t *testing.T, name, old, new string) {
	t.Helper()
	text := content(t, name)
	if !strings.Contains(text, old) {
		t.Fatalf("%s: no %q", name, old)
	}
	write(t, name, strings.Replace(text, old, new, 1))
}

// env.json has the names of what an ingot dev of the repository serves, and its port.
func TestEnvironmentIsThatOfDev(t *testing.T) {
	dir := newShop(t)
	var env struct{ Parameters map[string]string }
	must.Succeed(t, json.Unmarshal(must.Read(t, filepath.Join(dir, "env.json")), &env))
	l := newStoryIn(t, "", dir, content(t, filepath.Join(dir, "pipeline.yaml"))).dev.Local()
	cmd, _, err := newRoot(bare()).Find([]string{"dev"})
	must.Succeed(t, err)
	address := "http://host.docker.internal:" + cmd.Flags().Lookup("port").DefValue
	for name, want := range map[string]string{"INGOT_TABLE": l.EventsTable, "INGOT_AGGREGATES_TABLE": l.AggregatesTable,
		"INGOT_ARCHIVE_BUCKET": l.ArchiveBucket,
		"INGOT_PAYLOAD_BUCKET": stack.Payloads, "INGOT_PII_KEY": show.StandIn, "INGOT_ENDPOINT_URL": address,
		"INGOT_QUARANTINE_URL": strings.Replace(l.QuarantineURL, l.Endpoint, address, 1)} {
		must.Equal(t, env.Parameters[name], want, name)
	}
}

// A message says what is wrong and what to do, and nothing is written.
func TestInitRefuses(t *testing.T) {
	empty, broken := t.TempDir(), t.TempDir()
	write(t, filepath.Join(broken, "pipeline.yaml"), "ingot: 1\n")
	noEvents := filepath.Join(t.TempDir(), "no.ndjson")
	write(t, noEvents, "nope\n")
	events := filepath.Join(t.TempDir(), "events.ndjson")
	write(t, events, samples)
	for _, tt := range []struct {
		options, folder, want string
	}{
		{"b", filepath.Join(empty, "a"), "takes one folder, not 2"},
		{"", filepath.Join(empty, "a b"), "write one with --module, such as example.com/shop"},
		{"--events /nowhere.ndjson", filepath.Join(empty, "a"), "name a file of events with --events FILE"},
		{"--events " + noEvents, filepath.Join(empty, "a"), "write one JSON object on each line (line 1: "},
		{"--events=", empty, "--events is empty"},
		{"", noEvents, noEvents + " is a file; name a folder"},
		{"--diff --events " + events, empty, "--diff and --events do not go together"},
		{"--diff", empty, "has no go.mod that names a module"},
		{"--diff --module example.com/shop", empty, "run ingot init --diff in a repository"},
		{"--diff --module example.com/shop", broken, "pipeline.yaml has mistakes"},
	} {
		tool(t, "init "+tt.options, tt.folder).says(t, exitUsage, tt.want)
	}
	if list, err := os.ReadDir(empty); err != nil || len(list) != 0 {
		t.Errorf("written: %v, %v", list, err)
	}
}

// If the folder is taken, nothing is said of a proposal that is not written.
func TestInitFromIntoATakenFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "Makefile"), "mine\n")
	events := filepath.Join(t.TempDir(), "events.ndjson")
	write(t, events, samples)
	got := tool(t, "init --module example.com/shop --events "+events, dir)
	if got.code != exitUsage || !strings.HasPrefix(got.errors, "ingot: "+dir+" has Makefile already") {
		t.Errorf("exit %d: %s", got.code, got.errors)
	}
}

// The lines that are not events are named, and the proposal is written.
func TestInitFrom(t *testing.T) {
	dir, got := proposed(t, samples, "")
	if got.code != exitFine || !strings.Contains(got.errors, "line 3: ") ||
		!strings.Contains(got.errors, "it fits 3 events of the sample\n") {
		t.Fatalf("exit %d: %s", got.code, got.errors)
	}
	must.Say(t, content(t, filepath.Join(dir, "pipeline.yaml")), `id: "{visit_id}"`)
}

// The repository keeps a part of a long sample, and says so. It keeps no event that was sent again,
// because its tests count each line.
func TestInitFromMuch(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		for range 1 + i%2 {
			fmt.Fprintf(&b, `{"type":"visit","visit_id":"v%d","at":"2026-03-01T09:00:%02dZ","sent_at":"2026-03-02T09:00:%02dZ"}`+"\n", i, i,
				b.Len()%60)
		}
	}
	dir, got := proposed(t, b.String(), "")
	if got.code != exitFine || !strings.Contains(got.errors, "ingot: to send the whole file through the demo: ingot demo FILE\n") {
		t.Fatalf("exit %d: %s", got.code, got.errors)
	}
	text := content(t, filepath.Join(dir, "events", "sample.ndjson"))
	must.Equal(t, strings.Count(text, "\n"), 20)
	for i := range 20 {
		must.Equal(t, strings.Count(text, fmt.Sprintf(`"v%d"`, i)), 1, i, text)
	}
}

// Git keeps the sample of a repository, so init says whether it has real events, and leaves them
// out or masks them if asked to.
func TestInitKeeps(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b,
			`{"type":"visit","visit_id":"v%d","at":"2026-03-01T09:00:%02dZ","patient":{"name":"Ann %d","phone":"+49 30 %d"},"contact":"ann%d@clinic.test","site":"north"}`+"\n", i, i, i, i, i%2)
	}
	for _, c := range []struct {
		keep, says  string
		has, hasNot []string
		events      int
	}{
		{"all", "5 events of standard input, as they are; if that must not be, delete the folder, and run init again with --keep masked or --keep none\n", []string{`"Ann 3"`, `"ann1@clinic.test"`}, nil, 5},
		{"masked",
			"5 events of standard input; these fields have other values: contact, name, phone; look at them before you commit them\n",
			[]string{`"contact":"person-2@example.com"`, `"name":"name-5"`, `"phone":"phone-5"`, `"site":"north"`, `"visit_id":"v4"`},
			[]string{"Ann", "+49", "clinic.test", "person-3@"}, 5},
		{"none", "3 events that were made up, and none of standard input\n", []string{`"visit_id":"visit_id-2"`},
			[]string{"Ann", "+49", "clinic.test", "north"}, 3},
	} {
		dir, got := proposed(t, b.String(), "--keep "+c.keep)
		got.says(t, exitFine, "ingot: events/sample.ndjson and events/ingest.json, which Git will keep, have "+c.says)
		text := content(t, filepath.Join(dir, "events", "sample.ndjson"))
		must.Equal(t, strings.Count(text, "\n"), c.events, c.keep)
		must.Say(t, text, c.has...)
		text += content(t, filepath.Join(dir, "events", "ingest.json"))
		for _, real := range c.hasNot {
			must.Equal(t, strings.Contains(text, real), false, c.keep, real)
		}
		tool(t, "check --now 2026-03-02T00:00:00Z --pipeline "+filepath.Join(dir, "pipeline.yaml")+" --events "+
			filepath.Join(dir, "events", "sample.ndjson")).says(t, exitFine)
	}
	tool(t, "init --events - --keep some visits").says(t, exitUsage, `--keep "some": write one of all, masked, none`)
	tool(t, "init --keep none visits").says(t, exitUsage, "--keep is for --events FILE")
}

// Broken events among many do not spoil the proposal, and are named. The repository's sample does
// without them.
func TestInitFromWithBrokenEvents(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		at := fmt.Sprintf("2026-03-01T09:00:%02dZ", i)
		if i == 5 {
			at = "soon"
		}
		fmt.Fprintf(&b, `{"type":"visit","visit_id":"v%d","at":%q}`+"\n", i, at)
	}
	dir, got := proposed(t, b.String(), "")
	got.says(t, exitFine, "it fits 39 events of the sample\n",
		"ingot: 1 event of the sample would go to quarantine: at: field at: \"soon\" is not ",
		"the demo: ingot demo FILE --skip-unusable\n", "ingot: done; next: cd ")
	must.Equal(t, strings.Contains(content(t, filepath.Join(dir, "events", "sample.ndjson")), "soon"), false)
}

// A sample that says too little gives a file with a gap. That is said before anybody runs its
// tests.
func TestInitFromTooLittle(t *testing.T) {
	dir, got := proposed(t, `{"x":1}`+"\n", "")
	got.says(t, exitFine, "it fits 0 events of the sample\n", "it does not fit 1 event yet: at: ", "next: complete "+
		filepath.Join(dir, "pipeline.yaml")+", then cd ")
	must.Say(t, content(t, filepath.Join(dir, "pipeline.yaml")), "# MISSING: ")
}

// --indexes adds what check says is missing, and nothing else. A second time there is nothing to
// add.
func TestInitIndexes(t *testing.T) {
	dir := newShop(t)
	file, pipeline := filepath.Join(dir, "template.yaml"), filepath.Join(dir, "pipeline.yaml")
	checked := func() ran { return tool(t, "check --pipeline "+pipeline+" --template "+file) }
	change(t, file, "MaximumRetryAttempts: -1", "MaximumRetryAttempts: -1 # mine")
	change(t, pipeline, `sk: "PLACED"}`, `sk: "PLACED"}`+
		"\n    indexes: {GSI1: {pk: \"M#{merchant_id}\", sk: \"{@id}\"}, GSI2: {pk: \"C#{currency}\", sk: \"{@id}\"}}")
	checked().says(t, exitDifference)
	checked().prints(t, "EventsTable has no indexes GSI1 (", "; run ingot init --indexes, which adds each")
	got := tool(t, "init --indexes", dir)
	if got.says(t, exitFine, "CloudFormation adds only one index"); got.out != "added to "+file+": GSI1, GSI2\n" {
		t.Errorf("it says %s", got.out)
	}
	checked().says(t, exitFine).lacks(t, file+":")
	must.Say(t, content(t, file), "# mine")
	got = tool(t, "init --output json --indexes", dir).says(t, exitFine)
	must.Equal(t, strings.TrimSpace(got.out), "{}")
	tool(t, "init --indexes --diff", dir).says(t, exitUsage, "--diff and --indexes do not go together")
	tool(t, "init --indexes", t.TempDir()).says(t, exitUsage,
		"pipeline.yaml: no such file or directory; run ingot init --indexes in a repository that ingot init has made")
	write(t, file, "Resources: {}\n")
	tool(t, "init --indexes", dir).says(t, exitUsage,
		"the template does not have its indexes where ingot init writes them; run ingot init --diff")
}

// --migrate writes the capture function of a migration.yaml, once.
func TestInitMigrate(t *testing.T) {
	dir := newShop(t)
	tool(t, "init --migrate", dir).says(t, exitUsage, "migration.yaml: no such file or directory; run ingot init --migrate in a repository")
	write(t, filepath.Join(dir, "migration.yaml"), "migration: 1\n")
	tool(t, "init --migrate", dir).says(t, exitFine, "put values in place of ???")
	for name, want := range map[string]string{"../../migration.go": "//go:embed pipeline.yaml migration.yaml", "main.go": "shop.Migration",
		"template.yaml": "CaptureFunction", "samconfig.toml": `stack_name = "shop-migrate"`} {
		must.Say(t, content(t, filepath.Join(dir, "cmd/migrate", name)), want)
	}
	tool(t, "init --migrate", dir).says(t, exitUsage, "init changes no file")
	tool(t, "init --migrate --diff", dir).says(t, exitUsage, "write it alone")
}
