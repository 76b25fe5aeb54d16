package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// many puts five kinds of messages into quarantine, and pulls them into letters: three sales
// without a time, one of which has no id either, a Conflict, and two of a type that nobody knows.
func many(t *testing.T) *devWorld {
	t.Helper()
	w := newDevWorldOf(t, strings.Replace(letterSpec, "epoch: 1\n", "epoch: 1\nbatches: true\n", 1))
	w.send(0, oldSale)
	bad := func(id string) string {
		return fmt.Sprintf(`{"type":"sale",%s"customer":{"email":"bob@example.com"},"cents":1.50}`, id)
	}
	w.send(6, bad(`"id":"a",`), "["+bad(`"id":"b",`)+"]", bad(""), newSale, `{"type":"gift","id":1}`, `{"type":"gift","id":2}`)
	w.pull()
	return w
}

// worksOn runs a command of quarantine, and returns its JSON.
func (w *devWorld) worksOn(code int, line string, more ...string) (r quarantine.WorkedReport) {
	w.t.Helper()
	w.run(code, "quarantine "+line+" --output json", more...).reads(w.t, &r)
	return r
}

// Whatever chooses messages of a list chooses the same ones for the commands that change them.
func TestChoosingMessages(t *testing.T) {
	w := many(t)
	for chosen, want := range map[string]int{
		"--verdict Poison": 5, "--verdict Conflict": 1, "--verdict Rejected": 0,
		"--reason missing-field": 3, "--reason missing-field:at": 3, "--reason missing-field:id": 0, "--reason missing-field:a": 0,
		"--reason unknown-type": 2, "--reason missing-field --verdict Conflict": 0,
		"--type sale": 4, "--type gift": 2, "--type other": 0, "--type sale --verdict Poison": 3,
		"--key SALE#1": 1, "--key SALE#a": 0, // its key is not known before it has a time
	} {
		must.Equal(t, len(w.listed(chosen)), want, chosen)
		for _, command := range []string{"drop letters --dry-run --local", "resend letters --anyway --dry-run --local",
			"edit letters --set x=y --dry-run"} {
			code := exitFine
			if strings.HasPrefix(command, "edit") && want > 0 && !strings.Contains(chosen, "Conflict") && chosen != "--key SALE#1" {
				code = exitDifference // they would still be Poison
			}
			if r := w.worksOn(code, command+" "+chosen); r.Done != want || !r.DryRun || r.Stay != 0 {
				t.Errorf("%s %s: %+v, want %d", command, chosen, r, want)
			}
		}
	}
	must.Equal(t, len(w.listed("--key", "SALE#1 / -")), 1)
	must.Equal(t, len(w.listed("--key", "SALE#1 / x")), 0)
	got := w.run(0, "quarantine drop letters --reason schema --yes --local")
	must.Say(t, got.errors, "no open message is chosen; ingot quarantine list letters counts them by reason")
	must.Equal(t, got.out, "0 dropped\n")
	must.Equal(t, w.quarantined(), 6)
}

// One command repairs all messages with one mistake. It says what it will change, and what the
// messages would be then. The sum of resend says why the others stay.
func TestRepairingManyMessages(t *testing.T) {
	w := many(t)
	const fix = "quarantine edit letters --reason missing-field --set at=2026-01-02T03:04:05Z"
	dry := w.run(exitDifference, fix, "--dry-run")
	if len(w.listed("--reason missing-field")) != 3 || strings.Contains(w.run(0, "quarantine list letters").out, "edited") {
		t.Error("a dry run has changed a message")
	}
	if !strings.HasSuffix(dry.out, "3 would be edited: 1 Poison (missing-field)\n") ||
		!strings.Contains(dry.errors, "ingot: 3 messages to change: 3 Poison (missing-field:at)\n") {
		t.Errorf("%s%s", dry.out, dry.errors)
	}
	if got := w.run(exitDifference, fix); !strings.HasSuffix(got.out, "3 edited: 1 Poison (missing-field)\n") ||
		strings.Count(got.out, "  edited; it would still be Poison (missing-field): id: field id is missing\n") != 1 {
		t.Errorf("%s%s", got.out, got.errors)
	}
	sum := w.run(exitDifference, "quarantine resend letters --local")
	if !strings.HasSuffix(sum.out, "2 resent, 4 stay: 2 Poison (unknown-type), 1 Conflict (digest-differs), 1 Poison (missing-field)\n") ||
		!strings.Contains(sum.errors, "ingot: 2 messages to send again: 2 Poison (missing-field:at)\n") {
		t.Errorf("%s%s", sum.out, sum.errors)
	}
	w.send(4)
	for _, id := range []string{"a", "b"} {
		w.run(0, "get sale --local --output json", "id="+id).prints(t, `\"cents\":1.50`, `\"at\":\"2026-01-02`)
	}

	plan := w.run(exitUsage, "quarantine drop letters --type gift --local")
	plan.lacks(t, "this changes")
	must.Say(t, plan.errors, "ingot: 2 messages to drop: 2 Poison (unknown-type)\n", "write --yes")
	w.run(0, "quarantine drop letters --type gift --yes --local")
	w.send(2)
	if got := w.run(0, "quarantine list letters --type gift").out; !strings.HasSuffix(got,
		"2     0  Poison   unknown-type\n2 messages, 0 of them open\n") {
		t.Errorf("%s", got)
	}
}

