package aggregate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// The text is golden, because totals store it.
func TestDatedText(t *testing.T) {
	at := must.Time("2026-03-01T10:45:00.000000007Z")
	d := aggregate.Dated{At: at, JSON: `"on"`}
	const want = `2026-03-01T10:45:00.000000007Z bb4fa292552e84646b2178fde8d4f294 "on"`
	got := aggregate.DatedText(d, event.Key{PK: "ORDER#1", SK: "ORDER"})
	must.Equal(t, got, want)
	if back, err := aggregate.ParseDated(got); err != nil || back != d {
		t.Errorf("%+v, %v", back, err)
	}
	if other := aggregate.DatedText(d, event.Key{PK: "ORDER#1O", SK: "RDER"}); other == got {
		t.Error("two keys have one tie")
	}
	later := aggregate.DatedText(aggregate.Dated{At: at.Add(time.Nanosecond), JSON: "0"}, event.Key{PK: "A", SK: "A"})
	if later <= got {
		t.Errorf("%s is not after %s", later, got)
	}
	for _, text := range []string{"", "x", want[:63], strings.Replace(want, " ", "_", 1), "3" + want[1:30],
		strings.Replace(want, "-03-", "-13-", 1)} {
		if d, err := aggregate.ParseDated(text); err == nil {
			t.Errorf("%q: %+v", text, d)
		}
	}
}
