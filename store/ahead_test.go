package store_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// An item stored in a form that this version cannot read is judged by its stamp first. If the stamp
// is a later epoch, nothing is judged: a newer function can read the item, and the message comes to
// it again. If the item can be read, its epoch does not matter.
func TestStoredByANewerVersion(t *testing.T) {
	type image = attrs
	bytes := rows.Binary([]byte("packed"))
	forms := map[string]func(image){
		"payload elsewhere":   func(img image) { delete(img, "data"); img["packed"] = bytes },
		"payload in bytes":    func(img image) { img["data"] = bytes },
		"a longer digest":     func(img image) { img["digest"] = rows.Binary(make([]byte, 64)) },
		"several revisions":   func(img image) { img["revision"] = &types.AttributeValueMemberL{} },
		"as this version has": func(image) {},
	}
	for name, alter := range forms {
		for stamp, ahead := range map[string]bool{"1": false, "2": true, "1000000001": false, "": false} {
			for what, n := range map[string]int{"alone": 1, "in a batch": 40} {
				t.Run(fmt.Sprintf("%s, epoch %q, %s", name, stamp, what), func(t *testing.T) {
					w := newWorld(t)
					items := make(events, n)
					for i := range items {
						items[i] = w.parcel(fmt.Sprint(i), 3)
					}
					if _, cost := w.arrive(items...); cost.WriteUnits == 0 {
						t.Fatal("nothing is stored")
					}
					for _, item := range items {
						img := maps.Clone(w.stored("events", item.Key))
						alter(img)
						delete(img, "epoch")
						if stamp != "" {
							img["epoch"] = &types.AttributeValueMemberN{Value: stamp}
						}
						w.put("events", img)
					}
					readable := name == "as this version has"
					// If the copy has the digest of the stored item, the payload is not read,
					// unless the stamp is a later one.
					unread := strings.HasPrefix(name, "payload") && !ahead
					want := event.Conflict
					if readable {
						want = event.Duplicate
					} else if ahead {
						want = event.Retry
					}
					for _, again := range []events{items, later(items)} {
						if again[0] != items[0] && readable {
							continue // it is simply replaced
						}
						before := w.stored("events", items[0].Key)
						results, _ := w.arrive(again...)
						want := want
						if unread && n > 1 && again[0] == items[0] {
							want = event.Duplicate
						}
						for _, r := range results {
							if r.Verdict != want {
								t.Fatalf("%s, want %s: %v", r.Verdict, want, r.Refusal)
							}
							if want == event.Retry &&
								(r.Refusal.Reason != event.NewerStamp || !strings.Contains(r.Refusal.Detail, "carries epoch 2")) {
								t.Fatalf("%v", r.Refusal)
							}
						}
						if fmt.Sprint(before) != fmt.Sprint(w.stored("events", items[0].Key)) {
							t.Fatal("the item was replaced")
						}
					}
					// The same holds past its time, when nothing is put and the item is only read.
					if unread {
						want = event.Duplicate
					}
					w.Clock.Set(time.Unix(items[0].ExpiresAt, 0))
					if r, _ := w.arrive(items[:1]...); r[0].Verdict != want {
						t.Errorf("past its time: %s, want %s", r[0].Verdict, want)
					}
				})
			}
		}
	}
}

// later returns newer revisions of the items.
func later(items events) events {
	newer := make(events, len(items))
	for i, item := range items {
		revision, _ := event.ParseDecimal("4")
		next := *item
		next.Revision, next.Data = &revision, strings.Replace(item.Data, `"rev":3`, `"rev":4`, 1)
		newer[i] = &next
	}
	return newer
}
