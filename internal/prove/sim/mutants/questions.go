package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// questions returns wrong ways to answer questions by patterns.
func questions() []Mutant {
	misread := []sim.Check{sim.Misread}
	return []Mutant{
		{
			Name: "page-loses-a-period", What: "a page that ends with a period goes on after the next one", Defends: "P14", Checks: misread,
			Edits: edit("query.reading.run", `r.next(position{period: unixOf(period.Start)})`,
				`if r.period+1 < len(r.plan.Periods) {
				period = r.plan.Periods[r.period+1]
			}
			r.next(position{period: unixOf(period.Start)})`),
		},
	}
}
