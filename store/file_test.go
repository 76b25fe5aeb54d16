package store_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// written is a pipeline.yaml of an epoch, with a comment.
func written(epoch int, comment string) string {
	return fmt.Sprintf(`# %s
ingot: 1
epoch: %d
type: "{type}"
events:
  order:
    id: "{id}"
    at: "{at}"
    key: {pk: "ORDER#{id}", sk: "ORDER"}
`, comment, epoch)
}

// current lets every read see the newest write.
func current(s *setup) { s.engine.Behind = nil }

// running is the store of a function that was deployed with a file.
func (w *world) running(text string) *store.Store {
	w.t.Helper()
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(text)}}, "pipeline.yaml")
	must.Succeed(w.t, err)
	return w.open(tables.Config{Pipeline: p, Aggregates: "totals"})
}

func (w *world) deployed() string {
	w.t.Helper()
	f, err := store.DeployedFile(context.Background(), w.Engine.DynamoDB(), "totals")
	must.Succeed(w.t, err)
	if f == nil {
		return ""
	}
	return string(f.Text)
}

// keepFile starts a function that was deployed with a file. It may write it anew, as for a person
// who wakes the function.
func (w *world) keepFile(text string, anew bool) error {
	w.t.Helper()
	st := w.running(text)
	if err := st.Start(deadline(w.t)); err != nil {
		return err
	}
	return st.Inside().Heads.KeepFile(deadline(w.t), anew)
}

func TestDeployedFileIsReplaced(t *testing.T) {
	first, second := written(1, "first"), written(2, "second")
	for name, tt := range map[string]struct {
		starts []string
		want   string
		writes int
	}{
		"none":                       {nil, "", 0},
		"one":                        {[]string{first}, first, 1},
		"the same again":             {[]string{first, first, first}, first, 1},
		"a higher epoch":             {[]string{first, second}, second, 2},
		"a lower epoch":              {[]string{second, first}, second, 1},
		"another text of that epoch": {[]string{first, written(1, "other")}, written(1, "other"), 2},
		"made in Go":                 {[]string{""}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, current)
			writes := 0
			w.onCall = func(_ string, in any) error {
				if in, ok := in.(*dynamodb.TransactWriteItemsInput); ok && in.TransactItems[0].Update != nil {
					writes++ // not the start's own
				}
				return nil
			}
			for _, text := range tt.starts {
				if text == "" {
					must.Succeed(t, w.store.Inside().Heads.KeepFile(deadline(t), false))
				} else {
					must.Succeed(t, w.keepFile(text, false))
				}
			}
			if got := w.deployed(); got != tt.want || writes != tt.writes {
				t.Errorf("%d writes, want %d; deployed is\n%s\nwant\n%s", writes, tt.writes, got, tt.want)
			}
		})
	}
}

// The stored form is read by other programs.
func TestStoredFile(t *testing.T) {
	w := newWorld(t, current)
	must.Succeed(t, w.keepFile(written(7, "a comment"), false))
	item := w.stored("totals", lanes.FileKey)
	if len(item) != 5 || rows.TextOf(item["PK"]) != "F#" ||
		rows.TextOf(item["SK"]) != "-" ||
		rows.NumberOf(item["epoch"]) != "7" ||
		rows.TextOf(item["digest"]) != "7b294c7d8866bad88548477a9f16c485dc0314d56f93e9fa01c60444837b185d" {
		t.Errorf("%v", item)
	}
	r, err := gzip.NewReader(bytes.NewReader(item["file"].(*types.AttributeValueMemberB).Value))
	must.Succeed(t, err)
	if text, err := io.ReadAll(r); err != nil || string(text) != written(7, "a comment") {
		t.Errorf("%v: %s", err, text)
	}
	// The bytes that gzip of any version has written can be read.
	w.write("totals", lanes.FileKey, attrs{"epoch": numberValue("1"), "file": rows.Binary(unhex(t, storedFile)),
		"digest": textValue("f48a5113dd6a2ac3b43111cec59aa30aa9b35f7353d425c2159eab1532e48717")})
	must.Equal(t, w.deployed(), "ingot: 1\n")
}

// storedFile is "ingot: 1\n" as gzip writes it.
const storedFile = "1f8b0800000000000203cbcc4bcf2fb15230e40200baa81ae909000000"

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	must.Succeed(t, err)
	return b
}

// What fails leaves the file as it was, or as it was to be. Nothing is asked twice.
func TestFaultsOfTheFile(t *testing.T) {
	const write = "TransactWriteItems"
	cancelled := func(code string) error { return cancelledAt(2, code, 0) }
	overtaken, overtaking := cancelled("ConditionalCheckFailed"), cancelled("TransactionConflict")
	for _, f := range []fault{{API: write, Before: errLost}, {API: write, After: errLost},
		{API: write, Before: cancelled("ThrottlingError")}, {API: write, Before: overtaken}, {API: write, Before: overtaking}} {
		w := newWorld(t, current)
		must.Succeed(t, w.keepFile(written(1, "old"), false))
		st := w.running(written(1, "new"))
		must.Succeed(t, st.Start(deadline(t)))
		calls := 0
		w.onCall = func(string, any) error { calls++; return nil }
		w.faults = []fault{f}
		if err := st.Inside().Heads.KeepFile(deadline(t), false); (err == nil) != (f.Before == overtaken || f.Before == overtaking) {
			t.Errorf("%+v: %v", f, err)
		}
		if got := w.deployed(); got != written(1, "old") && got != written(1, "new") || calls > 2 {
			t.Errorf("%+v: %d calls: %s", f, calls, got)
		}
		if err := w.keepFile(written(1, "new"), false); err != nil || w.deployed() != written(1, "new") {
			t.Errorf("%+v: the next start: %v", f, err)
		}
	}
}