// A message that is known to be Poison is not sent, even if it is named, unless that is asked for.
func TestResendKnowsPoison(t *testing.T) {
	w := many(t)
	ids := w.listed("")
	r := w.worksOn(exitDifference, "resend letters --local", ids...)
	want := []quarantine.Counted{{Verdict: "Poison", Reason: "missing-field", Messages: 3},
		{Verdict: "Poison", Reason: "unknown-type", Messages: 2}}
	if r.Done != 1 || r.Stay != 5 || !slices.Equal(r.Reasons, want) {
		t.Errorf("%+v", r)
	}
	w.send(6) // the Conflict was named, so it was sent, and is one again
	w.pull()
	if r := w.worksOn(0, "resend letters --anyway --reason unknown-type --local"); r.Done != 2 || r.Stay != 0 {
		t.Errorf("%+v", r)
	}
	w.send(6)
}

func TestChoosingUsage(t *testing.T) {
	w := newDevWorld(t)
	w.send(1, badSale)
	id := w.pull()[0]
	for line, says := range map[string]string{
		"list letters --verdict Bad":                            "give Conflict, Rejected, Expired or Poison",
		"list letters --verdict Inserted":                       "give Conflict, Rejected, Expired or Poison",
		"list letters --reason=":                                "--reason is empty",
		"list letters --type sale --pipeline nowhere.yaml":      "nowhere.yaml",
		"drop letters --yes --local":                            "name the messages to drop by their IDs, or choose them",
		"drop letters " + id + " --type sale --yes --local":     "not both",
		"edit letters --set a=b":                                "name the messages to change by their IDs, or choose them",
		"edit letters --reason missing-field":                   "write --set FIELD=VALUE; to change more than fields, open letters/ID.body",
		"edit letters " + id + " --set a":                       "write FIELD=VALUE",
		"edit letters " + id + " --set a=1 --set a.b=1":         "field a has a value already",
		"edit letters " + id + " --set a:=x":                    "is not JSON",
		"resend letters --replace --yes --reason x --local":     "--replace needs the ID",
		"resend letters " + id + " --replace --dry-run --local": "--replace cannot be combined",
		"resend letters " + id + " --replace --anyway --local":  "--replace cannot be combined",
	} {
		got := w.run(exitUsage, "quarantine "+line)
		must.Say(t, got.errors, says)
		must.Equal(t, got.out, "")
	}
}

// What cannot be changed is named, and the others are changed all the same.
func TestSetSaysWhatItCannotChange(t *testing.T) {
	w := newDevWorld(t)
	w.send(2, "not JSON", badSale)
	w.pull()
	got := w.run(exitDifference, "quarantine edit letters --verdict Poison --set at=2026-01-02T03:04:05Z")
	if !strings.HasSuffix(got.out, "1 edited, 1 stays\n") || !strings.Contains(got.out, "  stays: body: ") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	// A value may come from standard input, and the message may have been sent in the meantime.
	stdin := pipedWith(t, w.env, "eve@example.com\n", "quarantine edit letters --reason missing-field --overwrite --set customer.email=@-")
	must.Equal(t, stdin.code, 0, stdin.out, stdin.errors)
	w.run(exitDifference, "quarantine resend letters --local")
	file, err := filepath.Glob("letters/*.json")
	if err != nil || len(file) != 2 {
		t.Fatal(file, err)
	}
	bodies := ""
	for _, f := range file {
		text := must.Read(t, f)
		bodies += string(text)
	}
	must.Say(t, bodies, `\"email\":\"eve@example.com\"`)
	for _, id := range w.listed("") {
		got := w.run(exitDifference, "quarantine edit letters --set at=x", id)
		if !strings.Contains(got.out, "can no longer be changed") && !strings.Contains(got.out, "stays: body: ") {
			t.Errorf("%s%s", got.out, got.errors)
		}
	}
}
