package changes

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/pipeline"
)

// lifetimeChanges reports totals that expire before items which are stored. An item keeps the
// expiry that it was stored with. So items from before a retain was introduced or shortened live
// longer than the new file says. Their totals would be hidden and swept while these items are still
// there.
func lifetimeChanges(old, new pipeline.Spec) []Change {
	var list []Change
	for _, name := range sorted(new.Aggregates) {
		def := new.Aggregates[name]
		if def.Retain == 0 {
			continue
		}
		for _, typ := range sorted(def.From) {
			was, had := old.Events[typ]
			if had && lifetime.Shorter(new.Events[typ].Retain, was.Retain) && lifetime.Shorter(def.Retain, lifetime.Outliving(was.Retain)) {
				list = append(list, lifetimeChange(name, def.Retain, old.Aggregates[name].Retain, typ, was.Retain))
			}
		}
	}
	return list
}

// payloadLifetimes reports offloaded types whose events live shorter than before. The rule of the
// payload bucket follows the new retain, but stored items keep their old expiry.
func payloadLifetimes(old, new pipeline.Spec) []Change {
	var list []Change
	for _, name := range sorted(new.Events) {
		was, is := old.Events[name], new.Events[name]
		if was.Offload.Over == 0 || !lifetime.Shorter(is.Retain, was.Retain) {
			continue
		}
		do := "events that are stored keep the expiry they have: leave the rule for " + name +
			"/ in the payload bucket as it is until they have expired"
		if was.Retain == 0 {
			do = "events that are stored never expire: write no rule for " + name +
				"/ in the payload bucket, whatever ingot check warns, until they are gone or have been given an expiry"
		}
		list = append(list, Change{Lifetime, "events." + name, "offload.retain", retainText(was), retainText(is),
			do + ", or it removes their payloads first"})
	}
	return list
}

// lifetimeChange reports on an aggregate whose totals live for now, and lived for before, unless
// they lived for ever.
func lifetimeChange(name string, now, before time.Duration, typ string, lived time.Duration) Change {
	live, instead := "never expire", "no retain until they are gone or have been given an expiry"
	if lived != 0 {
		live, instead = "live for "+lifetime.Format(lived), "retain: at least "+lifetime.Format(lifetime.Outliving(lived))
	}
	c := Change{Kind: Lifetime, Subject: "aggregates." + name, Member: "retain", New: lifetime.Format(now),
		Do: fmt.Sprintf("events of %s that are stored keep the expiry they have and %s: their totals would be gone before they are, and "+
			"a touch pass would count them into expired totals; write %s", typ, live, instead)}
	if before != 0 {
		c.Old = lifetime.Format(before)
	}
	return c
}
