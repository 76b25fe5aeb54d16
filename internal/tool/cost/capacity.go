package cost

import (
	"fmt"

	"github.com/ingot-events/ingot/internal/tool/show"
)

// utilization is the part of a provisioned capacity that is used. It is the usual target of auto
// scaling.
const utilization = 0.7

// Capacity compares provisioned capacity of both tables and their indexes with capacity on demand.
type Capacity struct {
	Peak float64 `json:"peak"` // events a second
	// These are units a second, at the peak.
	WriteUnits float64 `json:"writeUnits"`
	ReadUnits  float64 `json:"readUnits"`
	// These are dollars a month. Scaled follows the rate at any time. ForPeak always suffices for
	// the peak. In both, 70 % of the capacity are used.
	OnDemand float64 `json:"onDemandDollarsAMonth"`
	Scaled   float64 `json:"scaledDollarsAMonth"`
	ForPeak  float64 `json:"forPeakDollarsAMonth"`
}

// Even is the peak, in times of the rate, at which capacity for the peak costs as much as capacity
// on demand.
func (c *Capacity) Even() float64 { return c.OnDemand / c.Scaled }

// capacity compares what the tables take with provisioned capacity, if the peak is known.
func (r *Report) capacity(in Input) {
	if in.Peak == 0 {
		return
	}
	c := &Capacity{Peak: in.Peak}
	times := in.Peak / in.Rate
	for _, of := range []struct {
		price, provisioned string
		peak               *float64
	}{{WriteUnits, WriteCapacity, &c.WriteUnits}, {ReadUnits, ReadCapacity, &c.ReadUnits}} {
		units := 0.0 // a month
		for _, p := range r.Parts {
			if p.Price == of.price {
				units += p.AMonth
			}
		}
		aSecond := units / (hours * 3600)
		*of.peak = aSecond * times
		onDemand, known := in.Prices.Dollars(of.price, units)
		scaled, also := in.Prices.Dollars(of.provisioned, aSecond/utilization*hours)
		if !known {
			r.lacks(of.price)
		}
		if !also {
			r.lacks(of.provisioned)
		}
		c.OnDemand, c.Scaled, c.ForPeak = c.OnDemand+onDemand, c.Scaled+scaled, c.ForPeak+scaled*times
	}
	r.Capacity = c
}

// lines says what the tables cost with either capacity.
func (c *Capacity) lines() (list [][2]string) {
	for _, of := range []struct {
		what    string
		dollars float64
	}{{"on demand", c.OnDemand}, {"provisioned, scaled with the rate", c.Scaled}, {"provisioned for the peak", c.ForPeak}} {
		list = append(list, [2]string{of.what, dollars(of.dollars)})
	}
	return list
}

// advice says which of the two is cheaper, and why.
func (c *Capacity) advice(rate float64) string {
	cheaper := "on demand is cheaper"
	if c.ForPeak < c.OnDemand {
		cheaper = "provisioned is cheaper"
	}
	return fmt.Sprintf("At the peak of %s a second the tables take %s and %s a second. Capacity for it is used to 70 %%, and is worth its "+
		"price up to a peak of %s times the rate. This peak is %s times the rate, so %s. Auto scaling costs something between the two "+
		"figures, and takes minutes to follow a rise.", itemsOf(c.Peak, "event"), itemsOf(c.WriteUnits, "write unit"),
		itemsOf(c.ReadUnits, "read unit"), show.Grouped(fmt.Sprintf("%.1f", c.Even())), amount(c.Peak/rate), cheaper)
}
