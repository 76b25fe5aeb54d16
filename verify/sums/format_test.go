package sums

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func decimal(text string) event.Decimal {
	d, err := event.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// every has each operation.
var every = []aggregate.Op{aggregate.Count, aggregate.Sum, aggregate.Min, aggregate.Max, aggregate.Newest, aggregate.Oldest,
	aggregate.Histogram, aggregate.Distinct}

// known says that the keys of a test belong here.
func known(string) ([]aggregate.Op, error) { return every, nil }

// example is a pair of sums with every kind of content.
func example() *Pair {
	one := &Pair{Key: "daily#1#1772323200#north", Ops: every, Sides: [2]*Sum{
		Wanted: NewSum(every),
		Stored: {N: -2, FP: decimal("1"), FPX: decimal("7"), Flagged: true, Notes: []string{"refused", "größer"}},
	}}
	for _, op := range every {
		a := aggregate.Amount{Set: true, Text: "\xff" + op.String()}
		if !op.Textual() {
			a = aggregate.Amount{Set: true, Number: decimal("-12345678901234567890123.5")}
		}
		one.Sides[Stored].Values = append(one.Sides[Stored].Values, a)
	}
	return one
}

// all reads a file of sums.
func all(in Folder, file sumFile) (list []*Pair, err error) {
	err = opsOf(known).read(context.Background(), in, file, func(one *Pair) error { list = append(list, one); return nil })
	return list, err
}

// Files of sums are read by later versions of this program too: a pass may go on with another one.
// Nothing of a file can change, and no other file can take its place, without a refusal.
func TestSumsAreStable(t *testing.T) {
	dir := Dir("testdata")
	want := example()
	s := NewSet()
	s.add(want)
	to := dir
	if !golden.Update() {
		to = Dir(t.TempDir())
	}
	written, err := s.flush(context.Background(), to, 1, func(int) string { return "sums" })
	if err != nil || len(written) != 1 || len(s.of) != 0 || s.bytes != 0 {
		t.Fatal(written, len(s.of), s.bytes, err)
	}
	text := must.Read(t, "testdata/sums")
	_, sum, err := unseal("sums", text)
	must.Succeed(t, err)
	if got, err := all(dir, sumFile{"sums", 0, sum}); err != nil || !reflect.DeepEqual(got, []*Pair{want}) {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := all(to, written[0]); err != nil || !reflect.DeepEqual(got, []*Pair{want}) {
		t.Errorf("%+v %v", got, err)
	}
	bad := Dir(t.TempDir())
	refused := func(what string, text []byte) {
		t.Helper()
		must.Write(t, filepath.Join(string(bad), "sums"), string(text))
		got, err := all(bad, sumFile{"sums", 0, sum})
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

// What an undamaged file says must fit the job.
func TestSumsOfAnotherJob(t *testing.T) {
	for what, spoil := range map[string]func(*line){
		"a value too few":  func(l *line) { l.Stored.Values = l.Stored.Values[1:] },
		"no number":        func(l *line) { l.Wanted.FP = "x" },
		"an invalid value": func(l *line) { l.Stored.Values[0].Text = "x" },
	} {
		l := example().line()
		spoil(&l)
		if one, err := l.pair(known); err == nil {
			t.Errorf("%s: %+v", what, one)
		}
	}
	l := example().line()
	if one, err := l.pair(func(string) ([]aggregate.Op, error) { return nil, errors.New("not of this job") }); err == nil {
		t.Errorf("a foreign key: %+v", one)
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

// seen is what the segments of these tests have seen.
type seen struct{ Items int }

func exampleManifest() *manifest[seen] {
	at := must.Time("2026-03-01T09:00:00Z")
	return &manifest[seen]{Job: strings.Repeat("ab", 32), Segment: 3, Of: 64, Buckets: 256, Began: at, Ended: at.Add(time.Hour),
		Read:  [2]Position{Wanted: {"VISIT#<1>", "VISIT", false}, Stored: {Done: true}},
		Files: []sumFile{{"segment-0003-of-0064-sums-000000-bucket-0017-00000000002a", 17, strings.Repeat("cd", 32)}},
		Seen:  seen{Items: 7}}
}

// sealed writes a file with a JSON object.
func sealed(t *testing.T, kind string, content any) []byte {
	t.Helper()
	body, err := encodeJSON(content)
	must.Succeed(t, err)
	text, _ := seal(kind, body)
	return text
}

// unsealed reads a manifest.
func unsealed(text []byte, m *manifest[seen]) error {
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
	var got manifest[seen]
	if err := unsealed(text, &got); err != nil || !reflect.DeepEqual(&got, m) {
		t.Errorf("%+v %v", got, err)
	}
	for name, bad := range map[string][]byte{
		"another kind":      bytes.Replace(text, []byte("segment"), []byte("result"), 1),
		"a later version":   bytes.Replace(text, []byte("segment 3 "), []byte("segment 4 "), 1),
		"an older version":  bytes.Replace(text, []byte("segment 3 "), []byte("segment 1 "), 1),
		"changed":           bytes.Replace(text, []byte(`"Items": 7`), []byte(`"Items": 8`), 1),
		"a member too many": sealed(t, "segment", map[string]any{"job": "", "more": 1}),
		"empty":             nil,
	} {
		if err := unsealed(bad, &manifest[seen]{}); !errors.As(err, new(*errDamaged)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResultIsStable(t *testing.T) {
	golden.File(t, "testdata/merged.result",
		string(sealed(t, kindResult, &merged[seen]{Job: strings.Repeat("ab", 32), Bucket: 17, Buckets: 256, Found: seen{9}})))
}

// A bucket is added up in the memory that there is, however many totals it has.
func TestBucketThatDoesNotFit(t *testing.T) {
	const totals, memory = 20_000, 2 << 20
	ctx, folder := context.Background(), scratch{Dir(t.TempDir())}
	all := NewSet()
	for i := range totals {
		all.Side(Stored, every, func(dst []byte) []byte { return strconv.AppendInt(dst, int64(i), 10) }, func(*Sum) {})
	}
	files, err := all.flush(ctx, folder, 1, strconv.Itoa)
	must.Succeed(t, err)
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before, most, n := heap(), 0, 0
	m := merger{known, memory, func(*Pair) error {
		if n++; n%1000 == 0 {
			most = max(most, heap()-before)
		}
		return nil
	}}
	if err := m.each(ctx, folder, files, 0, 1); err != nil || n != totals || most > 3*memory {
		t.Errorf("%d totals with %d bytes at the most, %v", n, most, err)
	}
}
