package payloads_test

import (
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/tables"
)

// An event is too far ahead if its payload, or that of any of its parts, goes to the bucket.
func TestIsAhead(t *testing.T) {
	now := must.Time("2099-03-01T12:00:00Z")
	last := now.Add(tables.MaxAhead)
	payload := &event.Payload{}
	item := func(at time.Time, own *event.Payload, parts ...*event.Payload) *event.Item {
		whole := &event.Item{At: at, Payload: own, Parts: &event.Parts{}}
		for _, p := range parts {
			whole.Parts.Items = append(whole.Parts.Items, &event.Item{At: at, Payload: p})
		}
		return whole
	}
	for name, c := range map[string]struct {
		item *event.Item
		want bool
	}{
		"no payload elsewhere":      {item(last.Add(time.Hour), nil, nil), false},
		"its own, at the limit":     {item(last, payload), false},
		"its own":                   {item(last.Add(1), payload, nil), true},
		"the last part's":           {item(last.Add(1), nil, nil, payload), true},
		"the first part's":          {item(last.Add(1), nil, payload, nil), true},
		"the part's, at the limit":  {item(last, nil, payload), false},
		"its own, and has no parts": {&event.Item{At: last.Add(1), Payload: payload}, true},
	} {
		must.Equal(t, payloads.IsAhead(c.item, now), c.want, name)
	}
}
