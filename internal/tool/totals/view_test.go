package totals

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

// Values that are not numbers are shown for people, and the parts of a spread are merged.
func TestTextsOfTotals(t *testing.T) {
	def := &aggregate.Definition{Name: "x", Since: 1, Values: []aggregate.Value{
		{Name: "last", Op: aggregate.Newest}, {Name: "levels", Op: aggregate.Histogram}, {Name: "states", Op: aggregate.Distinct}}}
	dated := func(second, json string) string {
		return "2026-03-01T10:00:" + second + ".000000000Z 00000000000000000000000000000000 " + json
	}
	sums := map[string]*query.Total{}
	for _, texts := range []map[string]string{
		{"last": dated("02", `"on"`), "levels": "424:3", "states": aggregate.DistinctText([]byte(`"on"`))},
		{"last": dated("01", `"off"`), "levels": "0:1,424:5", "states": aggregate.DistinctText([]byte(`"off"`))},
		{},
	} {
		add(sums, "x", def, nil, tables.StoredTotal{Texts: texts})
	}
	got := Of(def, map[string]string{}, *sums["x"], show.Personal{}).shown
	for name, want := range map[string]string{"last": "on", "levels": "p50 1.024 p90 1.024 p99 1.024", "states": "about 2 ±1.6 %"} {
		must.Equal(t, got[name].Text, want, name)
	}
}

// A total that is not there says whether older events may belong to it, as a pattern does.
func TestTotalsThatAreNotThere(t *testing.T) {
	const days, always = 24 * time.Hour, 0
	for _, tt := range []struct {
		window   time.Duration
		building bool
		want     string
	}{
		{days, true, "m-1|-|-|nothing is stored, and older events are not counted yet"},
		{days, false, "m-1|-|-|nothing stored"},
		{always, true, "m-1|all time|-|nothing is stored, and older events are not counted yet"},
	} {
		def := &aggregate.Definition{Name: "x", Since: 1, By: []string{"shop"}, Window: tt.window,
			Values: []aggregate.Value{{Name: "orders", Op: aggregate.Count}}}
		one := Of(def, map[string]string{"shop": "m-1"}, query.Total{Missing: true, Building: tt.building}, show.Personal{})
		must.Equal(t, strings.Join(one.cells(), "|"), tt.want)
	}
}
