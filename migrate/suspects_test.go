package migrate

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/verify/sums"
)

// If more keys differ than memory is meant for, a comparison says so, and looks at none of them.
func TestTooManySuspects(t *testing.T) {
	c := &comparison{most: 2, suspect: map[event.Key]*suspect{}}
	var found suspects
	for _, key := range []string{"1:ab", "1:cd", "1:ef"} {
		must.Succeed(t, c.Compare(&found, &sums.Pair{Key: key, Sides: [2]*sums.Sum{sums.Wanted: {Notes: []string{"row"}}}}))
	}
	if len(found.List) != 2 || found.More != 1 || found.List[0].PK != "a" || found.List[0].SK != "b" {
		t.Errorf("%+v", found)
	}
	_, err := c.finish(t.Context(), nil, &sums.Result[counts, suspects]{Found: []*suspects{&found}})
	if stop := (*StopError)(nil); !errors.As(err, &stop) || !strings.HasPrefix(stop.Why, "3 keys differ") {
		t.Errorf("%v", err)
	}
}

// A pass may remove a hundredth of the copies before it asks.
func TestFewAreRemoved(t *testing.T) {
	p := &Pass{}
	for removed, few := range map[int]bool{200: true, 201: false} {
		if err := p.few(&Progress{Rows: 20_000, Synced: Synced{Tombstones: removed}}); (err == nil) != few {
			t.Errorf("%d of 20,000: %v", removed, err)
		}
	}
}

// What is not a key of an event does not belong in the sums of a comparison.
func TestForeignSums(t *testing.T) {
	c := &comparison{}
	for _, key := range []string{"", "x", "-1:a", "3:ab", "99999999999999999999:a"} {
		if _, err := c.Ops(key); err == nil {
			t.Errorf("%q is taken for a key", key)
		}
	}
	if _, err := c.Ops("2:ab"); err != nil {
		t.Error(err)
	}
}
