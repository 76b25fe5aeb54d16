package check

import (
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
)

// publishing compiles publish.yaml for the pipeline, and says whether the pipeline of the Ingot
// that gets what is published fits.
func (r *Report) publishing(f, next *File, p *pipeline.Pipeline) {
	if f == nil || p == nil { // its mistakes come first
		return
	}
	plan, err := publish.Load(oneFile(*f), f.Name, p)
	if !r.loaded("publish", f, err) || next == nil {
		return
	}
	second, err := next.Load()
	if !r.loaded("next", next, err) {
		return
	}
	wrong := func(format, instead string, args ...any) {
		r.Findings = append(r.Findings, Finding{Mistake, "next", f.Name, 1, 1, fmt.Sprintf(format, args...), instead})
	}
	first, types := p.Describe().Spec.Events, second.Describe().Spec.Events
	for _, of := range plan.Publications {
		if slices.Contains(of.On, publish.Removed) {
			wrong("%s sends what is removed, which has no payload, so %s puts it into quarantine", "on: [stored, changed]", of.Name,
				next.Name)
		}
		for _, typ := range of.From {
			switch there, known := types[typ]; {
			case !known:
				wrong("%s sends %s, and %s has no such event type, so it goes to quarantine", typ+" in "+next.Name, of.Name, typ, next.Name)
			case slices.Contains(of.On, publish.Changed) && first[typ].Mode == "latest" && there.Mode != "latest":
				wrong("%s sends each version of %s, and in %s all but the first are Conflicts",
					"mode: latest and a revision in that type there", of.Name, typ, next.Name)
			}
		}
	}
}

// readers counts what reads the events table's stream. A shard has room for two readers at a time
// (DynamoDB developer guide, "Change data capture for DynamoDB Streams").
func (c *checker) readers() {
	stream := c.mappingsOf(c.streams.Name, true)
	if len(stream) == 0 || stream[0].source == nil {
		return // another rule reports it
	}
	var own []*mapping
	for _, m := range c.mappings {
		if m.stream && m.source != nil && m.source.Kind == stream[0].source.Kind && m.source.Name == stream[0].source.Name &&
			m.source.Text == stream[0].source.Text {
			own = append(own, m)
		}
	}
	n, more := len(own), ""
	if c.published {
		n++
		more = ", with the publish function of publish.yaml,"
	}
	if n > 2 {
		c.mistake("stream-readers", own[len(own)-1].Position, fmt.Sprintf("%d mappings%s read the events table's stream, and a shard "+
			"has room for two readers: more are throttled, and totals fall behind", n, more), "")
	}
}
