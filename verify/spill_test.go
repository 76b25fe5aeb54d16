package verify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// leaf is DynamoDB with pages of a few items, so that a small table has many pages. It counts
// them, and fails at one of them.
type leaf struct {
	tables.Client
	pages  int
	failAt int // 0: never
	before func(page int)
}

var errBroken = errors.New("the connection is broken")

func (l *leaf) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	l.pages++
	if l.before != nil {
		l.before(l.pages)
	}
	if l.pages == l.failAt {
		return nil, errBroken
	}
	short := *in
	short.Limit = aws.Int32(3)
	return l.Client.Scan(ctx, &short, o...)
}

// leafed returns a store of the world with short pages, which never waits.
func (w *world) leafed() (*store.Store, *leaf) {
	w.t.Helper()
	c := w.StoreConfig(w.plan)
	l := &leaf{Client: c.Client}
	c.Client, c.Env.Sleep = l, func(context.Context, time.Duration) error { return errors.New("no time to wait") }
	s, err := store.New(c)
	must.Succeed(w.t, err)
	return s, l
}

// spoiled is a filled world with a damaged total, and a store of it with short pages.
func spoiled(t *testing.T) (*world, *leaf, verify.Config) {
	t.Helper()
	w := filled(t)
	w.add("live", "revenue", "1")
	w.remove("totals", w.key("daily", 1))
	w.add("by_merchant", "fp", "7")
	s, l := w.leafed()
	return w, l, verify.Config{Pipeline: w.plan, Source: verify.SourceOf(s), Config: sums.Config{Env: w.Env}}
}

func mustRun(t *testing.T, c verify.Config) *verify.Report {
	t.Helper()
	r, err := verify.Run(context.Background(), c)
	must.Succeed(t, err)
	return r
}

// same compares reports, except for the units, which depend on where pages end.
func same(t *testing.T, got, want *verify.Report) {
	t.Helper()
	a, b := *got, *want
	a.Units, b.Units = 0, 0
	must.Match(t, a, b)
}

// Each unit of work may run in a process of its own, in this order.
func TestSegmentsAndMerges(t *testing.T) {
	_, l, c := spoiled(t)
	want := mustRun(t, c)
	c.Segments, c.Buckets, c.Work, c.Memory = 3, 4, sums.Dir(t.TempDir()), 2000
	ctx := context.Background()
	refused := func(words string, err error) {
		t.Helper()
		must.Fail(t, err, words)
	}
	refused("segment 0 of 3 is not read to its end yet", second(verify.Merge(ctx, c, 0)))
	for i := range 3 {
		if read, err := verify.Segment(ctx, c, i); err != nil || !read {
			t.Fatal(read, err)
		}
	}
	pages := l.pages
	if read, err := verify.Segment(ctx, c, 1); err != nil || read || l.pages != pages {
		t.Errorf("a segment that was read is read again: %v %v", read, err)
	}
	refused("bucket 0 of 4 is not merged yet", second(verify.Collect(ctx, c)))
	totals, differences := 0, 0
	for i := range 4 {
		r, err := verify.Merge(ctx, c, i)
		must.Succeed(t, err)
		totals, differences = totals+r.Totals, differences+len(r.Differences)
	}
	if totals != want.Totals || differences != len(want.Differences) {
		t.Errorf("%d totals and %d differences in all buckets", totals, differences)
	}
	r, err := verify.Collect(ctx, c)
	must.Succeed(t, err)
	same(t, r, want)
	refused("the first is 0 and the last is 2", second(verify.Segment(ctx, c, 3)))
	refused("the first is 0 and the last is 3", second(verify.Merge(ctx, c, 4)))
}

func second[T any](_ T, err error) error { return err }

// A pass that breaks off at any page goes on from its last checkpoint. Nothing is merged twice, and
// nothing is lost.
func TestResume(t *testing.T) {
	_, l, c := spoiled(t)
	want := mustRun(t, c)
	all := l.pages
	for at := 1; at <= all; at++ {
		dir := t.TempDir()
		c.Work, c.Buckets, c.Memory = sums.Dir(dir), 1+at%3, 1+at%2<<30 // a checkpoint at each page, or only at the end
		l.pages, l.failAt = 0, at
		if _, err := verify.Run(context.Background(), c); !errors.Is(err, errBroken) {
			t.Fatalf("page %d: %v", at, err)
		}
		l.failAt = 0
		same(t, mustRun(t, c), want)
		if again := l.pages - all - 1; at%2 == 0 && again != 0 {
			t.Errorf("broken at page %d, %d pages were read again", at, again)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*.manifest"))
		if err != nil || len(left) > 0 {
			t.Errorf("left in the folder: %v %v", left, err)
		}
		same(t, mustRun(t, c), want) // the folder is as good as empty
	}
}

// Ctrl-C does not lose what is read.
func TestInterrupted(t *testing.T) {
	_, l, c := spoiled(t)
	want := mustRun(t, c)
	all := l.pages
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.Work, c.Every = sums.Dir(t.TempDir()), time.Hour
	l.pages, l.before = 0, func(page int) {
		if page == 9 {
			cancel()
		}
	}
	if _, err := verify.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	same(t, mustRun(t, c), want)
	if l.pages > all+1 {
		t.Errorf("%d pages in all, and the table has %d", l.pages, all)
	}
}

// breaking is a source that calls before for each page of items, after the page is read.
type breaking struct {
	verify.Source
	before func() error
}

func (b *breaking) OrphanedParts(ctx context.Context, items []*event.Item) ([]*event.Item, float64, error) {
	if err := b.before(); err != nil {
		return nil, 0, err
	}
	return b.Source.OrphanedParts(ctx, items)
}

// Ctrl-C between a page and what belongs to it does not count the page twice.
func TestInterruptedInAPage(t *testing.T) {
	_, _, c := spoiled(t)
	want := mustRun(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.Work, c.Every = sums.Dir(t.TempDir()), time.Hour
	from, pages := c.Source, 0
	c.Source = &breaking{from, func() error {
		if pages++; pages == 3 {
			cancel()
		}
		return ctx.Err()
	}}
	if _, err := verify.Run(ctx, c); !errors.Is(err, context.Canceled) || pages != 3 {
		t.Fatal(err, pages)
	}
	c.Source = from
	same(t, mustRun(t, c), want)
}

// spoiling is a folder with two segments of a pass, which a test spoils.
type spoiling struct {
	*world
	config verify.Config
	dir    string
}

// file is the first file of the folder whose name matches.
func (s *spoiling) file(pattern string) string {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, pattern))
	if err != nil || len(names) == 0 {
		s.t.Fatal(names, err)
	}
	return names[0]
}

