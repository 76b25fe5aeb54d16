package esm

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestAnswersOfABatch(t *testing.T) {
	ids := []string{"a", "b", "c", "b"}
	tests := []struct {
		name, answer string
		failed       []int
		whole        bool
	}{
		{"empty object", `{}`, nil, false},
		{"null", `null`, nil, false},
		{"empty array", `[]`, nil, false},
		{"empty list", `{"batchItemFailures":[]}`, nil, false},
		{"null list", `{"batchItemFailures":null}`, nil, false},
		{"one failed", `{"batchItemFailures":[{"itemIdentifier":"c"}]}`, []int{2}, false},
		{"an id twice in the batch", `{"batchItemFailures":[{"itemIdentifier":"b"}]}`, []int{1, 3}, false},
		{"an id twice in the answer", `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"a"}]}`, []int{0}, false},
		{"more members", `{"state":{},"batchItemFailures":[{"x":1,"itemIdentifier":"a"}]}`, []int{0}, false},
		{"escaped id", `{"batchItemFailures":[{"itemIdentifier":"\u0061"}]}`, []int{0}, false},

		{"wrong outer name", `{"batchItemFailure":[{"itemIdentifier":"a"}]}`, nil, false},
		{"outer name in another case", `{"BatchItemFailures":[{"itemIdentifier":"a"}]}`, nil, false},

		{"nothing", ``, nil, true},
		{"not JSON", `{"batchItemFailures":[`, nil, true},
		{"trailing text", `{} {}`, nil, true},
		{"empty id", `{"batchItemFailures":[{"itemIdentifier":""}]}`, nil, true},
		{"null id", `{"batchItemFailures":[{"itemIdentifier":null}]}`, nil, true},
		{"number as id", `{"batchItemFailures":[{"itemIdentifier":1}]}`, nil, true},
		{"wrong inner name", `{"batchItemFailures":[{"itemIdentifer":"a"}]}`, nil, true},
		{"inner name in another case", `{"batchItemFailures":[{"ItemIdentifier":"a"}]}`, nil, true},
		{"unknown id", `{"batchItemFailures":[{"itemIdentifier":"z"}]}`, nil, true},
		{"unknown id after a known one", `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"z"}]}`, nil, true},
		{"entry is null", `{"batchItemFailures":[null]}`, nil, true},
		{"entry is a string", `{"batchItemFailures":["a"]}`, nil, true},
		{"list is an object", `{"batchItemFailures":{"itemIdentifier":"a"}}`, nil, true},
		{"list is a string", `{"batchItemFailures":"a"}`, nil, true},
		{"a string", `"ok"`, nil, true},
		{"a number", `1`, nil, true},
		{"true", `true`, nil, true},
		{"an array with something in it", `[{"itemIdentifier":"a"}]`, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failed, err := failures([]byte(tt.answer), ids)
			if (err != nil) != tt.whole {
				t.Fatalf("error %v, want whole failure: %v", err, tt.whole)
			}
			must.Match(t, slices.Sorted(maps.Keys(failed)), tt.failed)
		})
	}
}

func TestStatesOfAWindow(t *testing.T) {
	for answer, want := range map[string]string{
		`{"state":{}}`:                          `{}`,
		`{"state":{"n": 1}}`:                    `{"n": 1}`,
		`{"batchItemFailures":[],"state":{}}`:   `{}`,
		`{}`:                                    "",
		`null`:                                  "",
		`[]`:                                    "",
		``:                                      "",
		`{"state":null}`:                        "",
		`{"state":[]}`:                          "",
		`{"state":"x"}`:                         "",
		`{"State":{}}`:                          "",
		`{"state":null,"batchItemFailures":[]}`: "",
	} {
		state, err := windowState([]byte(answer))
		if string(state) != want || (err == nil) != (want != "") {
			t.Errorf("%s: state %s, error %v; want %q", answer, state, err, want)
		}
	}
}

// FuzzAnswer compares the decoder with a second and simpler reading of any answer.
func FuzzAnswer(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{`{}`, `null`, `[]`, `{"batchItemFailures":[{"itemIdentifier":"a"}]}`,
		`{"batchItemFailures":[{"itemIdentifier":""}]}`,
		`{"batchItemFailures":[{"itemIdentifier":"b"},{"itemIdentifier":"z"}],"state":{}}`,
		`{"batchItemFailures":null,"batchItemFailures":[{"itemIdentifier":"a"}]}`, "{\"state\":{\"\xff\":1}}"} {
		f.Add([]byte(seed))
	}
	ids := []string{"a", "b", "c"}
	f.Fuzz(func(t *testing.T, answer []byte) {
		failed, err := failures(answer, ids)
		if err != nil && failed != nil {
			t.Fatalf("both failures %v and an error %v", failed, err)
		}
		if err == nil && !json.Valid(answer) {
			t.Fatal("an answer that is not JSON was taken")
		}
		for i := range failed {
			if i < 0 || i >= len(ids) {
				t.Fatalf("position %d is not in the batch", i)
			}
			if quoted := `"` + ids[i] + `"`; !strings.Contains(string(answer), quoted) && !strings.Contains(string(answer), `\u`) {
				t.Fatalf("%s reported, but the answer does not name it: %q", ids[i], answer)
			}
		}
		var plain map[string]any
		if json.Unmarshal(answer, &plain) == nil {
			list, isList := plain["batchItemFailures"].([]any)
			if isList && len(list) > 0 && err == nil && len(failed) == 0 {
				t.Fatalf("failures were listed, but none is seen: %q", answer)
			}
		}
		if state, err := windowState(answer); err == nil && !json.Valid(state) {
			t.Fatalf("state is not JSON: %q", state)
		}
	})
}
