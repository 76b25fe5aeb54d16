package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/pipeline"
)

// TestShellSyntax shows that a shell can read every block of commands.
func TestShellSyntax(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not on PATH; to have this test run, install it")
	}
	for _, name := range documents(t) {
		for _, b := range blocks(t, name) {
			if b.info != "sh" {
				continue
			}
			cmd := exec.Command(bash, "-n")
			cmd.Stdin = strings.NewReader(b.text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s:%d: %v: %s", name, b.line, err, out)
			}
		}
	}
}

var (
	setVariable  = regexp.MustCompile(`(?:^|\s)([A-Z][A-Z_]+)=`)
	usedVariable = regexp.MustCompile(`\$([A-Z][A-Z_]+)`)
	output       = regexp.MustCompile(`\$\(output (\w+)\)`)
)

// TestNamesOfAStack shows that every variable that a command of the AWS CLI uses is set
// earlier. Every output from which a variable is set must be one of the template's.
func TestNamesOfAStack(t *testing.T) {
	_, outputs, found := strings.Cut(read(t, sampleshop.Template), "\nOutputs:\n")
	if !found {
		t.Fatal("the template has no outputs")
	}
	var known []string
	for _, b := range slices.Concat(blocksOf(t, withoutPage, "sh"), blocksOf(t, deployPage, "sh"), blocksOf(t, watchPage, "sh"),
		blocksOf(t, repairPage, "sh")) {
		for line := range strings.Lines(b.text) {
			for _, m := range output.FindAllStringSubmatch(line, -1) {
				if !strings.Contains(outputs, "  "+m[1]+": ") {
					t.Errorf("template.yaml has no output %s", m[1])
				}
			}
			for _, m := range usedVariable.FindAllStringSubmatch(line, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("$%s is set nowhere before: %s", m[1], line)
				}
			}
			for _, m := range setVariable.FindAllStringSubmatch(line, -1) {
				known = append(known, m[1])
			}
		}
	}
	if len(known) < 10 {
		t.Errorf("only %v are set", known)
	}
}

// TestTryingAStack shows that the event with which a new stack is tried is stored and counted where
// the commands look for it.
func TestTryingAStack(t *testing.T) {
	commands := blockWith(t, withoutPage, "sh", "events/ingest-one.json > order.json")
	var batch events.SQSEvent
	must.Succeed(t, json.Unmarshal([]byte(read(t, "events/ingest-one.json")), &batch))
	plan, err := pipeline.Load(os.DirFS(root), sampleshop.Pipeline, pipeline.Secret([]byte("key")))
	must.Succeed(t, err)
	item, err := plan.Plan(envelope.Message{Body: batch.Records[0].Body})
	must.Succeed(t, err)
	if want := fmt.Sprintf(`--key '{"PK": {"S": %q}, "SK": {"S": %q}}'`, item.Key.PK, item.Key.SK); !strings.Contains(commands, want) {
		t.Errorf("the item is found by %s", want)
	}
	read := regexp.MustCompile(`totals read (\w+) '(.+)' ([-0-9]+) ([-0-9]+)`).FindStringSubmatch(commands)
	if read == nil {
		t.Fatal("no command reads a total")
	}
	by, err := plan.By(read[1], envelope.Message{Body: read[2]})
	must.Succeed(t, err)
	day := item.At.UTC()
	if whole, err := plan.By(read[1], envelope.Message{Body: batch.Records[0].Body}); err != nil || !maps.Equal(by, whole) ||
		read[3] != day.Format(time.DateOnly) || read[4] != day.AddDate(0, 0, 1).Format(time.DateOnly) {
		t.Errorf("the event is counted by %v at %s, %v; the command reads %v", whole, day, err, read[1:])
	}
}

// TestKeyHash shows that the command that computes the hash of a key computes the hash that is in
// the log.
func TestKeyHash(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on PATH; to have this test run, install it")
	}
	for _, b := range blocksOf(t, watchPage, "sh") {
		if !strings.Contains(b.text, "hashlib") {
			continue
		}
		got, err := exec.Command("bash", "-c", b.text).CombinedOutput()
		if want := (event.Key{PK: "ORDER#m-101#o-1", SK: "ORDER"}).Hash()[:16]; err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s %v, want %s", got, err, want)
		}
		return
	}
	t.Error("no command computes a key's hash")
}
