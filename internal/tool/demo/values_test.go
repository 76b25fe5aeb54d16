package demo

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const calls = `
ingot: 1
epoch: 1
type: call
events:
  call:
    id: "{id}"
    at: "{at}"
    key: {pk: "CALL#{id}", sk: "CALL"}
    retain: 30d
aggregates:
  calls_monthly:
    since: 1
    by: {site: "{site}"}
    window: 1mo
    from:
      call: {values: {callers: distinct caller, last: newest state, first: oldest state, ms: histogram ms}}
  live:
    since: 1
    onExpire: subtract
    from: {call: {values: {ms: histogram ms}}}
`

// Values that are more than numbers are in the demo's table, and are compared with plain sums
// before and after everything expired.
func TestValuesInTheDemo(t *testing.T) {
	first := must.Time("2024-05-20T00:00:00Z")
	s := mustRun(t, many(t, calls, "calls", 600, func(i int) string {
		return fmt.Sprintf(`{"id":"c%d","site":"bonn","caller":%d,"state":"s%03d","ms":%d,"at":%q}`, i, i%50, i, 1+i%7,
			first.Add(time.Duration(i)*time.Hour).Format(time.RFC3339))
	}))
	agree(t, s)
	var out bytes.Buffer
	must.Succeed(t, s.Text(&out, -1))
	text := out.String()
	for _, want := range []string{"bonn 2024-05", "about 50 ±1.6 %", "p50 4.0", "s599", "s000"} {
		must.Say(t, text, want)
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
	for _, c := range append(s.Checks, s.Expiry.Checks...) {
		if c.Compared == 0 && !strings.Contains(c.Name, "flag") {
			t.Errorf("%s compares nothing", c.Name)
		}
	}
}
