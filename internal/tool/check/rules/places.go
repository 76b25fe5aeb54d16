package rules

import (
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// Places finds members of pipeline.yaml by their dotted names, and takes the findings about them.
type Places struct {
	*Notes
	Root *template.Node
}

// Of returns the position of a change's subject and member. If the file does not have the member,
// it returns the position of the nearest member around it.
func (p Places) Of(subject, member string) template.Position {
	at := template.Position{Line: 1, Column: 1}
	n := p.Root
	for rest := strings.Trim(subject+"."+member, "."); rest != "" && n != nil; {
		m, after := longest(n, rest)
		if m == nil {
			break
		}
		at, n, rest = m.Position, m.Value, after
	}
	return at
}

// longest returns the member whose name rest begins with. It takes the longest name that fits,
// because names of event types contain dots.
func longest(n *template.Node, rest string) (found *template.Member, after string) {
	for i := range n.Members {
		m := &n.Members[i]
		tail, ok := strings.CutPrefix(rest, m.Name)
		if ok && (tail == "" || tail[0] == '.') && (found == nil || len(m.Name) > len(found.Name)) {
			found, after = m, strings.TrimPrefix(tail, ".")
		}
	}
	return found, after
}

// Index returns where the first event type uses an index.
func (p Places) Index(name string) (template.Position, bool) {
	events := p.Root.Value("events")
	if events == nil {
		return template.Position{}, false
	}
	for _, event := range events.Members {
		if m := event.Value.Value("indexes").Member(name); m != nil {
			return m.Position, true
		}
	}
	return template.Position{}, false
}
