package verify_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/verify"
)

// All totals are added up anew from the stored events, and compared.
func ExampleTotals() {
	p, w := deployed()
	report, err := verify.Totals(context.Background(), p, w.Store(), w.Now())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Items, "items,", report.Totals, "total, differences:", len(report.Differences))
	// Output: 2 items, 1 total, differences: 0
}

const visits = `# pipeline.yaml
ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{visit_id}", at: "{at}", key: {pk: "VISIT#{visit_id}", sk: VISIT}}
aggregates:
  site_daily: {since: 1, by: {site: "{site}"}, window: 1d, from: {visit: {values: {visits: count}}}}
`

// deployed is a pipeline that has counted two visits, one of which was sent twice.
func deployed() (*pipeline.Pipeline, *ingottest.World) {
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(visits)}}, "pipeline.yaml")
	if err != nil {
		panic(err)
	}
	w := ingottest.New(stop{}, ingottest.Config{Pipeline: p})
	first := `{"type":"visit","visit_id":"v1","site":"north","at":"2026-03-01T09:00:00Z"}`
	w.Send(first, first, `{"type":"visit","visit_id":"v2","site":"north","at":"2026-03-01T10:00:00Z"}`)
	w.Drain()
	return p, w
}

// stop ends an example that cannot go on; in a test of yours it is the *testing.T.
type stop struct{}

func (stop) Helper()                           {}
func (stop) Logf(string, ...any)               {}
func (stop) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (stop) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
