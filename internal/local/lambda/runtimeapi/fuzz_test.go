package runtimeapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
)

// FuzzFunctionError reads a function's report of its error. Nothing of the report may be lost, no
// matter what form it has.
func FuzzFunctionError(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{`{"errorType":"errorString","errorMessage":"no"}`, `{"errorMessage":1}`, "panic: x", `null`, `[]`,
		`{"errorType":null}`} {
		f.Add("Runtime.ExitError", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		e := functionError(header, body)
		if string(e.Body) != string(body) || e.Error() == "" {
			t.Fatalf("%q is read as %+v", body, e)
		}
		var report map[string]any
		if json.Unmarshal(body, &report) != nil {
			if e.Type == "" && header != "" || !json.Valid(body) && e.Message != string(body) {
				t.Fatalf("%q, which is not a report, is read as %+v", body, e)
			}
			return
		}
		// Names match in any case, and the last one counts.
		if message, ok := report["errorMessage"].(string); ok && len(report) == 1 && (e.Message != message || e.Type != header) {
			t.Fatalf("%q is read as %+v", body, e)
		}
		if !strings.Contains(e.Error(), e.Message) {
			t.Fatalf("%q does not say %q", e, e.Message)
		}
	})
}