// randomText returns text that cannot be packed to much less.
func randomText(size int) string {
	random := make([]byte, size)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte('!' + rng.IntN(90))
	}
	return string(random)
}

func TestFilesThatCannotBeKept(t *testing.T) {
	w := newWorld(t, current)
	random := randomText(300 * 1024)
	must.Fail(t, w.keepFile(written(1, random+random), false), "more than 300 KB when it is gzipped")
	must.Equal(t, w.deployed(), "")
	if err := w.keepFile(written(1, random), false); err != nil || w.deployed() != written(1, random) {
		t.Errorf("300 KB of text: %v", err)
	}
}

// Somebody's item at that key is refused by a reader, and replaced when a person wakes the
// function.
func TestAlteredFile(t *testing.T) {
	w := newWorld(t, current)
	for name, alter := range map[string]func(attrs){
		"no attributes": func(attrs) {},
		"no gzip": func(i attrs) {
			i["file"] = rows.Binary([]byte("text"))
		},
		"other digest": func(i attrs) {
			i["file"], i["digest"] = rows.Binary(unhex(t, storedFile)), textValue("00")
			i["epoch"] = numberValue("1")
		},
	} {
		item := attrs{}
		alter(item)
		w.write("totals", lanes.FileKey, item)
		_, err := store.DeployedFile(context.Background(), w.Engine.DynamoDB(), "totals")
		if err == nil || !strings.Contains(err.Error(), `wake the streams function with {"Records":[]}`) {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.keepFile(written(1, "new"), true); err != nil || w.deployed() != written(1, "new") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A start that finds its own file in the table sends no request for it, and reads no more for a
// large file than for a small one.
func TestAnUnchangedFileCostsNothing(t *testing.T) {
	for _, size := range []int{0, 200_000} {
		w, text := newWorld(t, current), written(1, randomText(size))
		for start := range 3 {
			meter := w.meter()
			must.Succeed(t, w.keepFile(text, false))
			used := meter()
			if start > 0 && (used.TotalRequests() != 1 || used.Requests["BatchGetItem"] != 1 || used.ReadUnits() != 1 ||
				used.WriteUnits() != 0) {
				t.Errorf("%d bytes: start %d: %v, %v read and %v write units", len(text), start, used.Requests, used.ReadUnits(),
					used.WriteUnits())
			}
		}
		must.Equal(t, w.deployed(), text)
	}
}

// A person who wakes the function has the file written anew, but not over that of a newer function.
func TestFileIsWrittenAnew(t *testing.T) {
	w := newWorld(t, current)
	for _, step := range []struct {
		epoch int
		anew  bool
		want  string
	}{{2, true, written(2, "")}, {2, false, ""}, {2, true, written(2, "")}, {1, true, ""}, {3, false, written(3, "")}} {
		w.removesFrom("totals", lanes.FileKey)
		if err := w.keepFile(written(step.epoch, ""), step.anew); err != nil || w.deployed() != step.want {
			t.Errorf("%+v: %v: %q", step, err, w.deployed())
		}
	}
}

// A start replaces only what it has read.
func TestFileOfAnotherStart(t *testing.T) {
	for _, before := range []string{"", written(1, "before")} {
		w := newWorld(t, current)
		if before != "" {
			must.Succeed(t, w.keepFile(before, false))
		}
		late := w.running(written(1, "late"))
		must.Succeed(t, late.Start(deadline(t)))
		must.Succeed(t, w.keepFile(written(1, "early"), false))
		if err := late.Inside().Heads.KeepFile(deadline(t), false); err != nil || w.deployed() != written(1, "early") {
			t.Errorf("after %q: %v: %s", before, err, w.deployed())
		}
		must.Succeed(t, w.keepFile(written(2, "raised"), false))
		if err := late.Inside().Heads.KeepFile(deadline(t), true); err != nil || w.deployed() != written(2, "raised") {
			t.Errorf("after another epoch: %v: %s", err, w.deployed())
		}
	}
}

// Old and new functions start beside each other. Each of them writes at most once, so they come to
// rest, and a start after the last old one puts the new file there.
func TestFunctionsInAFight(t *testing.T) {
	w := newWorld(t, current)
	var mu sync.Mutex
	writes := 0
	w.onCall = func(_ string, in any) error {
		mu.Lock()
		defer mu.Unlock()
		if in, ok := in.(*dynamodb.TransactWriteItemsInput); ok && in.TransactItems[0].Update != nil {
			writes++ // not the start's own
		}
		return nil
	}
	const each = 50
	old, new := written(3, "old"), written(3, "new")
	var starts sync.WaitGroup
	for i := range 2 * each {
		starts.Go(func() {
			if err := w.keepFile([]string{old, new}[i%2], false); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	if writes > 2*each {
		t.Errorf("%d writes of %d starts", writes, 2*each)
	}
	if got := w.deployed(); got != old && got != new {
		t.Errorf("neither file is there: %s", got)
	}
	if err := w.keepFile(new, false); err != nil || w.deployed() != new {
		t.Errorf("after the fight: %v", err)
	}
	before := writes
	for range each {
		must.Succeed(t, w.keepFile(new, false))
	}
	must.Equal(t, writes, before, writes-before)
}
