package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
)

// publishing compiles publish.yaml for the pipeline, and says whether the pipeline of the Ingot
// that gets what is published fits.
func (r *Report) publishing(f, next *textfile.File, p *pipeline.Pipeline) {
	if f == nil || p == nil { // its mistakes come first
		return
	}
	plan, err := publish.Load(*f, f.Name, p)
	if !r.loaded("publish", f, err) || next == nil {
		return
	}
	second, err := next.Load()
	if !r.loaded("next", next, err) {
		return
	}
	wrong := func(format, instead string, args ...any) {
		r.mistake("next", f.Name, begin, fmt.Sprintf(format, args...), instead)
	}
	first, types := p.Describe().Spec.Events, second.Describe().Spec.Events
	for _, of := range plan.Publications {
		if slices.Contains(of.On, publish.Removed) {
			wrong("%s sends what is removed, which has no payload, so %s puts it into quarantine", withoutRemoved(of.On), of.Name,
				next.Name)
		}
		for _, typ := range of.From {
			switch there, known := types[typ]; {
			case !known:
				wrong("%s sends %s, and %s has no such event type, so it goes to quarantine", typ+" among the events of "+next.Name,
					of.Name, typ, next.Name)
			case slices.Contains(of.On, publish.Changed) && first[typ].Mode == "latest" && there.Mode != "latest":
				wrong("%s sends each version of %s, and in %s all but the first are Conflicts",
					"mode: latest and a revision into that type there", of.Name, typ, next.Name)
			}
		}
	}
}

// withoutRemoved says what a publication is to send of what it sends now.
func withoutRemoved(on []string) string {
	rest := slices.DeleteFunc(slices.Clone(on), func(what string) bool { return what == publish.Removed })
	if len(rest) == 0 {
		return "another target"
	}
	return "on: [" + strings.Join(rest, ", ") + "]"
}
