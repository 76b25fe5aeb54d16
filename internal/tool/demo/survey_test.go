package demo

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestLinesErrorIsBounded shows that the error says in few words how many lines are wrong and
// where, however many there are.
func TestLinesErrorIsBounded(t *testing.T) {
	c := readings(t, 1, 1)
	good := `{"id":"r1","kind":"all","celsius":1,"at":"2024-05-01T00:00:00Z"}`
	var bodies []string
	for i := range 1000 {
		if i%3 == 0 || i > 990 || i > 20 && i < 40 {
			bodies = append(bodies, `{}`)
		} else {
			bodies = append(bodies, good)
		}
	}
	c.Data = lines("f.ndjson", bodies...)
	_, err := Run(context.Background(), c)
	var bad *LinesError
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	text := err.Error()
	if bad.Lines != 1000 || bad.Bad != 352 || len(bad.First) != maxTold {
		t.Errorf("%d of %d lines, %d told", bad.Bad, bad.Lines, len(bad.First))
	}
	for _, want := range []string{"f.ndjson: 352 of 1,000 lines cannot be used:\n  f.ndjson:1: Poison (missing-field)",
		"\n  and 342 more: lines 25-40, 43, 46, ",
		", and others up to line 1000\nMend these lines, change the pipeline so that it takes them, or leave"} {
		must.Say(t, text, want)
	}
	if n := strings.Count(text, "\n"); n != maxTold+2 || len(text) > 4000 {
		t.Errorf("%d lines, %d bytes", n, len(text))
	}
}

// TestFilesOfAnotherForm shows what to do with a file of JSON over several lines, and with one
// array. A mistake that affects every line is reported once.
func TestFilesOfAnotherForm(t *testing.T) {
	const array = "\nWrite each event as one JSON object on a line of its own; jq -c '.[]' makes that of an array."
	for text, want := range map[string]string{
		"{|\"id\": \"r1\",|\"kind\": \"all\"|}": "jq -c . makes that of JSON over several lines.",
		`[{"id":"r1"}]`:                         array,
		`[|{"id":"r1"}|]`:                       array,
	} {
		c := readings(t, 1, 1)
		c.Data = lines("f.json", strings.Split(text, "|")...)
		_, err := Run(context.Background(), c)
		if err == nil || !strings.HasSuffix(err.Error(), want) ||
			strings.HasPrefix(text, "{") && !strings.Contains(err.Error(), "f.json: 4 of 4 lines cannot be used") {
			t.Errorf("it says %v", err)
		}
	}
}

// TestSurveyLeavesTheRunAsItIs shows that the survey finds what the run would have found, and
// changes nothing else.
func TestSurveyLeavesTheRunAsItIs(t *testing.T) {
	known, found := firstDays(t, aggregate.Marks), firstDays(t, aggregate.Marks)
	known.Data.Events, found.Data.Events = 300, 0
	a, b := mustRun(t, known), mustRun(t, found)
	var texts [2]strings.Builder
	for i, s := range []*Summary{a, b} {
		must.Succeed(t, s.Text(&texts[i], -1))
	}
	must.Equal(t, texts[0].String(), texts[1].String())
}
