package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

const week = 7 * 24 * time.Hour

// copier makes copies of events for --repeat, by the rules of each event type. Copy number k is
// another event: ~k is appended to a field of its id, and it happens k weeks later. It works on the
// fields that the pipeline names in id and at.
type copier map[string]copyRule

// copyRule says which fields of one event type must change in a copy.
type copyRule struct {
	id, at  event.Path
	time    *keys.Template
	unit    time.Duration // the unit of a time that is a number; 0 if the time is text
	form    string        // how the text is written, as in package time
	missing string        // why the type cannot be copied; empty if it can
}

// newCopier takes the fields from the pipeline's declarations.
func newCopier(p *pipeline.Pipeline) copier {
	c := copier{}
	for name, declared := range p.Describe().Spec.Events {
		c[name] = newCopyRule(declared.ID, declared.At)
	}
	return c
}

func newCopyRule(id, at string) copyRule {
	r := copyRule{form: time.RFC3339Nano}
	if path, _, ok := lastField(id); ok {
		r.id = path
	} else {
		r.missing = "its id reads no field of the payload"
	}
	path, functions, ok := lastField(at)
	if !ok {
		r.missing = "its time is not a field of the payload"
	}
	r.at = path
	r.time, _ = keys.ParseTemplate(at)
	for _, f := range functions {
		of := f.Function()
		if of.Number {
			r.unit = of.Period.Length
		}
		r.form = cmp.Or(of.Reads, r.form)
	}
	return r
}

// lastField returns the last field of the payload that a template reads.
func lastField(text string) (event.Path, []keys.Func, bool) {
	t, err := keys.ParseTemplate(text)
	if err != nil {
		return event.Path{}, nil, false
	}
	parts := t.Parts()
	for i := len(parts) - 1; i >= 0; i-- {
		if !parts[i].Path.IsZero() {
			return parts[i].Path, parts[i].Funcs, true
		}
	}
	return event.Path{}, nil, false
}

// copy returns the body of copy number k of an event.
func (c copier) copy(m envelope.Message, typ string, k int) (string, error) {
	r := c[typ]
	if r.missing != "" {
		return "", &repeatError{"events of type " + typ + ": " + r.missing}
	}
	opened, err := envelope.Open(m)
	if err != nil {
		return "", err
	}
	if opened.Kind != (envelope.Kind{}) {
		return "", &repeatError{fmt.Sprintf("it comes in an envelope (%s), and copies are made of bare JSON alone", opened.Kind)}
	}
	root := opened.Data.Root()
	at, err := r.later(root, time.Duration(k)*week)
	if err != nil {
		return "", &repeatError{"its time cannot be moved: " + err.Error()}
	}
	id, err := json.Marshal(root.At(r.id).Text() + "~" + strconv.Itoa(k))
	if err != nil {
		return "", err
	}
	e := edit{{r.id, string(id)}, {r.at, at}}
	return string(e.apply(nil, root, event.Path{})), nil
}

// later returns the JSON text of a time moved by d, in the same spelling as the time.
func (r copyRule) later(root event.Node, d time.Duration) (string, error) {
	at, err := r.time.Time(&keys.Source{Data: root})
	if err != nil {
		return "", err
	}
	if r.unit == 0 {
		return strconv.Quote(at.Add(d).Format(r.form)), nil
	}
	n := root.At(r.at)
	was, err := event.ParseDecimal(n.Text())
	if err != nil {
		return "", err
	}
	moved := was.Add(event.DecimalOf(int64(d / r.unit))).String()
	if n.Kind() == event.String {
		return strconv.Quote(moved), nil
	}
	return moved, nil
}

// edit is JSON text that replaces fields.
type edit []struct {
	path event.Path
	text string
}

// apply appends n with the fields replaced. All other parts of the text stay as they are.
func (e edit) apply(dst []byte, n event.Node, at event.Path) []byte {
	within := at.IsZero()
	for _, one := range e {
		if !at.IsZero() && one.path.Equal(at) {
			return append(dst, one.text...)
		}
		within = within || at.Contains(one.path)
	}
	switch {
	case within && n.Kind() == event.Object:
		dst = append(dst, '{')
		for name, member := range n.Members() {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			quoted, _ := json.Marshal(name) // a string can always be written as JSON
			dst = append(append(dst, quoted...), ':')
			dst = e.apply(dst, member, at.Member(name))
		}
		return append(dst, '}')
	case within && n.Kind() == event.Array:
		dst = append(dst, '[')
		for i := range n.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.apply(dst, n.Index(i), at.Index(i))
		}
		return append(dst, ']')
	}
	return append(dst, n.Raw()...)
}
