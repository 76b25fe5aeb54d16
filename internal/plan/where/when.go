package where

import (
	"bytes"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// When is a compiled `when`: a condition of a payload, and of the payload that it has replaced. Its
// fields are those of both.
type When struct {
	Condition
	// Asks says that the condition asks for the earlier payload, too.
	Asks bool
}

// ParseWhen compiles a condition with the grammar of [Parse] and these additions:
//
//	comparison = … | "changed" "(" path ")"
//	field      = … | "before" "(" path ")", also within number() and after exists
func ParseWhen(text string) (*When, *Mistake) {
	p := &parser{when: true}
	c, bad := p.parse(text)
	if bad != nil {
		return nil, bad
	}
	return &When{Condition{c}, p.asks}, nil
}

// Holds reports whether the condition holds for a payload and the one before it, which is absent if
// there was none. If known is false, nobody knows the earlier one: the condition then holds unless
// what it says of the payload itself rules that out.
func (w *When) Holds(now, before event.Node, known bool) bool {
	return w.of.holds(sides{now, before, !known, true})
}

// sides are what a condition is asked of. A Condition has only now.
type sides struct {
	now, before event.Node
	unknown     bool // before is not known
	// guess is what a test of before gives if that is not known. Under an odd number of nots it is
	// false, so that the whole holds if it may.
	guess bool
}

// These are the tests that only a When has. Nobody asks for the text of a When.
type (
	earlier struct{ node }   // before(PATH)
	changed struct{ exists } // changed(PATH)
)

func (e earlier) holds(s sides) bool {
	if s.unknown {
		return s.guess
	}
	return e.node.holds(sides{now: s.before})
}

// holds reports whether the two values differ as they would in a digest: not by their spelling.
// Missing and null are the same.
func (c changed) holds(s sides) bool {
	if s.unknown {
		return s.guess
	}
	now, before := s.now.At(c.path), s.before.At(c.path)
	switch {
	case there(now) != there(before):
		return true
	case !there(now) || now.Raw() == before.Raw():
		return false
	}
	return !bytes.Equal(keys.Canonical(nil, now, nil), keys.Canonical(nil, before, nil))
}
