package query_test

import (
	"context"
	"fmt"
	"testing/fstest"
	"time"

	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// Totals are read by the values they are grouped by, over a range of windows.
func ExampleReader_Total() {
	_, w := deployed()
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	totals, err := query.Of(w.Store()).Total(context.Background(), "site_daily", map[string]string{"site": "north"}, day,
		day.AddDate(0, 0, 7))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range totals {
		fmt.Println(t.Window.Format(time.DateOnly), t.Values["visits"])
	}
	// Output: 2026-03-01 2
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

// deployed returns a pipeline that has counted two visits, one of which was sent twice.
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

// stop ends an example that cannot go on. In your tests, use the *testing.T.
type stop struct{}

func (stop) Helper()                           {}
func (stop) Logf(string, ...any)               {}
func (stop) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (stop) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
