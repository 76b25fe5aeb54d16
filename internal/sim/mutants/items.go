package main

import "github.com/ingot-events/ingot/internal/sim"

// items are other ideas of what is stored of an event, and of what it is worth.
func items() []Mutant {
	altered, miscounted := []sim.Check{sim.Altered}, []sim.Check{sim.Miscounted}
	return []Mutant{
		{
			Name: "one-index", What: "an item has the keys of its first index alone", Checks: altered,
			Patches: []Patch{{"store/codec.go", `	for _, index := range item.Indexes {
		img`, `	for _, index := range item.Indexes[:min(1, len(item.Indexes))] {
		img`}},
		},
		{
			Name: "index-lost-on-replacement", What: "a replacement has no index keys", Checks: altered,
			Patches: []Patch{{"store/put_replace.go", `	item := *w.item
`, `	item := *w.item
	item.Indexes = nil
`}},
		},
		{
			Name: "statement-without-revision", What: "an item put by a statement lacks its revision", Checks: altered,
			Patches: []Patch{{"store/put_insert.go", `	for name := range img {
		names`, `	for name := range img {
		if name == "revision" {
			continue
		}
		names`}},
		},
		{
			Name: "stamp-kept", What: "a replacement keeps the stamp of what it replaces", Checks: altered,
			Patches: []Patch{{"store/put_replace.go", `	item := *w.item
`, `	item := *w.item
	if seen.stamp != 0 {
		item.Epoch = seen.stamp
	}
`}},
		},
		{
			Name: "replacement-shortens", What: "a replacement has its own expiry, though the replaced item was to live longer", Checks: []sim.Check{sim.Expiry},
			Patches: []Patch{{"store/put_replace.go", `(seen.expiresAt == 0 || seen.expiresAt > item.ExpiresAt)`, `seen.expiresAt == 0`}},
		},
		{
			Name: "removal-not-flagged", What: "a total does not say that an event was taken out of its extremes", Checks: miscounted,
			Patches: []Patch{{"store/update.go", `if d.Flag != "" {`, `if d.Flag != "" && d.N > 0 {`}},
		},
	}
}
