package planner

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/values"
	"github.com/ingot-events/ingot/keys"
)

// definitionForm is a generation as canonical text. Its fields are in byte order of their names.
type definitionForm struct {
	AtLeast  map[string]string   `json:"atLeast,omitempty"`
	AtMost   map[string]string   `json:"atMost,omitempty"`
	By       map[string]string   `json:"by"`
	From     map[string]fromForm `json:"from"`
	MovedBy  string              `json:"movedBy,omitempty"`
	Name     string              `json:"name"`
	OnExpire string              `json:"onExpire"`
	Rank     *rankForm           `json:"rank,omitempty"`
	Retain   int64               `json:"retain"`
	Since    int64               `json:"since"`
	Spread   int                 `json:"spread"`
	Window   any                 `json:"window"` // seconds, or "1mo" or "1y"
}

type rankForm struct {
	Shards int      `json:"shards"`
	Value  string   `json:"value"`
	Within []string `json:"within,omitempty"`
}

type fromForm struct {
	Values map[string]string `json:"values"`
	Where  string            `json:"where,omitempty"`
}

// DefinitionText returns the canonical text of a generation. It is one JSON object without white
// space, and its members are in byte order:
//
//	atLeast   name -> the number that the value may not fall below, if there are any
//	atMost    name -> the number that the value may not rise above, if there are any
//	by        name -> template, each {…} as {path|fn:arg} without spaces
//	from      event type -> {"values": name -> expression, "where": condition, if there is one}
//	movedBy   "put", if the put moves the totals
//	name, since, spread
//	onExpire  "keep" or "subtract"
//	rank      {"shards": a number, "value": a name, "within": names of by, if there are any}, if
//	          the totals are ranked
//	retain    seconds; 0: for ever
//	window    seconds; 0: no window; "1mo" or "1y": months or years of the calendar
//
// Layout, comments, member order, quoting and the spelling of numbers and durations in the file do
// not change it. Anything that changes what is counted does. The text is stored with the
// generation's head.
func DefinitionText(def *aggregate.Definition, by []*keys.Template, feeds map[string]*Feed) string {
	text := definitionForm{
		By: map[string]string{}, From: map[string]fromForm{}, Name: def.Name, OnExpire: def.OnExpire.String(),
		Retain: int64(def.Retain / time.Second), Since: def.Since, Spread: def.Spread, Window: int64(def.Window / time.Second),
	}
	if def.Months > 0 {
		text.Window = lifetime.FormatWindow(WindowOf(def))
	}
	if def.MovedBy == aggregate.Put {
		text.MovedBy = def.MovedBy.String()
	}
	text.AtLeast, text.AtMost = limitTexts(def.Limits(false)), limitTexts(def.Limits(true))
	if def.Rank.Value != "" {
		text.Rank = &rankForm{def.Rank.Shards, def.Rank.Value, def.Rank.Within}
	}
	for i, t := range by {
		text.By[def.By[i]] = t.Canonical()
	}
	for name, f := range feeds {
		from := fromForm{Values: map[string]string{}, Where: f.Where.String()}
		for i, v := range f.Values {
			if v.Set {
				from.Values[def.Values[i].Name] = v.String()
			}
		}
		text.From[name] = from
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("planner: text and numbers that JSON cannot hold: " + err.Error()) // cannot happen
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func limitTexts(limits map[string]event.Decimal) map[string]string {
	texts := map[string]string{}
	for name, limit := range limits {
		texts[name] = limit.String()
	}
	return texts
}

// Earlier returns the definition of an earlier generation, made from its canonical text, if the
// same questions find its totals: it groups by the same templates over the same windows, and a rank
// puts the same totals into the same order. ok is false otherwise.
func Earlier(d *aggregate.Definition, since int64, text string) (earlier *aggregate.Definition, ok bool) {
	var own, was definitionForm
	if json.Unmarshal([]byte(d.Text), &own) != nil || json.Unmarshal([]byte(text), &was) != nil ||
		!maps.Equal(own.By, was.By) || own.Window != was.Window || !own.Rank.sameOrder(was.Rank) {
		return nil, false
	}
	ops := map[string]aggregate.Op{}
	for _, from := range was.From {
		for name, expression := range from.Values {
			v, mistake := values.Parse(expression)
			if mistake != nil {
				return nil, false
			}
			ops[name] = v.Op
		}
	}
	old := *d
	old.Since, old.Text, old.Spread, old.Values, old.Bounds = since, text, was.Spread, nil, nil
	if own.Rank != nil {
		old.Rank.Shards = was.Rank.Shards
	}
	for _, name := range slices.Sorted(maps.Keys(ops)) {
		old.Values = append(old.Values, aggregate.Value{Name: name, Op: ops[name]})
	}
	return &old, true
}

// sameOrder reports whether two ranks have the same lists in the same order. nil is no rank, which
// asks for no list.
func (r *rankForm) sameOrder(was *rankForm) bool {
	return r == nil || was != nil && r.Value == was.Value && slices.Equal(r.Within, was.Within)
}

// WindowOf returns the window as the file declares it.
func WindowOf(def *aggregate.Definition) time.Duration {
	switch def.Months {
	case 0:
		return def.Window
	case 1:
		return lifetime.Month
	}
	return lifetime.Year
}
