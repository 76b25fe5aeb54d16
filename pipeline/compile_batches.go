package pipeline

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/plan/where"
)

// wholeMessage is each for a message that is itself the array.
const wholeMessage = "."

// batches compiles where a message may hold several events.
func (c *compiler) batches() {
	for i, s := range c.spec.Batches {
		p := place("batches").In(strconv.Itoa(i))
		each, ok := c.each(p.In("each"), s.Each)
		if !ok {
			continue
		}
		for _, earlier := range c.p.plan.Batches {
			if earlier.Each.Contains(each) && earlier.Each.IsZero() == each.IsZero() || each.Contains(earlier.Each) && !each.IsZero() {
				c.Mistake(p.In("each"), fmt.Sprintf("%s and %s are one inside of the other, so an event would be part of another event",
					eachText(earlier.Each), eachText(each)), "one of the two")
			}
		}
		if each.IsZero() && (s.Optional || len(s.With) > 0) {
			c.Mistake(p, "nothing is around a message that is an array, so its entry has each alone", "{each: "+wholeMessage+"}")
		}
		b := envelope.Batch{Each: each, Optional: s.Optional}
		for _, name := range slices.Sorted(maps.Keys(s.With)) {
			if path, ok := c.around(p.In("with").In(name), s.With[name], name, each); ok {
				b.With = append(b.With, envelope.With{Name: name, Path: path})
			}
		}
		c.p.plan.Batches = append(c.p.plan.Batches, b)
	}
}

// each compiles a path to arrays of events.
func (c *compiler) each(p place, text string) (path event.Path, ok bool) {
	if text == wholeMessage {
		return path, true
	}
	path, ok = c.everyPath(p, text)
	if before, ends := strings.CutSuffix(text, "[]"); ok && ends {
		c.Mistake(p, "each leads to the array itself", before)
		ok = false
	}
	return path, ok
}

// everyPath compiles a path that may go through every element of an array.
func (c *compiler) everyPath(p place, text string) (path event.Path, ok bool) {
	if c.IsBroken(p) {
		return path, false
	}
	path, bad := where.Every(text, `a path such as Records or "entry[].changes"`)
	switch {
	case bad != nil:
		c.Mistake(p, bad.What, bad.Instead)
	case path.Numbered():
		c.Mistake(p, text+" names one element of an array, and the others would be lost",
			strings.TrimSuffix(element.ReplaceAllString(text, "[]"), "[]"))
	default:
		return path, true
	}
	return path, false
}

// around compiles the path of a value that events take of the objects around them.
func (c *compiler) around(p place, text, name string, each event.Path) (path event.Path, ok bool) {
	if named, err := event.ParsePath(name); err != nil || named.String() != name || !isName(named) {
		c.Misnamed(p, fmt.Sprintf("%q cannot be the name of a member here", name), inPlainLetters(name))
		return path, false
	}
	enclosing, _ := each.Around()
	parsed, _ := event.ParseEvery(text) // everyPath says what is wrong with it
	if above, _ := parsed.Every().Around(); !above.Contains(enclosing) {
		c.Mistake(p, fmt.Sprintf("%s is not in an object around the events at %s", text, each),
			"a path that has a [] only where each has it")
		return path, false
	}
	path, ok = c.everyPath(p, text)
	switch {
	case !ok:
		return path, false
	case path.Contains(each):
		c.Mistake(p, text+" holds the events themselves", "a text, a number, or true or false beside them")
		return path, false
	}
	return path, true
}

// element is the number of an element in a path.
var element = regexp.MustCompile(`\[[0-9]+\]`)

func isName(path event.Path) bool {
	_, ok := path.Name()
	return ok
}

// inPlainLetters returns a name that needs no brackets in a path.
func inPlainLetters(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9') {
			return r
		}
		return '_'
	}, name)
	return "_" + strings.TrimLeft(plain, "_0123456789")
}

// drop compiles the types that nobody wants.
func (c *compiler) drop() {
	for i, text := range c.spec.Drop {
		p := place("drop").In(strconv.Itoa(i))
		d := planner.ParseDrop(text)
		switch {
		case c.IsBroken(p):
			continue
		case text == "*":
			c.Mistake(p, "drop: * would drop everything that is not declared, also by mistake",
				"the types that nobody wants, such as customer.*")
		case strings.Contains(d.After, "*"):
			c.Mistake(p, text+" has more than one *", "several entries")
		}
		for _, name := range slices.Sorted(maps.Keys(c.spec.Events)) {
			if d.Names(name) {
				c.Mistake(p, fmt.Sprintf("%s is declared under events, so it is stored and not dropped", name), "one of the two")
			}
		}
		c.p.plan.Drop = append(c.p.plan.Drop, d)
	}
}

// batchSpecs returns the declaration of batches in one normal spelling.
func (p *Pipeline) batchSpecs() (list []BatchSpec) {
	for _, b := range p.plan.Batches {
		s := BatchSpec{Each: eachText(b.Each), Optional: b.Optional}
		for _, with := range b.With {
			if s.With == nil {
				s.With = map[string]string{}
			}
			s.With[with.Name] = with.Path.String()
		}
		list = append(list, s)
	}
	return list
}

func eachText(each event.Path) string {
	if each.IsZero() {
		return wholeMessage
	}
	return each.String()
}

func (p *Pipeline) dropSpec() (list []string) {
	for _, d := range p.plan.Drop {
		list = append(list, d.String())
	}
	return list
}
