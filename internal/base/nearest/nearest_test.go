package nearest

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestNearest(t *testing.T) {
	known := []string{"order.placed", "order.refunded", "at"}
	for word, want := range map[string]string{
		"order.plced": "order.placed", "order.palced": "order.placed", "oder.refunded": "order.refunded", "ta": "at", "a": "at",
		"shipment": "", "": "", "ört": "", "öt": "at",
	} {
		must.Equal(t, Name(word, known), want, word)
	}
	for word, want := range map[string]string{"counts": "count", "summ": "sum", "mxa": "max", "median": "", "mean": "", "avg": "",
		"minimum": "min", "total": "", "Count": "count", "SUM": "sum", "summary": "sum", "counter": "count"} {
		must.Equal(t, Name(word, []string{"count", "sum", "min", "max"}), want, word)
	}
	members := []string{"at", "attributes", "id", "ignore", "indexes", "key", "mode", "retain", "revision", "schema"}
	for word, want := range map[string]string{"retention": "retain", "retainFor": "retain", "attrs": "attributes", "rev": "revision",
		"KEY": "key", "ID": "id", "retries": "", "identity": "", "re": ""} {
		must.Equal(t, Name(word, members), want, word)
	}
	if got := Name("order", []string{"order.placed", "order.refunded"}); got != "" { // akin to both
		t.Error(got)
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"abcd", "badc", 2}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("%s to %s: %d", c.a, c.b, got)
		}
	}
}
