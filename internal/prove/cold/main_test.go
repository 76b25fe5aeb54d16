package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// testOptions returns options that measure the test function against itself. They size it for no
// other architecture, because that would compile the standard library for each.
func testOptions(t *testing.T) options {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a binary with the go command, which -short leaves out")
	}
	return options{function: "./testdata/function", reference: "./testdata/function", runs: 3}
}

// message makes a file with a batch of one message whose body is the text.
func message(t *testing.T, body string) string {
	t.Helper()
	event, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m", Body: body}}})
	must.Succeed(t, err)
	file := filepath.Join(t.TempDir(), "event.json")
	must.Write(t, file, string(event))
	return file
}

func TestCompare(t *testing.T) {
	o := testOptions(t)
	o.maxRatio = 1000
	var out bytes.Buffer
	must.Succeed(t, o.compare(t.Context(), &out))
	row := regexp.MustCompile(`(?m)^ *\./testdata/function +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+ ms *$`)
	if rows := row.FindAllString(out.String(), -1); len(rows) != 2 {
		t.Errorf("%d rows of times, want 2, in\n%s", len(rows), &out)
	}
	if !regexp.MustCompile(`(?m)^ *ratio +[0-9.]+ +[0-9.]+ +[0-9.]+ *$`).MatchString(out.String()) {
		t.Errorf("no ratios in\n%s", &out)
	}
}

func TestTooSlowIsAnError(t *testing.T) {
	o := testOptions(t)
	o.maxRatio = 1e-6
	var out bytes.Buffer
	err := o.compare(t.Context(), &out)
	must.Fail(t, err, "times as long")
	if !strings.Contains(out.String(), "ratio") {
		t.Errorf("the table is missing: %q", &out)
	}
}

func TestTooLargeIsAnError(t *testing.T) {
	o := testOptions(t)
	o.arches, o.runs, o.maxMB = []string{runtime.GOARCH}, 1, 1000
	var out bytes.Buffer
	must.Succeed(t, o.compare(t.Context(), &out))
	o.maxMB = 1
	err := o.compare(t.Context(), &out)
	must.Fail(t, err, "MB for "+runtime.GOARCH+"; at most 1.00 MB is allowed")
	if !strings.Contains(out.String(), "ratio") {
		t.Errorf("the table is missing: %q", &out)
	}
}

// TestOnlyAStoredEventCounts shows that a start that does not store its event never passes as a
// fast one.
func TestOnlyAStoredEventCounts(t *testing.T) {
	for body, says := range map[string]string{
		"skip": "no write among the requests",
		"fail": `"itemIdentifier":"m"`,
		"die":  "out of memory", // the function printed this
	} {
		t.Run(body, func(t *testing.T) {
			o := testOptions(t)
			o.event = message(t, body)
			must.Fail(t, o.compare(t.Context(), &bytes.Buffer{}), says)
		})
	}
}

func TestUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		says string
	}{
		"help":           {[]string{"-h"}, 0, "Exit code"},
		"unknown flag":   {[]string{"-speed"}, 2, "Usage"},
		"argument":       {[]string{"ingest"}, 2, "no arguments"},
		"no runs":        {[]string{"-n", "0"}, 2, "-n of at least 1"},
		"negative ratio": {[]string{"-max-ratio", "-1"}, 2, "not negative"},
		"negative size":  {[]string{"-max-mb", "-1"}, 2, "not negative"},
		"no event file":  {[]string{"-event", "absent.json"}, 1, "absent.json"},
		"bad event file": {[]string{"-event", "main.go"}, 1, "not JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out, talk bytes.Buffer
			if code := run(context.Background(), tt.args, &out, &talk); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(talk.String(), tt.says) || out.Len() > 0 {
				t.Errorf("stdout %q, stderr %q, want %q on stderr", &out, &talk, tt.says)
			}
		})
	}
}

func TestMissingFunction(t *testing.T) {
	o := testOptions(t)
	o.function = "./testdata/absent"
	must.Fail(t, o.compare(t.Context(), &bytes.Buffer{}), "testdata/absent")
}

func TestSummary(t *testing.T) {
	of := func(ds ...time.Duration) (ts []timing) {
		for _, d := range ds {
			ts = append(ts, timing{answer: d, init: d / 2})
		}
		return ts
	}
	for _, tt := range []struct {
		times         []timing
		least, median time.Duration
	}{
		{of(5), 5, 5},
		{of(9, 1), 1, 5},
		{of(9, 1, 3), 1, 3},
		{of(8, 2, 100, 4), 2, 6},
	} {
		if least, median := summary(tt.times, timing.untilAnswer); least != tt.least || median != tt.median {
			t.Errorf("%v: min %d, median %d, want %d and %d", tt.times, least, median, tt.least, tt.median)
		}
	}
}

func TestOrderBatchIsFresh(t *testing.T) {
	now := must.Time("2026-05-06T07:08:09Z")
	raw, err := orderBatch(now)
	must.Succeed(t, err)
	var event events.SQSEvent
	if err := json.Unmarshal(raw, &event); err != nil || len(event.Records) != 1 {
		t.Fatalf("%d records, %v", len(event.Records), err)
	}
	var order map[string]any
	must.Succeed(t, json.Unmarshal([]byte(event.Records[0].Body), &order))
	if order["placed_at"] != "2026-05-06T07:08:09Z" || order["type"] != "order.placed" {
		t.Errorf("order %v", order)
	}
	if n := len(event.Records[0].Body); n < 200 || n > 400 {
		t.Errorf("body of %d bytes", n)
	}
}
