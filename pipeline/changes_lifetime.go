package pipeline

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/aggregate"
)

// lifetimeChanges reports totals that expire before items which are stored: an item keeps the expiry that it was
// stored with, so those from before a retain was shortened, or introduced, live longer than the new file knows. Their
// totals would be hidden and swept while they are still there.
func lifetimeChanges(old, new *Pipeline) []ChangeReport {
	var list []ChangeReport
	for _, def := range new.definitions {
		if def.Retain == 0 {
			continue
		}
		for _, name := range new.Feeds(def.Name) {
			was, had := old.types[name]
			if had && shorter(new.types[name].retain, was.retain) && shorter(def.Retain, outliving(was.retain)) {
				list = append(list, lifetimeChange(def, old, name, was.retain))
			}
		}
	}
	return list
}

// outliving is how long totals must live that count items which live so long.
func outliving(retain time.Duration) time.Duration {
	if retain == 0 {
		return 0
	}
	return retain + 7*day
}

func lifetimeChange(def *aggregate.Definition, old *Pipeline, name string, lived time.Duration) ChangeReport {
	live, instead := "never expire", "no retain until they are gone or have been given an expiry"
	if lived != 0 {
		live, instead = "live for "+formatDuration(lived), "retain: at least "+formatDuration(outliving(lived))
	}
	c := ChangeReport{Kind: LifetimeChange, Subject: "aggregates." + def.Name, Member: "retain", New: formatDuration(def.Retain),
		Do: fmt.Sprintf("events of %s that are stored keep the expiry they have and %s: their totals would be gone before they are, and a touch pass would count them into expired totals; write %s", name, live, instead)}
	if was, ok := old.Definition(def.Name); ok && was.Retain != 0 {
		c.Old = formatDuration(was.Retain)
	}
	return c
}
