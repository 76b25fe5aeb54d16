package cost

import (
	"math"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// The tables of the sample shop take eight write units of an event: one in the table and two in
// indexes, three of totals, and two of totals when it expires. What they cost with either capacity
// is added up by hand here.
func TestCapacity(t *testing.T) {
	in := shopAt(t, 100)
	r := computed(t, in, "")
	must.Equal(t, r.Capacity == nil, true)
	in.Peak = 250
	r.capacity(in)
	reads := 0.0 // a second
	for _, p := range r.Parts {
		if p.Counted == "read units" {
			reads += p.AMonth / 730 / 3600
		}
	}
	const writes = 800
	c := r.Capacity
	for _, f := range []struct {
		what      string
		got, want float64
	}{
		{"write units at the peak", c.WriteUnits, writes * 2.5}, {"read units at the peak", c.ReadUnits, reads * 2.5},
		{"on demand", c.OnDemand, 730 * 3600 * (writes*0.625 + reads*0.125) / 1e6},
		{"scaled", c.Scaled, 730 * (writes*0.00065 + reads*0.00013) / 0.7},
		{"for the peak", c.ForPeak, 2.5 * 730 * (writes*0.00065 + reads*0.00013) / 0.7},
	} {
		if math.Abs(f.got-f.want) > 0.001*f.want {
			t.Errorf("%s: %v, want %v", f.what, f.got, f.want)
		}
	}
	for peak, want := range map[float64]string{110: "provisioned is cheaper", 250: "on demand is cheaper"} {
		in.Peak = peak
		var b strings.Builder
		r.capacity(in)
		r.WriteText(&b)
		must.Say(t, strings.Join(strings.Fields(b.String()), " "), want, "up to a peak of 2.4 times the rate")
	}
	delete(in.Prices.each, WriteCapacity)
	r.capacity(in)
	must.Match(t, r.Unpriced, []string{WriteCapacity})
}
