package docs

import (
	"encoding/json"
	"fmt"
	"maps"
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
)

// TestShellSyntax shows that a shell can read every block of commands.
func TestShellSyntax(t *testing.T) {
	need(t, "bash")
	for _, b := range everyBlock(t, "sh") {
		cmd := exec.Command("bash", "-n")
		cmd.Stdin = strings.NewReader(b.text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s:%d: %v: %s", b.file, b.line, err, out)
		}
	}
}

// need skips a test for which these commands are not installed.
func need(t *testing.T, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(command + " is not on PATH; to have this test run, install it")
		}
	}
}

// run returns what a command prints in a folder. If the command fails, the test ends.
func run(t *testing.T, dir, command string, args ...string) string {
	t.Helper()
	cmd := exec.Command(command, args...)
	cmd.Dir = dir
	return ran(t, cmd)
}

// ran is like run, for a command of which more is set.
func ran(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}

var (
	setVariable  = regexp.MustCompile(`(?:^|\s)([A-Z][A-Z_]+)=`)
	usedVariable = regexp.MustCompile(`\$([A-Z][A-Z_]+)`)
	output       = regexp.MustCompile(`\$\(output (\w+)\)`)
)

// TestNamesOfAStack shows that every variable that a command of the AWS CLI uses is set
// earlier. Every output from which a variable is set must be one of the template's.
func TestNamesOfAStack(t *testing.T) {
	_, outputs, has := strings.Cut(read(t, sampleshop.Template), "\nOutputs:\n")
	if !has {
		t.Fatal("the template has no outputs")
	}
	var known []string
	for _, b := range slices.Concat(blocksOf(t, withoutPage, "sh"), blocksOf(t, deployPage, "sh"), blocksOf(t, watchPage, "sh"),
		blocksOf(t, repairPage, "sh")) {
		for line := range strings.Lines(b.text) {
			for _, name := range groups(output, line) {
				if !strings.Contains(outputs, "  "+name+": ") {
					t.Errorf("template.yaml has no output %s", name)
				}
			}
			for _, name := range groups(usedVariable, line) {
				if !slices.Contains(known, name) {
					t.Errorf("$%s is set nowhere before: %s", name, line)
				}
			}
			known = append(known, groups(setVariable, line)...)
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
	plan := loaded(t, sampleshop.Pipeline)
	item, err := plan.Plan(envelope.Message{Body: batch.Records[0].Body})
	must.Succeed(t, err)
	must.Say(t, commands, fmt.Sprintf(`--key '{"PK": {"S": %q}, "SK": {"S": %q}}'`, item.Key.PK, item.Key.SK))
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
	need(t, "python3")
	got := run(t, root, "bash", "-c", blockWith(t, watchPage, "sh", "hashlib"))
	must.Equal(t, strings.TrimSpace(got), event.Key{PK: "ORDER#m-101#o-1", SK: "ORDER"}.Hash()[:16])
}
