package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

const postsFile = `ingot: 1
epoch: 1
type: post
events:
  post:
    id: "{id}"
    at: "{at}"
    key: {pk: "POST#{id}", sk: "-"}
    retain: 10d
    offload: {over: 1KB}
`

// A large payload is put once for each delivery, is read when its event expires, and is kept for
// thirty days more than its item. One that conflicts is compared with the stored one, and kept too.
func TestPayloads(t *testing.T) {
	posts := func(text string) string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, `{"id":"%03d","at":"2026-03-15T00:00:00Z","text":%q}`+"\n", i, strings.Repeat(text, 3000))
		}
		return b.String()
	}
	in := input(t, postsFile)
	once := computed(t, in, posts("x"))
	twice := in
	twice.Duplicates = 1
	again, conflicts := computed(t, twice, posts("x")), computed(t, in, posts("x")+posts("y"))
	gigabytes := 40 * 86_400 * 100 * float64(len(posts("x"))/100-1) / gigabyte
	for what, c := range map[string][2]float64{
		"PUT requests":                         {of(once, "payload bucket", "PUT requests"), 1e6},
		"PUT requests of two deliveries":       {of(again, "payload bucket", "PUT requests"), 2e6},
		"PUT requests, every second conflicts": {of(conflicts, "payload bucket", "PUT requests"), 1e6},
		"GET requests":                         {of(once, "payload bucket", "GET requests"), 0},
		"GET requests to compare":              {of(conflicts, "payload bucket", "GET requests"), 0.5e6},
		"GET requests to archive":              {of(once, "archive", "GET requests"), 1e6},
		"GB-months":                            {of(once, "payload bucket", "GB-months") * once.Messages / 1e6, gigabytes},
		"GB-months with conflicts":             {of(conflicts, "payload bucket", "GB-months") * once.Messages / 1e6, gigabytes},
	} {
		if math.Abs(c[0]-c[1]) > c[1]/1000 {
			t.Errorf("%s: %v, want %v", what, c[0], c[1])
		}
	}
	if seconds(again) <= seconds(once) {
		t.Errorf("the ingest function takes %.3f GB-seconds, and %.3f with more to put", seconds(once), seconds(again))
	}
}

func seconds(r *Report) float64 { return of(r, "ingest function", "GB-seconds") }
