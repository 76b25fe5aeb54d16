package store_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/pipeline"
)

// Items yields the stored events, in no order. An item that it cannot read comes as an error, and
// the scan goes on.
func ExampleStore_Items() {
	_, w := deployed()
	n := 0
	for item, err := range w.Store().Items(context.Background()) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		if item.Type == "visit" {
			n++
		}
	}
	fmt.Println(n)
	// Output: 2
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
