package main

import (
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// atWork is the command that this process runs.
var atWork atomic.Value

// identify gives this process the credentials of who may run one command alone: the access key is
// its name. ingot dev gets no credentials, and is told by atWork.
func identify(args []string) {
	name := "-"
	if cmd, _, err := newRoot(bare()).Find(args); err == nil && cmd.HasParent() {
		name = strings.Fields(cmd.CommandPath())[1]
	}
	atWork.Store(name)
	if _, has := os.LookupEnv("AWS_ACCESS_KEY_ID"); has {
		_ = os.Setenv("AWS_ACCESS_KEY_ID", name) // a valid name
	}
}

// roles are those of the commands on a stack, by the policies that ingot policy prints.
type roles struct {
	of    func() *target.Target
	local bool // they are found by --local, which asks for the table
	mu    sync.Mutex
	all   map[string]*iam.Role
}

// role returns the role of a command. Any other access key is that of a test, to which everything
// is allowed, and of ingot policy, which has no policy of its own.
func (r *roles) role(command string) *iam.Role {
	r.mu.Lock()
	defer r.mu.Unlock()
	needs := policy.Commands[command]
	if needs == nil || r.all[command] != nil {
		return r.all[command]
	}
	role := policy.Role(command, needs(policy.ARNsOf(r.of())))
	if r.local {
		role.Statements = append(role.Statements, iam.Statement{Actions: []string{"dynamodb:DescribeTable"},
			Resources: []string{"dynamodb:table/" + stack.Events}})
	}
	names := strings.NewReplacer("stack/STACK", "stack", "OLD-TABLE", oldTable.Name, "BUCKET-OF-WORK", "*-bucket")
	for _, s := range role.Statements {
		for i := range s.Resources {
			s.Resources[i] = names.Replace(s.Resources[i])
		}
	}
	if r.all == nil {
		r.all = map[string]*iam.Role{}
	}
	r.all[command] = role
	return role
}

// forget begins anew, with nothing denied and nothing used.
func (r *roles) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.all)
}

// without takes an action away from the role of a command.
func (r *roles) without(command, action string) *iam.Role {
	role := r.role(command)
	for i, s := range role.Statements {
		role.Statements[i].Actions = slices.DeleteFunc(s.Actions, func(one string) bool { return one == action })
	}
	return role
}

// fail tells of each call that was denied.
func (r *roles) fail(tell func(...any)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for command, role := range r.all {
		for _, call := range role.Denied() {
			tell("ingot " + command + " calls " + call + ", which its policy does not allow")
		}
	}
}

// uses reports whether a command has used an action.
func (r *roles) uses(command, action string) bool {
	return slices.ContainsFunc(r.role(command).Used(), func(u iam.Right) bool { return u.Action == action })
}

// found is what commands find of an ingot dev, or of the stack that it stands for.
func found(d *dev.Dev) *target.Target {
	l := d.Local()
	return &target.Target{EventsTable: l.EventsTable, AggregatesTable: l.AggregatesTable, QueueURL: l.QueueURL,
		QuarantineURL: l.QuarantineURL, DeadLetterURL: l.DeadLetterURL, ArchiveBucket: l.ArchiveBucket, PayloadBucket: l.PayloadBucket,
		StreamsFunction: target.DevStreams, SecretARN: secretARN, IngestLogs: "ingest-logs", StreamsLogs: "streams-logs"}
}
