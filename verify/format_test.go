package verify

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

func visits(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(`# all kinds of values
ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: VISIT}}
aggregates:
  daily:
    since: 1
    by: {site: "{site}"}
    window: 1d
    from:
      visit:
        values: {least: min ms, most: max ms, sum: sum ms, visits: count, newest: newest page, oldest: oldest page,
          spread: histogram ms, users: distinct user}
`)}}, "pipeline.yaml")
	must.Succeed(t, err)
	return p
}

func decimal(text string) event.Decimal {
	d, err := event.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// The keys of files of sums must fit the pipeline.
func TestSumsOfAnotherPipeline(t *testing.T) {
	p, err := newPass(Config{Pipeline: visits(t), Source: &lists{}})
	must.Succeed(t, err)
	def, _ := p.Pipeline.Definition("daily")
	if ops, err := p.Ops("daily#1#0#north"); err != nil || len(ops) != len(def.Values) {
		t.Errorf("%v, %v", ops, err)
	}
	for what, key := range map[string]string{
		"another aggregate": "weekly#1#0#north",
		"another since":     "daily#2#0#north",
		"no window":         "daily#1",
	} {
		if ops, err := p.Ops(key); err == nil {
			t.Errorf("%s: %v", what, ops)
		}
	}
}

// What segments and merges keep is read by later versions of this program too.
func TestFilesAreStable(t *testing.T) {
	text, err := json.MarshalIndent([]any{
		seen{Items: 7, Units: 12.5, Below: map[string]below{"daily#1": {2, 1<<63 + 1}}, Unreadable: []string{"item x: broken"},
			MoreUnreadable: 3, Missing: map[string]string{"daily#1": "item x: broken"}},
		found{Totals: 9, Partly: 1, Differences: []difference{{"daily#1#1772323200#north", "fp", "1", "2", "-1"}},
			Differing: map[string]int{"daily#1": 1}, Flagged: []string{"x"}, MoreFlagged: 2},
	}, "", " ")
	must.Succeed(t, err)
	golden.File(t, "testdata/files.json", string(text)+"\n")
}
