// Package samples is events/expected.json: what comes of each file in events/. It is for tests
// alone.
package samples

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// Expected is the whole file. events/README.md says what its members mean.
type Expected struct {
	Key   string  `json:"key"` // INGOT_PII_KEY
	Files []*File `json:"files"`
}

// File is a file to send, and the result that it must have.
type File struct {
	File     string    `json:"file"`
	Function string    `json:"function"` // ingest or streams
	Counting []string  `json:"counting,omitempty"`
	After    []string  `json:"after"`
	Messages []Message `json:"messages,omitempty"`
	Changes  []Change  `json:"changes,omitempty"`
	Totals   []Total   `json:"totals,omitempty"`
	Archived []Key     `json:"archived,omitempty"`
	State    bool      `json:"state,omitempty"`
	// Exactly one of the two answers is present.
	BatchItemFailures []string `json:"batchItemFailures"`
	WholeBatchFails   bool     `json:"wholeBatchFails,omitempty"`
}

// Message is one queue message.
type Message struct {
	ID          string `json:"id"`
	Verdict     string `json:"verdict"`
	Reason      string `json:"reason,omitempty"`
	Key         *Key   `json:"key,omitempty"`
	Quarantined bool   `json:"quarantined,omitempty"`
}

// Change is one stream record.
type Change struct {
	Sequence string `json:"sequence"`
	Outcome  string `json:"outcome"`
	Key      Key    `json:"key"`
}

// Key is the key of an item.
type Key struct {
	PK string `json:"pk"`
	SK string `json:"sk"`
}

// Total is what one total must say after the file has been counted.
type Total struct {
	Aggregate string            `json:"aggregate"`
	By        map[string]string `json:"by"`
	Window    string            `json:"window,omitempty"`
	N         int64             `json:"n"`
	Values    map[string]string `json:"values"`
	Flagged   bool              `json:"flagged,omitempty"`
}

// Read reads the file in the repository whose root is given.
func Read(t testing.TB, root string) *Expected {
	t.Helper()
	all := &Expected{}
	if err := json.Unmarshal(must.Read(t, filepath.Join(root, "events/expected.json")), all); err != nil || len(all.Files) < 20 {
		t.Fatalf("%d samples, %v", len(all.Files), err)
	}
	return all
}
