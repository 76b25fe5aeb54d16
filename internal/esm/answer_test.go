package esm

import (
	"encoding/json"
	"fmt"
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
		failed       string // positions; "whole" if all of the batch fails
	}{
		{"empty object", `{}`, "[]"},
		{"null", `null`, "[]"},
		{"empty array", `[]`, "[]"},
		{"empty list", `{"batchItemFailures":[]}`, "[]"},
		{"null list", `{"batchItemFailures":null}`, "[]"},
		{"one failed", `{"batchItemFailures":[{"itemIdentifier":"c"}]}`, "[2]"},
		{"an id twice in the batch", `{"batchItemFailures":[{"itemIdentifier":"b"}]}`, "[1 3]"},
		{"an id twice in the answer", `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"a"}]}`, "[0]"},
		{"more members", `{"state":{},"batchItemFailures":[{"x":1,"itemIdentifier":"a"}]}`, "[0]"},
		{"escaped id", `{"batchItemFailures":[{"itemIdentifier":"\u0061"}]}`, "[0]"},

		{"wrong outer name", `{"batchItemFailure":[{"itemIdentifier":"a"}]}`, "[]"},
		{"outer name in another case", `{"BatchItemFailures":[{"itemIdentifier":"a"}]}`, "[]"},

		{"nothing", ``, "whole"},
		{"not JSON", `{"batchItemFailures":[`, "whole"},
		{"trailing text", `{} {}`, "whole"},
		{"empty id", `{"batchItemFailures":[{"itemIdentifier":""}]}`, "whole"},
		{"null id", `{"batchItemFailures":[{"itemIdentifier":null}]}`, "whole"},
		{"number as id", `{"batchItemFailures":[{"itemIdentifier":1}]}`, "whole"},
		{"wrong inner name", `{"batchItemFailures":[{"itemIdentifer":"a"}]}`, "whole"},
		{"inner name in another case", `{"batchItemFailures":[{"ItemIdentifier":"a"}]}`, "whole"},
		{"unknown id", `{"batchItemFailures":[{"itemIdentifier":"z"}]}`, "whole"},
		{"unknown id after a known one", `{"batchItemFailures":[{"itemIdentifier":"a"},{"itemIdentifier":"z"}]}`, "whole"},
		{"entry is null", `{"batchItemFailures":[null]}`, "whole"},
		{"entry is a string", `{"batchItemFailures":["a"]}`, "whole"},
		{"list is an object", `{"batchItemFailures":{"itemIdentifier":"a"}}`, "whole"},
		{"list is a string", `{"batchItemFailures":"a"}`, "whole"},
		{"a string", `"ok"`, "whole"},
		{"a number", `1`, "whole"},
		{"true", `true`, "whole"},
		{"an array with something in it", `[{"itemIdentifier":"a"}]`, "whole"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failed, err := failures([]byte(tt.answer), ids)
			got := fmt.Sprint(slices.Sorted(maps.Keys(failed)))
			if err != nil {
				must.Equal(t, got, "[]")
				got = "whole"
			}
			must.Equal(t, got, tt.failed)
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
