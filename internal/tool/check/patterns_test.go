package check

import (
	"fmt"
	"testing"
)

// All writes of one moment have the same partition key if it has no other field than a time, apart
// from shards.
func TestMomentaryKeys(t *testing.T) {
	for pk, want := range map[string]string{"DAY#{@at|day}": "1 true", "{@type}#{@at|hour}#{id|shard:4}": "4 true", "O#{id}": "0 false",
		"X":          "1 true",
		"{@at|time}": "0 false", "{@at|day}#{id}": "0 false"} {
		shards, hot := momentary(pk)
		if got := fmt.Sprint(shards, " ", hot); got != want {
			t.Errorf("%s: %s, not %s", pk, got, want)
		}
	}
}
