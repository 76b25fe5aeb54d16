package pipeline

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/declare"
)

// goBase returns base as Go values.
func goBase() Spec {
	return Spec{
		Ingot: 1, Epoch: 2, Type: "{type}",
		Events: map[string]EventSpec{
			"placed": {
				ID: "{shop}#{order}", At: "{placed_at}", Key: KeySpec{PK: "SHOP#{shop}", SK: "ORDER#{order}"},
				Indexes:    map[string]IndexSpec{"GSI1": {PK: "DAY#{@at | day}", SK: "{@id}"}},
				Attributes: map[string]string{"status": "status"}, Retain: 90 * 24 * time.Hour, Ignore: []string{"trace"},
			},
			"moved": {ID: "{parcel}", At: "{moved_at}", Key: KeySpec{PK: "PARCEL#{parcel}", SK: "-"}, Mode: "latest",
				Revision: "moved_at time"},
		},
		Aggregates: map[string]AggregateSpec{
			"daily": {
				Since: 2, By: map[string]string{"shop": "{shop}"}, Window: 24 * time.Hour, OnExpire: "keep", Spread: 4,
				Retain: 400 * 24 * time.Hour,
				From: map[string]FromSpec{"placed": {Where: "total > 0",
					Values: map[string]string{"orders": "count", "revenue": "sum total", "largest": "max total"}}},
			},
			"live": {Since: 1, From: map[string]FromSpec{"moved": {Values: map[string]string{"parcels": "count", "weight": "sum weight"}}},
				OnExpire: "subtract"},
		},
	}
}

func TestNewIsLoad(t *testing.T) {
	r := declare.NewReport("p.yaml")
	if spec := decode([]byte(base), r); !reflect.DeepEqual(spec, goBase()) || len(r.Mistakes) > 0 {
		t.Errorf("%v\n%+v", r.Mistakes, spec)
	}
	a, err := New(goBase())
	must.Succeed(t, err)
	b := mustLoad(t, base)
	if one, other := a.Describe(), b.Describe(); !reflect.DeepEqual(one.Spec, other.Spec) {
		t.Errorf("%+v, %+v", one.Spec, other.Spec)
	}
	const body = `{"type":"placed","shop":"s","order":1,"placed_at":"2099-01-01T00:00:00Z","total":5}`
	x, err := a.Plan(envelope.Message{Body: body})
	must.Succeed(t, err)
	y, err := b.Plan(envelope.Message{Body: body})
	if err != nil || !reflect.DeepEqual(x, y) {
		t.Errorf("%v: %+v, %+v", err, x, y)
	}
}

func TestNewNamesTheMember(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Ingot = 0 }, "ingot: ingot: 0 is not a file format that this build reads: it reads 1; write ingot: 1"},
		{func(s *Spec) { s.Epoch = 0 }, "epoch: epoch is 0"},
		{func(s *Spec) { s.Events = nil; s.Aggregates = nil }, "events: no event type is declared"},
		{func(s *Spec) {
			e := s.Events["moved"]
			e.Key.SK = ""
			s.Events["moved"] = e
		}, "events.moved.key.sk: sk is empty"},
		{func(s *Spec) {
			e := s.Events["placed"]
			e.Retain = -time.Second
			s.Events["placed"] = e
		}, "events.placed.retain: retain is less than 1h"},
		{func(s *Spec) {
			e := s.Events["placed"]
			e.Schema = "x"
			s.Events["placed"] = e
		}, "events.placed.schema: schema is a path, and only a file can name one; write the text of the schema"},
		{func(s *Spec) {
			a := s.Aggregates["daily"]
			a.Window = time.Second / 2
			s.Aggregates["daily"] = a
		}, "aggregates.daily.window: window is 500ms"},
		{func(s *Spec) {
			a := s.Aggregates["daily"]
			a.Spread = -1
			s.Aggregates["daily"] = a
		}, "aggregates.daily.spread: spread is -1"},
		{func(s *Spec) {
			a := s.Aggregates["daily"]
			a.Since = 0
			s.Aggregates["daily"] = a
		}, "aggregates.daily.since: since is 0"},
	} {
		s := goBase()
		c.change(&s)
		_, err := New(s)
		var ms Mistakes
		if !errors.As(err, &ms) || !strings.HasPrefix(ms[0].String(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