// What does not belong together, or is damaged, is refused in one sentence.
func TestWorkFolderOfAnotherPass(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		spoil func(*spoiling)
		words string
	}{
		"other tables":  {func(s *spoiling) { s.config.About = "others" }, "other tables"},
		"other buckets": {func(s *spoiling) { s.config.Buckets = 2 }, "--buckets"},
		"other pipeline": {func(s *spoiling) {
			s.config.Pipeline, _ = s.open(withAgain())
		}, "another pipeline.yaml"},
		"a file is gone": {func(s *spoiling) {
			must.Succeed(s.t, os.Remove(s.file("*-sums-*")))
		}, "is gone from"},
		"a file of another segment": {func(s *spoiling) {
			copyFile(s.t, s.file("segment-0001-*-sums-*"), s.file("segment-0000-*-sums-*"))
		}, "its checksum is not the one that its manifest names"},
		"a file cut short": {func(s *spoiling) {
			name := s.file("*-sums-*")
			info, err := os.Stat(name)
			must.Succeed(s.t, err)
			must.Succeed(s.t, os.Truncate(name, info.Size()-1))
		}, "its checksum is wrong"},
		"a manifest edited": {func(s *spoiling) {
			name := s.file("*.manifest")
			text := must.Read(s.t, name)
			must.Write(s.t, name, string(bytes.Replace(text, []byte(`"items": `), []byte(`"items":  `), 1)))
		}, "its checksum is wrong"},
		"no manifest": {func(s *spoiling) {
			must.Write(s.t, s.file("*.manifest"), "hello\n")
		}, "it is not a segment that Ingot has written"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, config := spoiled(t)
			s := &spoiling{w, config, t.TempDir()}
			s.config.Segments, s.config.Buckets, s.config.Work, s.config.About = 2, 1, sums.Dir(s.dir), "the tables of shop"
			for i := range 2 {
				_, err := verify.Segment(ctx, s.config, i)
				must.Succeed(t, err)
			}
			c.spoil(s)
			_, err := verify.Merge(ctx, s.config, 0)
			if err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v", err)
			}
		})
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text := must.Read(t, from)
	must.Write(t, to, string(text))
}

// The rate is kept on average.
func TestRate(t *testing.T) {
	w, _, c := spoiled(t)
	c.Env = w.Clock.Env(func() float64 { return 0.5 })
	began := w.Clock.Now()
	c.Rate = 2
	r := mustRun(t, c)
	if took := w.Clock.Now().Sub(began); took != time.Duration(r.Units/2*float64(time.Second)) || r.Units < 14 {
		t.Errorf("%v units in %v", r.Units, took)
	}
}

// A table that is deleted while verify runs is named.
func TestTableDeletedMeanwhile(t *testing.T) {
	for _, table := range []string{"events", "totals"} {
		w, l, c := spoiled(t)
		l.before = func(page int) {
			if page == 2 {
				_, err := w.Engine.DynamoDB().DeleteTable(context.Background(),
					&dynamodb.DeleteTableInput{TableName: &table})
				must.Succeed(t, err)
			}
		}
		_, err := verify.Run(context.Background(), c)
		must.Equal(t, fmt.Sprint(err), fmt.Sprintf("there is no table %s: it was deleted, or it is in another account or Region", table))
	}
}

// Progress is told at each page.
func TestProgress(t *testing.T) {
	_, l, c := spoiled(t)
	var last sums.Progress
	told := 0
	c.Progress = func(p sums.Progress) {
		told++
		if p.Wanted < last.Wanted || p.Stored < last.Stored || p.Units <= last.Units {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	r := mustRun(t, c)
	if told != l.pages || last.Wanted != r.Items || last.Units != r.Units {
		t.Errorf("told %d times of %d pages, in the end %+v", told, l.pages, last)
	}
}
