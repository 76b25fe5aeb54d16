package disk

import (
	"maps"
	"slices"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// batch is what the next transaction writes. Of several changes of a key it holds the last one.
type batch struct {
	spaces map[string]*space
}

type space struct {
	drop   bool // remove everything first
	values map[string]value
}

type value struct {
	text string
	gone bool
}

func newBatch() *batch { return &batch{spaces: map[string]*space{}} }

func (b *batch) empty() bool { return len(b.spaces) == 0 }

func (b *batch) space(name string) *space {
	s := b.spaces[name]
	if s == nil {
		s = &space{values: map[string]value{}}
		b.spaces[name] = s
	}
	return s
}

func (b *batch) add(c embedded.Change) {
	s := b.space(c.Space)
	if c.Remove && c.Key == "" {
		s.drop = true
		clear(s.values)
		return
	}
	s.values[c.Key] = value{c.Value, c.Remove}
}

// under returns the batch that holds both, where later is the one that counts.
func (b *batch) under(later *batch) *batch {
	for name, s := range later.spaces {
		into := b.space(name)
		if s.drop {
			into.drop = true
			clear(into.values)
		}
		maps.Copy(into.values, s.values)
	}
	return b
}

func (b *batch) names() []string { return slices.Sorted(maps.Keys(b.spaces)) }

func (s *space) keys() []string { return slices.Sorted(maps.Keys(s.values)) }
