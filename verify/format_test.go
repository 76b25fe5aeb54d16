package verify

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/pipeline"
)

func visits(t testing.TB) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{"visit": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "VISIT#{id}", SK: "VISIT"}}},
		Aggregates: map[string]pipeline.AggregateSpec{"daily": {Since: 1, By: map[string]string{"site": "{site}"}, Window: 24 * time.Hour,
			From: map[string]pipeline.FromSpec{"visit": {Values: map[string]string{"least": "min ms", "visits": "count"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func decimal(text string) event.Decimal {
	d, err := event.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// example is one run with every kind of content.
func example() (runID, []record) {
	id := runID{Job: [32]byte{1, 2, 3}, Segment: 3, Of: 64, Number: 200, Bucket: 17, OfBucket: 256}
	all := []record{
		{key: "daily#1#1772323200#north", side: wanted,
			sum: &sum{n: 300, fp: decimal("12345678901234567890123"),
				values: []aggregate.Amount{{}, {Set: true, Number: decimal("-0.5")}}}},
		{key: "daily#1#1772323200#north", side: stored, sum: &sum{n: -2, fp: decimal("1"), fpx: decimal("7"), flagged: true,
			flags: []string{"refused", "größer"}}},
		{key: "daily#1#1772409600#a%23b", side: stored, sum: &sum{values: []aggregate.Amount{{Set: true}, {}}}},
	}
	for i := range all {
		all[i].hash = hashOf(all[i].key)
	}
	if !all[1].before(&all[2]) {
		all = []record{all[2], all[0], all[1]}
	}
	return id, all
}

func encodeRun(t testing.TB, id runID, all []record) []byte {
	t.Helper()
	var b bytes.Buffer
	w := newRunWriter(&b, id)
	for i := range all {
		if err := w.write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	checksum, err := w.end()
	if err != nil || !bytes.HasSuffix(b.Bytes(), must(hex.DecodeString(checksum))) {
		t.Fatal(checksum, err)
	}
	return b.Bytes()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func decodeRun(p *pipeline.Pipeline, text []byte) (runID, []record, error) {
	r, err := openRun(bytes.NewReader(text))
	if err != nil {
		return runID{}, nil, err
	}
	var all []record
	for {
		rec, err := r.next(p)
		if err != nil {
			return runID{}, nil, err
		}
		if rec == nil {
			return r.id, all, nil
		}
		all = append(all, *rec)
	}
}

// The bytes of a run are a format: a pass may go on with another version of this program.
func TestRunIsStable(t *testing.T) {
	id, all := example()
	text := encodeRun(t, id, all)
	golden.File(t, "testdata/run.hex", strings.Join(lines(hex.EncodeToString(text), 96), "\n")+"\n")
	gotID, got, err := decodeRun(visits(t), text)
	if err != nil || gotID != id || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v %+v %v", gotID, got, err)
	}
	for n := range text {
		if _, _, err := decodeRun(visits(t), text[:n]); !errors.As(err, new(*errDamaged)) {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

// No byte of a run can change without a refusal.
func TestEveryByteOfARunIsChecked(t *testing.T) {
	id, all := example()
	text := encodeRun(t, id, all)
	for i := range text {
		for bit := range 8 {
			bad := bytes.Clone(text)
			bad[i] ^= 1 << bit
			if _, _, err := decodeRun(visits(t), bad); !errors.As(err, new(*errDamaged)) {
				t.Errorf("bit %d of byte %d of %d: %v", bit, i, len(text), err)
			}
		}
	}
}

func lines(text string, width int) (all []string) {
	for len(text) > width {
		all, text = append(all, text[:width]), text[width:]
	}
	return append(all, text)
}

func exampleManifest() *manifest {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return &manifest{Job: strings.Repeat("ab", 32), Segment: 3, Of: 64, Buckets: 256, Began: at, Ended: at.Add(time.Hour),
		Items: position{"VISIT#<1>", "VISIT", false}, Totals: position{Done: true}, Numbers: 2,
		Runs: []runFile{{0, 17, "00000000002a", 300, strings.Repeat("cd", 32)}},
		Seen: seen{Items: 7, Units: 12.5, Below: map[string]below{"daily#1": {2, 1<<63 + 1}}, Odd: []string{"item x: broken"}, MoreOdd: 3,
			Missing: map[string]string{"daily#1": "item x: broken"}}}
}

func TestManifestIsStable(t *testing.T) {
	m := exampleManifest()
	text := must(encodePaper("segment", m))
	golden.File(t, "testdata/segment.manifest", string(text))
	var got manifest
	if err := decodePaper("segment", text, &got); err != nil || !reflect.DeepEqual(&got, m) {
		t.Errorf("%+v %v", got, err)
	}
	for name, bad := range map[string][]byte{
		"another kind":      bytes.Replace(text, []byte("segment"), []byte("result"), 1),
		"a later version":   bytes.Replace(text, []byte("segment 1 "), []byte("segment 2 "), 1),
		"changed":           bytes.Replace(text, []byte(`"items": 7`), []byte(`"items": 8`), 1),
		"a member too many": must(encodePaper("segment", map[string]any{"job": "", "more": 1})),
		"empty":             nil,
	} {
		if err := decodePaper("segment", bad, &manifest{}); !errors.As(err, new(*errDamaged)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResultIsStable(t *testing.T) {
	golden.File(t, "testdata/merged.result",
		string(must(encodePaper("result", &merged{Job: strings.Repeat("ab", 32), Bucket: 17, Buckets: 256, Totals: 9, Partly: 1,
			Differences: []difference{{"daily#1#1772323200#north", "fp", "1", "2", "-1"}}, Differing: map[string]int{"daily#1": 1},
			Flagged: []string{"x"}, MoreFlagged: 2}))))
}

// FuzzRun gives the reader of runs any bytes. What it accepts, it must read as it would be written.
func FuzzRun(f *testing.F) {
	corpus.Add(f)
	p := visits(f)
	id, all := example()
	f.Add(encodeRun(f, id, all))
	f.Fuzz(func(t *testing.T, text []byte) {
		id, all, err := decodeRun(p, text)
		if err != nil {
			if !errors.As(err, new(*errDamaged)) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if again := encodeRun(t, id, all); !bytes.Equal(again, text) {
			t.Fatalf("read as something else:\n%x\n%x", text, again)
		}
	})
}

// FuzzManifest gives the reader of manifests any bytes.
func FuzzManifest(f *testing.F) {
	corpus.Add(f)
	f.Add(must(encodePaper("segment", exampleManifest())))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m, again manifest
		if err := decodePaper("segment", text, &m); err != nil {
			if !errors.As(err, new(*errDamaged)) {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if err := decodePaper("segment", must(encodePaper("segment", &m)), &again); err != nil {
			t.Fatal(err)
		}
	})
}
