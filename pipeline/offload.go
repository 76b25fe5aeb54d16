package pipeline

import (
	"strconv"

	"github.com/ingot-events/ingot/internal/plan/declare"
	"github.com/ingot-events/ingot/internal/plan/planner"
)

// offload compiles which payloads of a type go to the payload bucket.
func (c *compiler) offload(p place, t *planner.Type, s OffloadSpec) {
	t.Over = s.Over
	switch least, most := int64(minOver), int64(maxOver); {
	case t.Over == 0 && len(s.Keep) == 0:
		return
	case c.IsBroken(p) || c.IsBroken(p.In("over")):
		return
	case t.Over < least || t.Over > most:
		c.Mistake(p.In("over"), "over is "+declare.SizeText(t.Over), "a size from "+declare.SizeText(least)+" to "+declare.SizeText(most))
	case t.Latest:
		c.Mistake(p, "offload does not go with mode latest: a newer revision replaces a payload that it has not read",
			"the type without offload")
	case !namesAFolder(t.Name):
		c.Mistake(p, "the name "+t.Name+" cannot be a folder of the payload bucket, and offload needs one",
			"a name of letters, digits, ., _ and -")
	}
	for i, text := range s.Keep {
		if path, ok := c.path(p.In("keep").In(strconv.Itoa(i)), text); ok {
			t.Keep = append(t.Keep, path)
		}
	}
}

const (
	// minOver and maxOver are the bounds of over, in bytes. A payload that stays in the item leaves
	// room there for keys and attributes.
	minOver, maxOver = 1 << 10, 256 << 10
)

// namesAFolder reports whether the name of a type can be the first part of the names of objects,
// and the prefix of a lifecycle rule.
func namesAFolder(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '.' && c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// keptOf collects what the pipeline uses of a type's payload: every field that it reads, and
// everything that parts are made of. The digest covers the whole payload, so it cannot be computed
// from what is kept.
func (p *Pipeline) keptOf(t *planner.Type) *planner.Kept {
	k := &planner.Kept{}
	for _, read := range p.plan.Reads(t) {
		k.Add(read.Path)
	}
	for _, part := range t.Parts {
		k.Add(part.Part.Each)
		for _, with := range part.Part.With {
			k.Add(with.Path)
		}
	}
	for _, path := range t.Keep {
		k.Add(path)
	}
	return k
}
