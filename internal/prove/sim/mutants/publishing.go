package main

import (
	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/chain"
)

// publishing returns wrong ways to publish.
func publishing() []Mutant {
	once := []sim.Check{chain.Unsent, chain.Doubled, chain.Wrong}
	list := []Mutant{
		{
			Name: "id-by-place", What: "the id of what is published has its place in the batch", Defends: "P20", Checks: once, Plain: true,
			Edits: edit("publish.Plan.message", `idOf(p.source, c.what, item, c.at)`,
				`idOf(p.source+strconv.Itoa(c.record)+c.at.String(), c.what, item, c.at)`),
		},
		{
			Name: "fresh-id", What: "what is published has a new id each time", Defends: "P20", Checks: once, Plain: true,
			Edits: edit("publish.Plan.message", `idOf(p.source, c.what, item, c.at)`,
				`idOf(p.source+drawn(), c.what, item, c.at)`),
			Helpers: []Helper{{"publish", `import "strconv"

var drawn_ int

func drawn() string { drawn_++; return strconv.Itoa(drawn_) }`}},
		},
		{
			Name: "refused-is-skipped", What: "a redelivery leaves out what a target refused", Defends: "P20", Checks: once,
			Edits: edit("publish.batch.settle", `b.left[c.record] = err`, ``),
		},
		{
			Name: "last-refused-named", What: "the answer names the last refused record, not the first", Defends: "P20", Checks: once,
			Edits: edit("publish.Publisher.Handle",
				`if at := slices.IndexFunc(b.left, func(err error) bool { return err != nil }); at >= 0 {`,
				`at := len(b.left) - 1
	for at >= 0 && b.left[at] == nil { at-- }
	if at >= 0 {`),
		},
		{
			Name: "taken-by-position", What: "the answer of a target is read by position, not by id", Defends: "P20", Checks: once,
			Edits: []Edit{{"publish.Queue", `for _, done := range out.Successful {
			set(errs, done.Id, nil)
		}`, `for i := range out.Successful { errs[i] = nil }`},
				{"publish.Queue", `set(errs, failed.Id, refusal(failed.Code, failed.Message))`, `_ = failed`}},
		},
		{
			Name: "lost-answer-is-taken", What: "a request without an answer counts as taken", Defends: "P20", Checks: once,
			Edits: edit("publish.sending.request", `errs := r.target.Send(ctx, list)`,
				`errs := r.target.Send(ctx, list)
	if len(errs) > 0 && errs[0] != nil && awserr.Code(errs[0]) == "" { clear(errs) }`),
		},
		{
			Name: "given-up-unproven", What: "a record is given up before its letter is proven sent", Defends: "P20", Checks: once,
			Seeds: 2 * mostSeeds,
			Edits: edit("publish.batch.giveUp", `if err == nil {
			b.left[of[i]] = nil`, `if err == nil || b.Quarantine != nil {
			b.left[of[i]] = nil`),
		},
		{
			Name: "key-overtakes", What: "a key whose message is refused has its next one sent", Defends: "P20",
			Checks: checks(chain.Unruly),
			Edits:  edit("publish.batch.line", `stopped[c.item.Key] = c`, `_ = c`),
		},
		{
			Name: "touch-published", What: "a touch is published as a change", Defends: "P20",
			Checks: checks(chain.Noise), Plain: true,
			Edits: edit("publish.Plan.changeOf", `case was.Digest != is.Digest || versionOf(was) != versionOf(is):`,
				`default:`),
		},
		{
			Name: "when-folded", What: "when is asked of the changes of a batch together, as of one change of their key", Defends: "P20",
			Checks: []sim.Check{chain.Unsent, chain.Noise},
			Edits: edit("publish.batch.add", `c.record, c.place = record, b.records[record].Sequence.String()`,
				`c.record, c.place = record, b.records[record].Sequence.String()
	for _, r := range b.records[:record] {
		if r.Key == c.item.Key && r.Old != nil && c.was != nil { c.was = r.Old; break }
	}`),
		},
		{
			Name: "when-of-the-new", What: "when takes what is changed for what is stored", Defends: "P20",
			Checks: checks(chain.Noise), Plain: true,
			Edits: edit("publish.Plan.wants", `c.was != nil`, `c.was != nil && c.to < 0`),
		},
		{
			Name: "expiry-published", What: "what expires is published as removed", Defends: "P20",
			Checks: checks(chain.Noise), Plain: true,
			Edits: edit("publish.Plan.changeOf", `c.Expired ||`, ``),
		},
		{
			Name: "removal-untold", What: "a removal is told only if its event was never changed", Defends: "P20",
			Checks: checks(chain.Untold), Plain: true,
			Edits: edit("publish.Plan.changeOf", `return change{what: Removed, item: was, at: c.Created}`,
				`if was.Revision != nil && was.Revision.String() != "1" { return change{} }
		return change{what: Removed, item: was, at: c.Created}`),
		},
	}
	for i := range list {
		list[i].Worlds = "chain"
	}
	return list
}
