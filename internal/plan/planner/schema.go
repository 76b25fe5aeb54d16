package planner

import (
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/jsonschema"
)

// schema says what is wrong with a payload, at most [jsonschema.MaxFindings] places. ok is false if
// that cannot be found out within bounds. The streams function has none, and its binary no
// validator.
type schema func(payload event.Node) (findings []jsonschema.Finding, ok bool)

// breaksSchema refuses a payload that breaks the schema of its type.
func (t *Type) breaksSchema(payload event.Node) *event.Refusal {
	if t.Schema == nil {
		return nil
	}
	findings, ok := t.Schema(payload)
	if !ok {
		return event.Poisoned(event.BreaksSchema, "the schema of "+t.Name+
			" takes too many steps to check a payload like this one: it has too many alternatives for each value")
	}
	if len(findings) == 0 {
		return nil
	}
	list := make([]string, len(findings))
	for i, f := range findings {
		list[i] = f.String()
	}
	return event.Poisoned(event.BreaksSchema, strings.Join(list, "; "))
}
