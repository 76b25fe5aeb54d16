package handler_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	tablearchive "github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/tool/archive"
)

var (
	archivedName = regexp.MustCompile(`^expired/.{129}\.json$`)
	archivedBody = regexp.MustCompile(`^\{"PK":\{"S":"ORDER#.*"data":\{"S":"\{\\"type\\":\\"order\\"`)
)

// What time to live removes is archived, under the same name and with the same bytes however it
// comes. What a person removes is not archived.
func TestArchive(t *testing.T) {
	for w := range bothWorlds(t) {
		a, b, p := w.image(order("1", 5)), w.image(order("2", 7)), w.image(order("3", 9))
		w.expect(batch(insert(1, a), insert(2, b), insert(3, p)), done)
		e := batch(expiry(4, a), expiry(5, b.with("tags", "SS", []string{"z", "a"})), removed(6, p))
		w.expect(e, done)
		objects := w.archived()
		must.Equal(t, len(objects), 2)
		must.Equal(t, w.counted[1].Archived, 2)
		w.expect(e, done)
		must.Match(t, w.archived(), objects)
		for name, body := range objects {
			if !archivedName.MatchString(name) || !archivedBody.MatchString(body) {
				t.Errorf("%s: %s", name, body)
			}
		}
		w.sums(t, "totals", "2", "12") // keep: only the person's removal counts
		w.sums(t, "live", "0", "0")
	}
}

// In batches, what expired is in one file, whose lines are what objects would be. A batch that is
// delivered again, and one that is cut differently, adds nothing that is not an item. A payload
// from the payload bucket, and an item that is too large, is an object.
func TestArchiveFiles(t *testing.T) {
	for w := range bothWorlds(t) {
		w.streams.ArchiveFiles = true
		a, b, p := w.image(order("1", 5)), w.image(order("2", 7)), w.image(order("3", 9))
		w.expect(batch(insert(1, a), insert(2, b), insert(3, p)), done)
		large := a.with("more", "S", strings.Repeat("x", 2<<20))
		e := batch(expiry(4, a), expiry(5, b), removed(6, p), expiry(7, large))
		w.expect(e, done)
		objects := w.archived()
		must.Equal(t, len(objects), 2)
		must.Equal(t, w.counted[1].Archived, 3)
		must.Equal(t, w.calls["PutObject"], 2)
		w.expect(e, done)
		must.Match(t, w.archived(), objects)
		w.expect(batch(expiry(5, b)), done) // cut differently
		lines := 0
		for name, body := range w.archived() {
			for image, err := range archive.Images(name, strings.NewReader(body)) {
				if err != nil || !strings.HasPrefix(image, `{"PK":{"S":"ORDER#`) || !strings.HasSuffix(image, `}`) {
					t.Errorf("%s: %.100s, %v", name, image, err)
				}
				if tablearchive.IsFile(name) {
					lines++
				}
			}
		}
		must.Equal(t, lines, 3)
	}
}

// A file that cannot be put holds the batch at its first item. Somebody may have taken an item out
// of a file: a delivery does not bring it back.
func TestArchiveFileFails(t *testing.T) {
	w := newWorld(t).started()
	w.streams.ArchiveFiles = true
	a, b := w.image(order("1", 5)), w.image(order("2", 7))
	w.expect(batch(insert(1, a), insert(2, b)), done)
	w.refuse("PutObject", errLost)
	w.expect(batch(w.inserted(3, "3", 1), expiry(4, a), expiry(5, b)), from(4))
	w.faults = nil
	e := batch(expiry(4, a), expiry(5, b))
	w.expect(e, done)
	bucket := archive.Bucket{S3: w.Engine.S3(), Name: "archive"}
	taken, err := bucket.Erase(t.Context(), []event.Key{{PK: "ORDER#1", SK: "ORDER"}}, archive.Days{})
	left := w.archived()
	if err != nil || len(taken) != 1 || len(left) != 1 {
		t.Fatalf("%v, %v", taken, err)
	}
	w.expect(e, done)
	must.Match(t, w.archived(), left)
}

// An object that is not proven kept holds the batch at its record.
func TestArchiveFails(t *testing.T) {
	w := newWorld(t).started()
	a, b := w.image(order("1", 5)), w.image(order("2", 7))
	w.expect(batch(insert(1, a), insert(2, b)), done)
	w.faults = []fault{{API: "PutObject", Before: errLost}}
	w.expect(batch(expiry(3, a)), done) // a single failure is tried again
	w.refuse("PutObject", errLost)
	w.expect(batch(w.inserted(4, "3", 1), expiry(5, b)), from(5))
	w.sums(t, "live", "1", "1") // counted already, so its mark drops the redelivery
	w.faults = nil
	w.expect(batch(expiry(5, b)), done)
	w.sums(t, "live", "1", "1")
	must.Equal(t, len(w.archived()), 2)
}

