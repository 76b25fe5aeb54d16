package check

import (
	"fmt"
	"strings"
	"testing"
)

// TestPatternsAreJudged shows a rate that is more than the shards of a day take.
func TestPatternsAreJudged(t *testing.T) {
	in := own{}.input(t)
	for rate, enough := range map[float64]int{8000: 0, 8001: 9, 20_000: 20} {
		in.Rate, in.Partitions = rate, 20
		r := run(t, in)
		found := false
		for _, f := range r.Findings {
			if f.Rule == "hot-partition" {
				found = true
				if want := fmt.Sprintf("#{@id | shard:%d}", enough); !strings.Contains(f.Instead, want) {
					t.Errorf("at %v a second: %s, not %s", rate, f, want)
				}
			}
		}
		if found != (enough > 0) || r.Hot[0].EnoughShards != enough {
			t.Errorf("at %v a second: %v, %v", rate, r.Hot, r.Findings)
		}
	}
	for pk, want := range map[string]string{"DAY#{@at|day}": "1 true", "{@type}#{@at|hour}#{id|shard:4}": "4 true", "O#{id}": "0 false",
		"X":          "1 true",
		"{@at|time}": "0 false", "{@at|day}#{id}": "0 false"} {
		shards, hot := momentary(pk)
		if got := fmt.Sprint(shards, " ", hot); got != want {
			t.Errorf("%s: %s, not %s", pk, got, want)
		}
	}
}
