package main

import (
	"context"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/dev"
	"github.com/ingot-events/ingot/internal/sampleshop"
	"github.com/ingot-events/ingot/internal/target"
	"github.com/ingot-events/ingot/internal/target/targettest"
)

var updateExamples = flag.Bool("update-examples", false, "write the golden files of the examples anew")

// expected says what is particular about an example. Without an entry here, an example must end
// with exit code 0.
type expected struct {
	code int    // the exit code
	not  string // why the example cannot be run here; where it is run instead
}

// particular lists the examples that need more than to be run. Each key is the beginning of the
// command line.
var particular = map[string]expected{
	"ingot dev":                    {not: "it ends with Ctrl-C; the tests of internal/dev run it"},
	"ingot console":                {not: "it ends with Ctrl-C; the tests of internal/console run it"},
	"ingot demo":                   {not: "TestDemo and its neighbours run it"},
	"ingot init shop":              {not: "TestInit and its neighbours run it: it calls go mod tidy"},
	"ingot init --diff":            {not: "TestInitDiff runs it, in a repository that init has made"},
	"ingot explain":                {not: "TestExplain and its neighbours run it"},
	"ingot check":                  {not: "TestCheck and its neighbours run it"},
	"ingot check --was deployed":   {},
	"ingot cost":                   {not: "TestCost and its neighbours run it"},
	"ingot verify":                 {not: "the tests of verify run it"},
	"ingot rebuild":                {not: "the tests of rebuild run it"},
	"ingot quarantine":             {not: "the tests of quarantine run it"},
	"ingot pause":                  {not: "the tests of pause run it"},
	"ingot resume":                 {not: "the tests of resume run it"},
	"ingot erase":                  {not: "the tests of erase run it"},
	"ingot query":                  {not: "the tests of query run it"},
	"ingot policy":                 {not: "the tests of policy run it"},
	"ingot version":                {not: "TestVersion runs it: it prints the version of Go"},
	"ingot status --local --check": {code: exitDifference},
}

func particularOf(line string) expected {
	best, found := "", expected{}
	for start, e := range particular {
		if strings.HasPrefix(line, start) && len(start) > len(best) {
			best, found = start, e
		}
	}
	return found
}

