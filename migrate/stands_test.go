package migrate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate"
)

// stops fails if err is not a [*migrate.StopError] that says something.
func stops(t *testing.T, err error, part string) {
	t.Helper()
	if stop := (*migrate.StopError)(nil); !errors.As(err, &stop) || !strings.Contains(err.Error(), part) {
		t.Errorf("%v does not stop with %q", err, part)
	}
}

// A process that began before its source was deleted and created anew removes nothing from the
// copy.
func TestTableCreatedAnew(t *testing.T) {
	m := returning(t, there+andBack, city("1", "x"), city("2", "x"))
	key := func(id string) migrate.Row { return migrate.Row{"pk": s("CITY#" + id), "at": city(id, "")["at"]} }
	m.ids["old"] = "anew"
	m.gone("old", key("1"))
	done := m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{{Key: key("1"), Images: []migrate.Row{city("1", "x")}}})
	stops(t, done.Err, "table old was one, and is anew now")
	if len(done.Left) != 1 || m.item("CITY#1", "CITY")["type"] == nil {
		t.Errorf("%+v, and the copy is %v", done, m.item("CITY#1", "CITY"))
	}
	m.ids["old"] = "one"
	m.put("old", city("1", "x"))
	m.turned()
	m.ids[stack.Events] = "anew"
	m.gone(stack.Events, migrate.Row{"PK": s("CITY#2"), "SK": s("CITY")})
	if out := m.captured("old", `{"pk":{"S":"CITY#2"},"at":{"S":"2031-05-05T06:00:00Z"}}`); len(out.BatchItemFailures) != 1 {
		t.Errorf("%+v", out)
	}
	if m.cityAt("2") == nil {
		t.Error("the row is gone")
	}
	for _, c := range []struct{ old, events, want string }{{"anew", "two", "this is old (anew)"}, {"one", "anew", "is anew now"}} {
		source := m.old
		source.ID, source.EventsID = c.old, c.events
		mapped, err := load(t, cities, there+andBack)
		m.must(err)
		other, err := migrate.NewSync(mapped, source, m.config)
		m.must(err)
		_, err = other.Open(t.Context())
		stops(t, err, c.want)
	}
}

// A process whose files say something else of rows does nothing until a pass has begun with them,
// and then those with the files of before do nothing.
func TestOtherFiles(t *testing.T) {
	m := returning(t, there+andBack, city("1", "x"))
	mapped, err := load(t, cities, strings.Replace(there+andBack, `name: "{name}"`, `name: "{memo}"`, 1))
	m.must(err)
	other, err := migrate.NewSync(mapped, m.old, m.config)
	m.must(err)
	const want = "began with another migration.yaml"
	_, err = other.Open(t.Context())
	stops(t, err, want)
	_, err = other.Compare(t.Context(), m)
	stops(t, err, want)
	_, err = other.Turn(t.Context(), 0)
	stops(t, err, want)
	pass, err := other.BeginPass(t.Context())
	m.must(err)
	_, err = pass.Run(t.Context(), nil)
	m.must(err)
	_, err = m.sync.Open(t.Context())
	stops(t, err, want)
	if got := rows.TextOf(m.item("CITY#1", "CITY")["data"]); !strings.Contains(got, `"name":"kept"`) {
		t.Errorf("the copy is %s", got)
	}
}

// A pass asks before it removes much.
func TestMuchIsRemovedIfAsked(t *testing.T) {
	var list []migrate.Row
	for i := range 300 {
		list = append(list, city(fmt.Sprint(i), "x"))
	}
	m := returning(t, there+andBack, list...)
	for _, row := range list[:250] {
		m.gone("old", migrate.Row{"pk": row["pk"], "at": row["at"]})
	}
	pass, err := m.sync.BeginPass(t.Context())
	m.must(err)
	done, err := pass.Run(t.Context(), nil)
	stops(t, err, "--remove")
	if done.Tombstones <= 100 || done.Tombstones > 200 {
		t.Errorf("%d copies are gone", done.Tombstones)
	}
	pass, err = m.sync.BeginPass(t.Context())
	m.must(err)
	pass.Remove = true
	if done, err = pass.Run(t.Context(), nil); err != nil || done.Tombstones < 50 || m.slept != 0 {
		t.Errorf("%+v, %v, after %s", done, err, m.slept)
	}
}
