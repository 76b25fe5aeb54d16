package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// requires returns wrong ways to store an event only after another one.
func requires() []Mutant {
	required, undeserved := checks(sim.Required), checks(sim.Undeserved)
	return []Mutant{
		{
			Name: "requires-unread", What: "nobody looks for what an event requires", Defends: "P21", Checks: required,
			Edits: edit("put.Stages.Put", `return len(item.Requires) > 0`, `return false`),
		},
		{
			Name: "requires-read-eventually", What: "what an event requires is read without consistency", Defends: "P21",
			Checks: undeserved,
			Edits: edit("put.ordered.read", `request := rows.Summary.Request()`,
				`request := rows.Summary.Request(); request.ConsistentRead = nil`),
		},
		{
			Name: "expired-is-stored", What: "what an event requires may have expired", Defends: "P21", Checks: required,
			Edits: edit("put.ordered.read", `|| of.Expired(o.Env.Now())`, ``),
		},
		{
			Name: "any-type-is-required", What: "an event requires a key, whatever the key holds", Defends: "P21", Checks: required,
			Edits: []Edit{
				{"put.ordered.read", `known.Foreign || known.Barred ||`, ``},
				{"put.ordered.read", `o.stored[event.Requirement{Type: of.Type, Key: of.Key}] = true`, `for _, i := range o.left {
					for _, r := range o.items[i].Requires {
						o.stored[r] = o.stored[r] || r.Key == of.Key
					}
				}`},
			},
		},
		{
			Name: "batch-brings-nothing", What: "what the same batch brings is not put first", Defends: "P21", Checks: undeserved,
			Edits: []Edit{
				{"put.Stages.putInOrder", `	o.putReady(ctx)
	err := o.read(ctx)`, `	err := o.read(ctx)`},
				{"put.ordered.put", `o.stored[event.Requirement{Type: item.Type, Key: item.Key}] = true`, ``},
			},
		},
		{
			Name: "group-waits", What: "a FIFO group waits for what an event requires", Defends: "P21", Checks: undeserved,
			Edits: edit("handler.ingestBatch.one", `e.take(results[0])`, `e.take(results[0]); e.await()`),
		},
	}
}