// examplesOf returns the command lines in a command's help.
func examplesOf(cmd *cobra.Command) []string {
	var list []string
	for line := range strings.Lines(cmd.Example) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// Every command that does something has examples, and each of them begins with the command.
func TestEveryCommandHasExamples(t *testing.T) {
	for _, cmd := range all(newRoot(&app{})) {
		if cmd.Runnable() && !cmd.HasSubCommands() && !slices.Contains([]string{"help", "completion"}, cmd.Name()) && (cmd.Parent() == nil || cmd.Parent().Name() != "completion") {
			if len(examplesOf(cmd)) == 0 {
				t.Errorf("%s has no examples", cmd.CommandPath())
			}
			if cmd.Long == "" {
				t.Errorf("%s has no long help", cmd.CommandPath())
			}
		}
		for _, line := range examplesOf(cmd) {
			if !strings.HasPrefix(line, cmd.CommandPath()) {
				t.Errorf("%s: the example %q is of another command", cmd.CommandPath(), line)
			}
		}
	}
}

// shop is the pipeline that the examples are run on: README's.
func shop(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return block(t, string(page), "yaml pipeline")
}

// orders are README's four messages.
func orders(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return block(t, string(page), "json messages")
}

func block(t *testing.T, page, name string) string {
	t.Helper()
	_, after, ok := strings.Cut(page, "```"+name+"\n")
	text, _, ended := strings.Cut(after, "```\n")
	if !ok || !ended {
		t.Fatalf("README has no block %q", name)
	}
	return text
}

// living is a deployment that the scripts work on: an ingot dev, and a stack of the name shop over
// the same tables.
type living struct {
	*dev.Dev
	cloud *httptest.Server
}

// live starts a deployment in a folder, and stores README's messages in it.
func live(dir string) (*living, error) {
	d, err := dev.Start(context.Background(), dev.Config{File: filepath.Join(dir, "pipeline.yaml")})
	if err != nil {
		return nil, err
	}
	l := d.Local()
	cloud := &targettest.Cloud{Engine: d.Engine(), Account: l.Account, Region: l.Region, Stacks: []targettest.Stack{{Name: "shop", Outputs: map[string]string{
		"EventsTableName": l.EventsTable, "AggregatesTableName": l.AggregatesTable, "QueueUrl": l.QueueURL, "QuarantineQueueUrl": l.QuarantineURL,
		"DeadLetterQueueUrl": l.DeadLetterURL, "ArchiveBucketName": l.ArchiveBucket, "IngestFunctionName": "ingest", "StreamsFunctionName": "streams"}}}}
	w := &living{d, httptest.NewServer(cloud)}
	text, err := os.ReadFile(filepath.Join(dir, "messages.ndjson"))
	for line := range strings.Lines(string(text)) {
		if err == nil {
			_, err = d.Engine().SQS().SendMessage(context.Background(), &sqs.SendMessageInput{QueueUrl: &l.QueueURL, MessageBody: aws.String(strings.TrimSpace(line))})
		}
	}
	if err == nil {
		err = w.settle()
	}
	if err != nil {
		w.close()
	}
	return w, err
}

func (w *living) close() {
	w.cloud.Close()
	_ = w.Close() // it waits for its work
}

// settle waits until every message of README has its verdict and every stored event is counted.
func (w *living) settle() error {
	limit := time.After(time.Minute)
	judged, counted := 0, 0
	for from := int64(0); judged < 4 || counted < 2; {
		steps, more := w.Steps().After(from, 1000)
		for _, s := range steps {
			if from = s.Number; s.Message != nil {
				judged++
			}
			if s.Streams != nil {
				counted += s.Streams.Received
			}
		}
		if len(steps) > 0 {
			continue
		}
		select {
		case <-more:
		case <-limit:
			return fmt.Errorf("%d messages are judged, and %d changes counted", judged, counted)
		}
	}
	return nil
}

// TestExamples runs every example of every command as a script, in a folder of its own, against a
// pipeline that runs.
func TestExamples(t *testing.T) {
	scripts := t.TempDir()
	count := 0
	for _, cmd := range all(newRoot(&app{})) {
		for i, line := range examplesOf(cmd) {
			e := particularOf(line)
			if e.not != "" {
				continue
			}
			count++
			var script strings.Builder
			if line, from, ok := strings.Cut(line, " < "); ok {
				fmt.Fprintf(&script, "stdin %s\n%s", from, command(line, e))
			} else {
				script.WriteString(command(line, e))
			}
			name := fmt.Sprintf("%s_%d", strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), "ingot "), " ", "_"), i+1)
			golden := filepath.Join("testdata", "examples", name+".golden")
			fmt.Fprintf(&script, "golden %s\n", golden)
			if err := os.WriteFile(filepath.Join(scripts, name+".txt"), []byte(script.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count < 8 {
		t.Errorf("only %d examples", count)
	}
	runScripts(t, testscript.Params{Dir: scripts})
}

// command is the line of a script that runs a command.
func command(line string, e expected) string {
	if e.code != 0 {
		return "! exec " + line + "\n"
	}
	return "exec " + line + "\n"
}

// runScripts runs scripts, each with a deployment of its own.
func runScripts(t *testing.T, p testscript.Params) {
	t.Helper()
	pipelineYAML, messages := shop(t), orders(t)
	own, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("../../" + sampleshop.Template)
	if err != nil {
		t.Fatal(err)
	}
	p.Setup = func(env *testscript.Env) error {
		for name, text := range map[string]string{"pipeline.yaml": pipelineYAML, "messages.ndjson": messages,
			"orders.ndjson": strings.Join(strings.SplitAfter(messages, "\n")[:3], ""), "template.yaml": string(template),
			"samconfig.toml": "version = 0.1\n[default.global.parameters]\nstack_name = \"shop\"\n"} {
			if err := os.WriteFile(filepath.Join(env.WorkDir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		w, err := live(env.WorkDir)
		if err != nil {
			return err
		}
		env.Defer(w.close)
		env.Values["living"] = w
		env.Setenv("AWS_ENDPOINT_URL", w.cloud.URL)
		for name, value := range map[string]string{"AWS_REGION": w.Local().Region, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
			"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "absent", "AWS_SHARED_CREDENTIALS_FILE": "absent", "AWS_MAX_ATTEMPTS": "1"} {
			env.Setenv(name, value)
		}
		return nil
	}
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		// replace replaces a text in a file, which must be there.
		"replace": func(ts *testscript.TestScript, _ bool, args []string) {
			text := ts.ReadFile(args[0])
			if !strings.Contains(text, args[1]) {
				ts.Fatalf("%s has no %q", args[0], args[1])
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
		},
		// prints compares what the last command printed with a file of the script.
		"prints": func(ts *testscript.TestScript, _ bool, args []string) {
			got := steady(ts.ReadFile("stdout"), ts.Value("living").(*living).Local())
			if want := ts.ReadFile(args[0]); got != want {
				ts.Fatalf("want\n%s\nand it prints\n%s", want, got)
			}
		},
		// golden compares what the last command printed with a file.
		"golden": func(ts *testscript.TestScript, _ bool, args []string) {
			got := steady(ts.ReadFile("stdout"), ts.Value("living").(*living).Local())
			file := filepath.Join(own, args[0])
			if *updateExamples {
				ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
				ts.Check(os.WriteFile(file, []byte(got), 0o600))
			}
			want, err := os.ReadFile(file)
			ts.Check(err)
			if got != string(want) {
				ts.Fatalf("%s says\n%s\nand it prints\n%s\n(go test ./cmd/ingot -run %s -update-examples writes it anew)", args[0], want, got, "TestExamples")
			}
		},
	}
	testscript.Run(t, p)
}

var (
	durations = regexp.MustCompile(`in \d+\.\d s, [\d,]+ a second`)
	streams   = regexp.MustCompile(`/stream/[0-9T:.-]+`)
	seconds   = regexp.MustCompile(`"seconds": [\d.e-]+`)
)

// steady replaces what is another with each run.
func steady(text string, l target.Local) string {
	text = durations.ReplaceAllString(text, "in 0.0 s, 1 a second")
	text = streams.ReplaceAllString(text, "/stream/TIME")
	text = seconds.ReplaceAllString(text, `"seconds": 0`)
	return strings.NewReplacer(l.Endpoint, "ENDPOINT", l.Pipeline, "pipeline.yaml").Replace(text)
}

// On a terminal of 80 columns, no line is longer, and the same examples have bars.
func TestExamplesOnATerminal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"pipeline.yaml": shop(t), "messages.ndjson": orders(t)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	w, err := live(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	t.Chdir(dir)
	for _, cmd := range all(newRoot(&app{})) {
		for i, line := range examplesOf(cmd) {
			e := particularOf(line)
			if e.not != "" || !strings.Contains(line, " --local") || strings.Contains(line, "json") || strings.Contains(line, "csv") || strings.Contains(line, "prometheus") || cmd.Name() == "send" || cmd.Name() == "check" { // check has wide tables everywhere
				continue
			}
			o := toolIn(context.Background(), &app{columns: 80}, strings.Fields(line)[1:]...)
			if o.code != e.code {
				t.Errorf("%s: exit code %d: %s", line, o.code, o.stderr)
			}
			got := steady(o.stdout, w.Local())
			for row := range strings.Lines(got) {
				if n := len([]rune(strings.TrimRight(row, "\n"))); n > 80 && !strings.HasPrefix(row, "  {") {
					t.Errorf("%s: %d columns: %s", line, n, row)
				}
			}
			file := filepath.Join(own, "testdata", "examples", fmt.Sprintf("%s_%d.80.golden", cmd.Name(), i+1))
			if *updateExamples {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(file); err != nil || got != string(want) {
				t.Errorf("%s prints\n%s\nwant\n%s (%v)", line, got, want, err)
			}
		}
	}
}

// TestScripts runs the scripts of testdata/scripts.
func TestScripts(t *testing.T) {
	runScripts(t, testscript.Params{Dir: "testdata/scripts"})
}
