package keys

import "strings"

// MayEqual reports whether two templates, each for events of one type, can make the same text.
// Interpolated text never contains #, so MayEqual compares the texts between the # signs. It looks
// at the fixed text before and after the part that varies.
func MayEqual(s *Template, typeOfS string, t *Template, typeOfT string) bool {
	one, two := segments(s, typeOfS), segments(t, typeOfT)
	if len(one) != len(two) {
		return false
	}
	for i := range one {
		if !one[i].mayEqual(two[i]) {
			return false
		}
	}
	return true
}

// segment is the text between two # signs. It is fixed as a whole, or it is fixed before and after
// the part that varies.
type segment struct {
	before, after string
	varies        bool
}

// segments returns the segments of a template of one event type, whose name is fixed text.
func segments(t *Template, eventType string) []segment {
	list := []segment{{}}
	for _, part := range t.Parts() {
		last := &list[len(list)-1]
		if part.Derived == "@type" && len(part.Funcs) == 0 {
			part = Part{Literal: eventType} // it has no #
		}
		if part.IsVariable() {
			last.varies, last.after = true, ""
			continue
		}
		for i, piece := range strings.Split(part.Literal, "#") {
			if i > 0 {
				list = append(list, segment{})
				last = &list[len(list)-1]
			}
			if last.varies {
				last.after += piece
			} else {
				last.before += piece
			}
		}
	}
	return list
}

func (s segment) mayEqual(t segment) bool {
	switch {
	case !s.varies && !t.varies:
		return s.before == t.before
	case !s.varies:
		return t.mayEqual(s)
	case !t.varies:
		return len(t.before) > len(s.before)+len(s.after) && strings.HasPrefix(t.before, s.before) && strings.HasSuffix(t.before, s.after)
	}
	return (strings.HasPrefix(s.before, t.before) || strings.HasPrefix(t.before, s.before)) &&
		(strings.HasSuffix(s.after, t.after) || strings.HasSuffix(t.after, s.after))
}
