package check

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// quoted reports what reads numbers from a field that is text in the sample. A value refuses such
// an event, and a condition never holds.
func (r *Report) quoted(at rules.Places) {
	if r.Events == nil {
		return
	}
	for _, q := range r.Events.Quoted {
		what, instead := "text", "the path of a number, or a comparison with text"
		if q.Number {
			what, instead = "the text of a number", "number("+q.Path+")"
		}
		for _, use := range q.Uses {
			subject, consequence := placeOfUse(q.Type, use), "no such event can be stored"
			switch {
			case subject == "":
				continue
			case strings.HasSuffix(use, " where"):
				consequence = "no such event can meet this"
			}
			at.Mistake("quoted", at.Of(subject, ""),
				fmt.Sprintf("%s reads a number from %s, which is %s in %s of %s: %s", use, q.Path, what, show.Count(q.Count, "event"),
					r.Events.File, consequence), instead)
		}
	}
}

// placeOfUse returns the dotted name of what reads a field: see event.Read. It is empty for what a
// part reads, since the part reads it itself, and for what another file says.
func placeOfUse(typ, use string) string {
	words := strings.Fields(use)
	switch {
	case words[0] == "part", words[0] == "publication":
		return ""
	case words[0] == "revision":
		return "events." + typ + ".revision"
	case strings.HasPrefix(use, "GSI"):
		return "events." + typ + ".indexes." + words[0] + ".where"
	}
	if words[1] != "where" {
		words[1] = "values." + words[1]
	}
	return "aggregates." + words[0] + ".from." + typ + "." + strings.Join(words[1:], ".")
}
