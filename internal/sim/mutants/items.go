package main

import "github.com/ingot-events/ingot/internal/sim"

// items are other ideas of what is stored of an event, and of what it is worth.
func items() []Mutant {
	altered, miscounted := []sim.Check{sim.Altered}, []sim.Check{sim.Miscounted}
	return []Mutant{
		{
			Name: "id-altered", What: "the stored id is the sort key", Checks: altered, Plain: true,
			Patches: []Patch{{"store/codec.go", `text(item.Type), text(item.ID),`, `text(item.Type), text(item.Key.SK),`}},
		},
		{
			Name: "payload-rewritten", What: "the payload is stored in canonical form, not as it was received", Checks: altered, Plain: true,
			Patches: []Patch{{"pipeline/plan.go", `Data: e.Data.Text()}`, `Data: string(keys.Canonical(nil, root, nil))}`}},
		},
		{
			Name: "digest-of-bytes", What: "the digest is of the bytes received, whatever they say", Checks: altered, Plain: true,
			Patches: []Patch{{"pipeline/plan.go", `	item.Digest = keys.Digest(t.name, w.source.Data, t.ignore)
`, `	item.Digest = sha256.Sum256([]byte(w.source.Data.Raw()))
`}, {"pipeline/plan.go", `import (
`, `import (
	"crypto/sha256"
`}},
		},
		{
			Name: "number-as-text", What: "a declared attribute that is a number is stored as text", Checks: altered, Plain: true,
			Patches: []Patch{{"store/codec.go", `	case event.NumberAttribute:
		return number(a.Text)
`, `	case event.NumberAttribute:
		return text(a.Text)
`}},
		},
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
	if seen.epoch != 0 {
		item.Epoch = seen.epoch
	}
`}, {"store/judge.go", `	expiresAt int64
`, `	expiresAt int64
	epoch     int64
`}, {"store/judge.go", `expiresAt: integerOf(img["expiresAt"])}
	digest`, `expiresAt: integerOf(img["expiresAt"]), epoch: integerOf(img["epoch"])}
	digest`}},
		},
		{
			Name: "expires-late", What: "an item expires ten hours after its time", Checks: []sim.Check{sim.Expiry}, Plain: true,
			Patches: []Patch{{"pipeline/plan.go", `roundUp(item.At.Add(t.retain))`, `roundUp(item.At.Add(t.retain + 10*time.Hour))`}},
		},
		{
			Name: "replacement-shortens", What: "a replacement has its own expiry, though the replaced item was to live longer", Checks: []sim.Check{sim.Expiry},
			Patches: []Patch{{"store/put_replace.go", `(seen.expiresAt == 0 || seen.expiresAt > item.ExpiresAt)`, `seen.expiresAt == 0`}},
		},
		{
			Name: "where-ignored", What: "an aggregate counts what its condition leaves out", Checks: miscounted, Plain: true,
			Patches: []Patch{{"pipeline/contribute.go", `return f.where == nil || f.where.holds(root)`, `return true`}},
		},
		{
			Name: "min-as-max", What: "min keeps the greatest", Checks: miscounted, Plain: true,
			Patches: []Patch{{"pipeline/value.go", `"min": aggregate.Min`, `"min": aggregate.Max`}},
		},
		{
			Name: "min-as-text", What: "min compares numbers as text", Checks: append(miscounted, sim.Uncounted), Plain: true,
			Patches: []Patch{{"aggregate/fold.go", `o == Min && b.Number.Cmp(a.Number) > 0`, `o == Min && b.Number.String() > a.Number.String()`}},
		},
		{
			Name: "removal-not-flagged", What: "a total does not say that an event was taken out of its extremes", Checks: miscounted,
			Patches: []Patch{{"store/update.go", `if d.Flag != "" {`, `if d.Flag != "" && d.N > 0 {`}},
		},
	}
}
