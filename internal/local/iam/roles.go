package iam

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"

	"github.com/ingot-events/ingot/internal/local/stack"
)

//go:embed roles.json
var rolesFile []byte

// When says under which parameters of its template a statement stands. The empty text means always.
type When string

// The parameters that decide.
const (
	Payloads When = "payloads" // there is a payload bucket
	Pointers When = "pointers" // there is a bucket for payloads that producers put into S3
	Back     When = "back"     // a migration can go back
	Old      When = "old"      // a table is being moved
)

// RoleInTemplate is a role of one of Ingot's templates. Its resources are named as those of
// [stack.Stack].
type RoleInTemplate struct {
	Name       string
	Statements []StatementInTemplate
}

// StatementInTemplate is a statement that stands in a template.
type StatementInTemplate struct {
	When When `json:",omitempty"`
	Statement
}

var roles = sync.OnceValue(func() (all []RoleInTemplate) {
	if err := json.Unmarshal(rolesFile, &all); err != nil {
		panic(err) // a test reads the file
	}
	return all
})

// roleOf returns a new role as its template has it under these parameters.
func roleOf(name string, when ...When) *Role {
	all := roles()
	of := all[slices.IndexFunc(all, func(r RoleInTemplate) bool { return r.Name == name })]
	r := &Role{Name: name}
	for _, s := range of.Statements {
		if s.When == "" || slices.Contains(when, s.When) {
			r.Statements = append(r.Statements, s.Statement)
		}
	}
	return r
}

// Pipeline is what roles depend on.
type Pipeline interface {
	UsesOffload() bool
	UsesAtomic() bool
	MovesByPut() bool
}

// Ingest returns the role of the ingest function of a pipeline: that of template.yaml, and what
// `ingot check` asks for beyond it.
func Ingest(p Pipeline) *Role {
	r := roleOf("IngestRole", Pointers, payloads(p))
	add := func(table string, actions ...string) {
		r.Statements = append(r.Statements, Statement{Actions: actions, Resources: []string{"dynamodb:table/" + table}})
	}
	if p.UsesAtomic() {
		add(stack.Events, "dynamodb:ConditionCheckItem")
	}
	if p.MovesByPut() {
		add(stack.Aggregates, "dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:BatchGetItem")
	}
	return r
}

// Streams returns the role of the streams function of a pipeline.
func Streams(p Pipeline) *Role { return roleOf("StreamsRole", payloads(p)) }

// Capture returns the role of the capture function of a migration that can go back.
func Capture(p Pipeline) *Role { return roleOf("CaptureRole", Back, payloads(p)) }

// Publish returns the role of the publish function.
func Publish(p Pipeline) *Role { return roleOf("PublishRole", payloads(p)) }

// Worker returns the role of the worker of --large, where a table is being moved.
func Worker() *Role { return roleOf("WorkerRole", Old) }

func payloads(p Pipeline) When {
	if p.UsesOffload() {
		return Payloads
	}
	return ""
}
