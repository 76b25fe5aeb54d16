package main

import (
	"strings"
	"testing"
)

const valuesSpec = `ingot: 1
epoch: 1
type: "{type}"
events:
  call.ended:
    id: "{id}"
    at: "{at}"
    key: {pk: "CALL#{id}", sk: "{email | hmac}"}
aggregates:
  calls_monthly:
    since: 1
    by: {site: "{site}"}
    window: 1mo
    from:
      call.ended:
        values:
          calls: count
          lost: count where state = "lost"
          callers: distinct email
          last: newest state
          mail: oldest email
          ms: histogram ms
patterns:
  calls: {total: calls_monthly}
`

// Values that are more than sums look the same wherever a total is shown, and what is personal in
// them is masked.
func TestValuesOfEveryKind(t *testing.T) {
	w := newDevWorldOf(t, valuesSpec)
	w.post(w.dev.Stack().Queue,
		`{"type":"call.ended","id":"c-1","at":"2026-03-01T09:00:00Z","site":"bonn","email":"jo@example.com","state":"=busy\u0007","ms":1000}`, nil)
	w.post(w.dev.Stack().Queue,
		`{"type":"call.ended","id":"c-2","at":"2026-02-28T09:00:00Z","site":"bonn","email":"al@example.com","state":"done","ms":20}`, nil)
	until(t, "the events are counted", func() bool {
		return strings.Count(w.run(0, "totals calls_monthly site=bonn --local").out, "p50") == 2
	})
	for _, tt := range []struct {
		want string
		line string
	}{
		{`  site  window          callers  calls  last         lost  mail                             ms
  bonn  2026-02  about 1 ±1.6 %      1  done            0  ***   p50 20.34 p90 20.34 p99 20.34
  bonn  2026-03  about 1 ±1.6 %      1  =busy\u0007     0  ***   p50 1,024 p90 1,024 p99 1,024
`, "totals calls_monthly site=bonn --local"},
		{`site,window,callers,calls,last,last at,lost,mail,mail at,ms p50,ms p90,ms p99,building,flags
bonn,2026-03-01T00:00:00Z,1,1,'=busy\u0007,2026-03-01T09:00:00Z,0,***,***,1024,1024,1024,false,
`, "totals calls_monthly site=bonn --local --from 2026-03 --output csv"},
		{`"callers": {
        "estimate": 1,
        "error": 0.0163
      }`, "totals calls_monthly site=bonn --local --from 2026-03 --output json"},
		{`jo@example.com`, "totals calls_monthly site=bonn --local --from 2026-03 --reveal"},
		{`2026-03  callers=about 1 ±1.6 %  calls=1  last==busy\u0007  lost=0  mail=***  ms=p50 1,024 p90 1,024 p99 1,024`,
			"query calls site=bonn --from 2026-03-01 --local"},
		{`"lost": "0",`, "totals calls_monthly site=bonn --local --scan --output json"},
		{`"lost": 0,`, "query calls site=bonn --from 2026-03-01 --local --output json"},
		{`"calls": 1,`, "query calls site=bonn --from 2026-03-01 --local --output json"},
		{`***`, "get call.ended id=c-1 email=jo@example.com --local"},
	} {
		w.run(0, tt.line).prints(t, tt.want)
	}
}
