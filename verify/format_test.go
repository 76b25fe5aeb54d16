package verify

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/pipeline"
)

func visits(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(`# all kinds of values
ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: VISIT}}
aggregates:
  daily:
    since: 1
    by: {site: "{site}"}
    window: 1d
    from:
      visit:
        values: {least: min ms, most: max ms, sum: sum ms, visits: count, newest: newest page, oldest: oldest page,
          spread: histogram ms, users: distinct user}
`)}}, "pipeline.yaml")
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

// example is a pair of sums with every kind of content.
func example(p *pipeline.Pipeline) *pair {
	def, _ := p.Definition("daily")
	one := &pair{def: def, key: "daily#1#1772323200#north", sides: [2]*sum{
		wanted: newSum(def),
		stored: {n: -2, fp: decimal("1"), fpx: decimal("7"), flagged: true, flags: []string{"refused", "größer"}},
	}}
	for _, v := range def.Values {
		a := aggregate.Amount{Set: true, Text: "\xff" + v.Name}
		if !v.Op.Textual() {
			a = aggregate.Amount{Set: true, Number: decimal("-12345678901234567890123.5")}
		}
		one.sides[stored].values = append(one.sides[stored].values, a)
	}
	return one
}

// all reads a file of sums.
func all(p *pipeline.Pipeline, in Folder, file sumFile) (list []*pair, err error) {
	err = read(context.Background(), p, in, file, func(one *pair) error { list = append(list, one); return nil })
	return list, err
}

// Files of sums are read by later versions of this program too: a pass may go on with another one.
// Nothing of a file can change, and no other file can take its place, without a refusal.
func TestSumsAreStable(t *testing.T) {
	p, dir := visits(t), Dir("testdata")
	want := example(p)
	s := newSums()
	s.add(want)
	to := dir
	if !golden.Update() {
		to = Dir(t.TempDir())
	}
	written, err := s.flush(context.Background(), to, 1, func(int) string { return "sums" })
	if err != nil || len(written) != 1 || len(s.of) != 0 || s.bytes != 0 {
		t.Fatal(written, len(s.of), s.bytes, err)
	}
	text, err := os.ReadFile("testdata/sums")
	if err != nil {
		t.Fatal(err)
	}
	_, sum, err := unseal("sums", text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := all(p, dir, sumFile{"sums", 0, sum}); err != nil || !reflect.DeepEqual(got, []*pair{want}) {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := all(p, to, written[0]); err != nil || !reflect.DeepEqual(got, []*pair{want}) {
		t.Errorf("%+v %v", got, err)
	}
	bad := Dir(t.TempDir())
	refused := func(what string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(string(bad), "sums"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := all(p, bad, sumFile{"sums", 0, sum})
		if err == nil || len(got) > 0 || !strings.Contains(err.Error(), "cannot be used, because ") {
			t.Errorf("%s: %+v %v", what, got, err)
		}
	}
	for i := range text {
		refused("cut", text[:i])
		changed := slices.Clone(text)
		changed[i] ^= 1 << (i % 8)
		refused("changed", changed)
	}
	another, _ := seal("sums", nil)
	refused("another file", another)
}

// What an undamaged file says must fit the pipeline.
func TestSumsOfAnotherPipeline(t *testing.T) {
	p := visits(t)
	for what, spoil := range map[string]func(*line){
		"another aggregate":    func(l *line) { l.Key = "weekly#1#0#north" },
		"another since":        func(l *line) { l.Key = "daily#2#0#north" },
		"no window":            func(l *line) { l.Key = "daily#1" },
		"a value too few":      func(l *line) { l.Stored.Values = l.Stored.Values[1:] },
		"no number":            func(l *line) { l.Wanted.FP = "x" },
		"a value that is none": func(l *line) { l.Stored.Values[0].Text = "x" },
	} {
		l := example(p).line()
		spoil(&l)
		if one, err := l.pair(p); err == nil {
			t.Errorf("%s: %+v", what, one)
		}
	}
}

// A bucket that is divided is the union of its parts.
func TestBucketsAreDivided(t *testing.T) {
	for i := range 1000 {
		key := hex.EncodeToString([]byte{byte(i), byte(i >> 8)})
		for _, buckets := range []int{1, 7, 256, 10_000, mostBuckets / finer} {
			if whole, part := bucketOf(key, buckets), bucketOf(key, buckets*finer); part/finer != whole || whole >= buckets {
				t.Errorf("%s is in bucket %d of %d, and in %d of %d", key, whole, buckets, part, buckets*finer)
			}
		}
	}
}

func exampleManifest() *manifest {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return &manifest{Job: strings.Repeat("ab", 32), Segment: 3, Of: 64, Buckets: 256, Began: at, Ended: at.Add(time.Hour),
		Items: position{"VISIT#<1>", "VISIT", false}, Totals: position{Done: true},
		Files: []sumFile{{"segment-0003-of-0064-sums-000000-bucket-0017-00000000002a", 17, strings.Repeat("cd", 32)}},
		Seen: seen{Items: 7, Units: 12.5, Below: map[string]below{"daily#1": {2, 1<<63 + 1}}, Odd: []string{"item x: broken"},
			MoreOdd: 3, Missing: map[string]string{"daily#1": "item x: broken"}}}
}

// sealed writes a file with a JSON object.
func sealed(t *testing.T, kind string, content any) []byte {
	t.Helper()
	body, err := encodeJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := seal(kind, body)
	return text
}

// unsealed reads a manifest.
func unsealed(text []byte, m *manifest) error {
	body, _, err := unseal("segment", text)
	if err != nil {
		return err
	}
	return decodeJSON(body, m)
}

func TestManifestIsStable(t *testing.T) {
	m := exampleManifest()
	text := sealed(t, "segment", m)
	golden.File(t, "testdata/segment.manifest", string(text))
	var got manifest
	if err := unsealed(text, &got); err != nil || !reflect.DeepEqual(&got, m) {
		t.Errorf("%+v %v", got, err)
	}
	for name, bad := range map[string][]byte{
		"another kind":      bytes.Replace(text, []byte("segment"), []byte("result"), 1),
		"a later version":   bytes.Replace(text, []byte("segment 2 "), []byte("segment 3 "), 1),
		"an older version":  bytes.Replace(text, []byte("segment 2 "), []byte("segment 1 "), 1),
		"changed":           bytes.Replace(text, []byte(`"items": 7`), []byte(`"items": 8`), 1),
		"a member too many": sealed(t, "segment", map[string]any{"job": "", "more": 1}),
		"empty":             nil,
	} {
		if err := unsealed(bad, &manifest{}); !errors.As(err, new(*errDamaged)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResultIsStable(t *testing.T) {
	golden.File(t, "testdata/merged.result", string(sealed(t, "result",
		&merged{Job: strings.Repeat("ab", 32), Bucket: 17, Buckets: 256, Totals: 9, Partly: 1,
			Differences: []difference{{"daily#1#1772323200#north", "fp", "1", "2", "-1"}}, Differing: map[string]int{"daily#1": 1},
			Flagged: []string{"x"}, MoreFlagged: 2})))
}
