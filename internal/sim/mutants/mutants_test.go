package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every wrong design that the project says it catches, by the name of its mutant.
var promised = map[string]string{
	"naive ADD":                                        "naive-add",
	"one mark without lane":                            "mark-without-lane",
	"mark per item-key bucket":                         "mark-per-key-bucket",
	"failed condition = skip":                          "failed-condition-skips",
	"strings compared raw":                             "marks-as-text",
	"parallel lanes (factor 2)":                        "parallel-lanes",
	"discard then replay":                              "discard-then-replay",
	"parent mark pruned early":                         "pruned-early",
	"second consumer at LATEST":                        "second-at-latest",
	"guessing a lane when none is given":               "guessed-lane",
	"digest not compared":                              "digest-not-compared",
	"acknowledging an unknown outcome":                 "unknown-acknowledged",
	"acknowledging in-batch copies early":              "copies-acknowledged-early",
	"no Expired check":                                 "no-expired-check",
	"TTL REMOVE conditional on the aggregate":          "removal-needs-aggregate",
	"MODIFY counted as insert":                         "modify-as-insert",
	"FIFO group not stopped":                           "fifo-goes-on",
	"receipts with batch id":                           "receipt-per-batch",
	"fingerprint left out of the write":                "fingerprint-left-out",
	"aggregate without own expiry":                     "no-own-expiry",
	"pruning without the seen value":                   "pruned-unseen",
	"pruning by the sandbox clock":                     "pruned-by-clock",
	"a zero delta skipped":                             "zero-delta-skipped",
	"a generation started in mid-shard without stamps": "generation-without-stamps",
	"old code that ignores a newer stamp":              "newer-stamp-ignored",
	"an archive put not awaited":                       "archive-not-awaited",
	"in-batch copies given the first one's verdict":    "copies-share-verdict",
	"a BatchGet miss read as Duplicate":                "miss-is-duplicate",
	"a request left running after the answer":          "request-left-running",
	"a head created without raising the epoch":         "epoch-not-raised",
	"a Duplicate reported as Conflict":                 "duplicate-as-conflict",
	"an expiry margin of 20 h":                         "margin-of-a-day",
	"an expiry margin of a minute":                     "margin-of-minutes",
	"a stored id altered":                              "id-altered",
	"expiresAt ten hours late":                         "expires-late",
	"an index key left out of the put":                 "one-index",
	"a where ignored":                                  "where-ignored",
	"min treated as max":                               "min-as-max",
	"min compared as text":                             "min-as-text",
	"the archive object holds the wrong body":          "archive-wrong-body",
	"Failed entries of a letter batch ignored":         "failed-letters-ignored",
	"UnprocessedKeys read as absent":                   "unread-is-absent",
	"a transaction conflict read as counted already":   "conflict-is-receipt",
	"an internal error of a statement taken as done":   "internal-error-is-done",
	"an odd record dropped without a letter":           "odd-record-dropped",
	"an odd record that blocks its shard":              "odd-record-blocks",
	"heads not flagged for an odd record":              "odd-record-unflagged",
	"a refused update let go without a letter":         "refused-update-dropped",
	"a refused update that blocks its shard":           "refused-update-blocks",
	"both functions rolled back in silence":            "rolled-back-unsaid",
	"an aggregate let go without a new epoch":          "let-go-unseen",
	"an aggregate put back after a gap":                "goes-on-after-a-gap",
}

func TestPromisedMutantsAreThere(t *testing.T) {
	names := map[string]bool{}
	for _, m := range all() {
		if names[m.Name] {
			t.Errorf("two mutants are named %s", m.Name)
		}
		names[m.Name] = true
		if len(m.Checks) == 0 || m.What == "" || len(m.Patches) == 0 || strings.ContainsAny(m.Name, ", |/") {
			t.Errorf("mutant %q is not complete", m.Name)
		}
		if m.seeds() < 1 || m.seeds() > mostSeeds {
			t.Errorf("mutant %s may take %d worlds; at most %d are allowed", m.Name, m.seeds(), mostSeeds)
		}
	}
	for what, name := range promised {
		if !names[name] {
			t.Errorf("no mutant %s: %s", name, what)
		}
	}
	if len(names) < 30 {
		t.Errorf("%d mutants", len(names))
	}
}

// TestMutantsApply says when a mutant's text no longer stands in our source, and when what it makes of it is not Go.
func TestMutantsApply(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for _, m := range all() {
		files, err := m.files(root)
		if err != nil {
			t.Error(err)
			continue
		}
		for path, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("mutant %s: %v", m.Name, err)
			}
		}
	}
}

func TestPatchMustOccurOnce(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	for name, old := range map[string]string{"never": "no such text anywhere", "often": "func "} {
		m := Mutant{Name: name, Patches: []Patch{{"store/apply.go", old, ""}}}
		if _, err := m.files(root); err == nil || !strings.Contains(err.Error(), "no longer applies") {
			t.Errorf("a text that occurs %s: %v", name, err)
		}
	}
	m := Mutant{Name: "elsewhere", Patches: []Patch{{"store/none.go", "", ""}}}
	if _, err := m.files(root); err == nil {
		t.Error("a file that is not there")
	}
}

func TestChoose(t *testing.T) {
	if _, err := choose("naive-add,nobody", 0, 0); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("an unknown name: %v", err)
	}
	two, err := choose("no-own-expiry,naive-add", 0, 0)
	if err != nil || len(two) != 2 || two[0].Name != "no-own-expiry" {
		t.Errorf("%v %v", two, err)
	}
	a, _ := choose("", 6, 7)
	b, _ := choose("", 6, 7)
	if len(a) != 6 {
		t.Fatalf("%d mutants, want 6", len(a))
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			t.Error("the same seed draws others")
		}
	}
	if everything, _ := choose("", 0, 0); len(everything) != len(all()) {
		t.Errorf("%d mutants, want all", len(everything))
	}
}
