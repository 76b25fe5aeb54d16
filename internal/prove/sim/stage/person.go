package stage

import (
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// Person returns the role of somebody who may run commands of the tool, as ingot policy prints it
// for each. payloads is the payload bucket; empty: there is none.
func Person(payloads string, commands ...string) *iam.Role {
	on := policy.ARNsOf(&target.Target{EventsTable: stack.Events, AggregatesTable: stack.Aggregates, PayloadBucket: payloads})
	var all []policy.Statement
	for _, command := range commands {
		all = append(all, policy.Commands[command](on)...)
	}
	return policy.Role("person", all)
}