// A bucket that may not be used is asked once for an object. A bucket that stutters is asked three
// times.
func TestArchiveDenied(t *testing.T) {
	for code, want := range map[string]int{"AccessDenied": 1, "NoSuchBucket": 1, "SlowDown": 3,
		"ConditionalRequestConflict": 3} { // another put is under way, and may fail
		w := newWorld(t).started()
		w.refuse("PutObject", &smithy.GenericAPIError{Code: code})
		w.expect(batch(expiry(1, w.image(order("1", 5)))), from(1))
		must.Equal(t, w.calls["PutObject"], want, code)
	}
}

// pace is an archive that is as slow as the test wants.
type pace func(ctx context.Context, began int) error

type slowArchive struct {
	put   pace
	mu    sync.Mutex
	began int
	kept  map[string]bool
}

func (a *slowArchive) Put(ctx context.Context, name, _ string) error {
	a.mu.Lock()
	a.began++
	n := a.began
	a.mu.Unlock()
	if err := a.put(ctx, n); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept[name] = true
	return nil
}

// takes returns an archive that stores an object after so long, if it is given the time.
func takes(d time.Duration) pace {
	return func(ctx context.Context, _ int) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// An archive that is slow, fails or hangs leaves the totals their time. What is delivered is
// counted, and the answer names the first removal that is not kept. Repeated deliveries get through
// a batch whose archiving takes longer than one of them.
func TestSlowArchive(t *testing.T) {
	const removals = 40
	for name, c := range map[string]struct {
		put     pace
		answers []int // the records that the answers name; 0: none
		most    int   // objects begun in the first delivery
	}{
		"fast":                       {takes(time.Millisecond), []int{0}, removals},
		"as slow as it may be":       {takes(2 * time.Second), []int{0}, removals},
		"slower than one invocation": {takes(5 * time.Second), []int{18, 34, 0}, 24},
		"hangs":                      {takes(time.Hour), []int{2, 2}, 8},
		"fails":                      {func(context.Context, int) error { return errLost }, []int{2, 2}, 8 * 3},
		"fails in the middle": {func(_ context.Context, began int) error {
			if began > 10 && began <= 10+8 { // the archive recovers
				return &smithy.GenericAPIError{Code: "AccessDenied"}
			}
			return nil
		}, nil, 10 + 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.env = real }).started()
				records := []map[string]any{w.inserted(1, "new", 5)}
				for i := range removals {
					records = append(records, expiry(2+i, w.image(order(fmt.Sprint(i), 1))))
				}
				slow := &slowArchive{put: c.put, kept: map[string]bool{}}
				w.streams.Archive = slow
				for delivery := 0; len(records) > 0 && (c.answers == nil && delivery < 10 || delivery < len(c.answers)); delivery++ {
					began := time.Now()
					named := w.named(t, 30*time.Second, records)
					if took := time.Since(began); took >= 27*time.Second {
						t.Errorf("delivery %d took %s", delivery+1, took)
					}
					if delivery == 0 && slow.began > c.most {
						t.Errorf("%d objects begun, want at most %d", slow.began, c.most)
					}
					if c.answers != nil && named != c.answers[delivery] {
						t.Fatalf("delivery %d: the answer names record %d, want %d", delivery+1, named, c.answers[delivery])
					}
					// All of it is counted, however little is archived.
					w.sums(t, "totals", "1", "5")
					w.sums(t, "live", fmt.Sprint(1-removals), fmt.Sprint(5-removals))
					records = records[:0:0]
					for i := named - 2; named > 0 && i < removals; i++ {
						records = append(records, expiry(2+i, w.image(order(fmt.Sprint(i), 1))))
					}
				}
				if through := len(records) == 0; through != (len(slow.kept) == removals) || !through && c.answers == nil {
					t.Errorf("%d objects kept of %d, and %d records left", len(slow.kept), removals, len(records))
				}
			})
		})
	}
}

// named delivers the records with so much time. It returns the number of the record that the answer
// names, or 0 if it names none.
func (w *world) named(t *testing.T, timeout time.Duration, records []map[string]any) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	answer, err := w.handleStream(ctx, marshal(t, batch(records...)))
	if err != nil || ctx.Err() != nil {
		t.Fatal(err, ctx.Err())
	}
	if len(answer.BatchItemFailures) == 0 {
		return 0
	}
	n, err := strconv.Atoi(answer.BatchItemFailures[0].ItemIdentifier)
	must.Succeed(t, err)
	return n
}
