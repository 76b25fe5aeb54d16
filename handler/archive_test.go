package handler_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
)

// What time to live removes is archived: the same name and the same bytes however it comes; what a person
// removes is not.
func TestArchive(t *testing.T) {
	for _, c := range bothWays {
		w := newWorld(t, counting(c)).started()
		a, b, p := w.image(order("1", 5)), w.image(order("2", 7)), w.image(order("3", 9))
		w.expect(batch(insert(1, a), insert(2, b), insert(3, p)), done)
		e := batch(removeByTTL(4, a), removeByTTL(5, b.with("tags", "SS", []string{"z", "a"})), record(6, event.Remove, p, nil))
		w.expect(e, done)
		objects := w.archived()
		if len(objects) != 2 || w.counted[1].Archived != 2 {
			t.Fatalf("%d objects, %+v", len(objects), w.counted[1])
		}
		w.expect(e, done)
		if again := w.archived(); !maps.Equal(again, objects) {
			t.Error("archived again under other names or with other bytes")
		}
		for name, body := range objects {
			if !strings.HasPrefix(name, "expired/") || !strings.HasSuffix(name, ".json") || len(name) != len("expired/")+64+1+64+5 {
				t.Errorf("name %s", name)
			}
			if !strings.Contains(body, `"data":{"S":"{\"type\":\"order\"`) || !strings.HasPrefix(body, `{"PK":{"S":"ORDER#`) {
				t.Errorf("body %s", body)
			}
		}
		w.sums(t, "totals", "2", "12") // keep: only the person's removal counts
		w.sums(t, "live", "0", "0")
	}
}

// The name is golden: other programs look objects up by it.
func TestArchiveName(t *testing.T) {
	got := handler.ArchiveName(&event.Item{Key: event.Key{PK: "ORDER#1", SK: "ORDER"}, Digest: event.Digest{1, 2, 3}})
	if !strings.HasPrefix(got, "expired/") || !strings.HasSuffix(got, "/010203"+strings.Repeat("0", 58)+".json") {
		t.Error(got)
	}
	if got == handler.ArchiveName(&event.Item{Key: event.Key{PK: "ORDER#1O", SK: "RDER"}, Digest: event.Digest{1, 2, 3}}) {
		t.Error("two keys, one name")
	}
}

// An object that is not proven kept holds the batch at its record.
func TestArchiveFails(t *testing.T) {
	w := newWorld(t).started()
	a, b := w.image(order("1", 5)), w.image(order("2", 7))
	w.expect(batch(insert(1, a), insert(2, b)), done)
	w.faults = []fault{{api: "PutObject", before: errLost}}
	w.expect(batch(removeByTTL(3, a)), done) // once is asked again
	w.faults = []fault{{api: "PutObject", before: errLost, always: true}}
	w.expect(batch(insert(4, w.image(order("3", 1))), removeByTTL(5, b)), from(5))
	w.sums(t, "live", "1", "1") // counted already; the redelivery is dropped by its mark
	w.faults = nil
	w.expect(batch(removeByTTL(5, b)), done)
	w.sums(t, "live", "1", "1")
	if len(w.archived()) != 2 {
		t.Errorf("%d objects", len(w.archived()))
	}
}

// A bucket that may not be used is asked once for each object; one that stutters, three times.
func TestArchiveDenied(t *testing.T) {
	for code, want := range map[string]int{"AccessDenied": 2, "NoSuchBucket": 2, "SlowDown": 6} {
		w := newWorld(t).started()
		a, b := w.image(order("1", 5)), w.image(order("2", 7))
		w.faults = []fault{{api: "PutObject", before: &smithy.GenericAPIError{Code: code}, always: true}}
		w.expect(batch(removeByTTL(1, a), removeByTTL(2, b)), from(1))
		if n := w.calls["PutObject"]; n != want {
			t.Errorf("%s: %d requests for two objects, want %d", code, n, want)
		}
	}
}
