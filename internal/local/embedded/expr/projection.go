package expr

import (
	"slices"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Projection lists the top-level attributes that a read returns.
type Projection struct {
	paths []string
	uses  Uses
}

func parseProjection(api, src string) (*Projection, error) {
	p, err := newParser(api, "ProjectionExpression", src)
	if err != nil {
		return nil, err
	}
	out := &Projection{}
	for {
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		out.paths = append(out.paths, path)
		if p.accept(",") {
			continue
		}
		if p.peek().kind != tokEnd {
			return nil, p.syntax()
		}
		out.uses = p.uses
		return out, nil
	}
}

// Names resolves the placeholders. A nil projection returns nil, which means all attributes.
func (p *Projection) Names(b Binding) ([]string, error) {
	if p == nil {
		return nil, nil
	}
	out := make([]string, 0, len(p.paths))
	for _, path := range p.paths {
		name := b.name(path)
		if slices.Contains(out, name) {
			return nil, api.Invalid("Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite "+
				"one of these paths; path one: [%s], path two: [%s]", name, name)
		}
		out = append(out, name)
	}
	return out, nil
}
