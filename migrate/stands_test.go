package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/tables"
)

// stops fails if err is not a [*migrate.StopError] that says something.
func stops(t *testing.T, err error, part string) {
	t.Helper()
	if stop := (*migrate.StopError)(nil); !errors.As(err, &stop) || !strings.Contains(err.Error(), part) {
		t.Errorf("%v does not stop with %q", err, part)
	}
}

const (
	towns = `ingot: 1
epoch: 2
events:
  town:
    {id: "{id}", at: "{at}", key: {pk: "TOWN#{id}", sk: "TOWN"}, migrated: towns, retain: 900d, offload: {over: 1KB, keep: [name]},
     attributes: {name: name}, indexes: {GSI1: {pk: "NAME#{name}", sk: "{@at}"}}}
`
	townsFile = `migration: 1
name: towns
from: {table: old}
rows: [{type: town, payload: {id: "{pk}", at: "{at}", name: "{name}", level: "{level}", text: "{text}"}}]
`
)

func village(id string, text int) migrate.Row {
	return migrate.Row{"pk": s(id), "at": s("2031-05-05T06:00:00Z"), "name": s("ann"), "level": rows.Number("1"),
		"text": s(strings.Repeat("x", text)), "memo": s("kept")}
}

// A row that can have no copy is refused, by a pass, a comparison and capture, and holds up no
// other: one whose copy would be too large with the names of rows, and one that is too far ahead
// for the payload bucket.
func TestRefusedRows(t *testing.T) {
	mapped, err := load(t, cities, there)
	must.Succeed(t, err)
	large, ahead := city("2", ""), village("2", 2000)
	large["name"] = s(strings.Repeat("x", event.MaxItem-planner.StampRoom-mapped.Map(large).Items[0].Size()))
	ahead["at"] = s("2031-06-05T06:00:00Z")
	for _, c := range []struct {
		pipe, file string
		good, bad  migrate.Row
		want       string
	}{{cities, there, city("1", "ann"), large, "its copy needs"}, {towns, townsFile, village("1", 2000), ahead, "at most 30 days ahead"}} {
		m := beginFrom(t, c.pipe, c.file)
		both := []migrate.Changed{m.row(c.bad), m.row(c.good)}
		done := m.sync.Do(t.Context(), migrate.Always, both)
		if len(done.Left) > 0 || done.Refused != 1 || done.Written-done.Tombstones != 1 {
			t.Errorf("%s: capture has done %+v", c.want, done)
		}
		for range 2 {
			pass, err := m.sync.BeginPass(t.Context())
			m.must(err)
			if done, err := pass.Run(t.Context(), nil); err != nil || done.Refused != 1 {
				t.Errorf("%s: a pass has done %+v, %v", c.want, done, err)
			}
		}
		found, err := m.sync.Compare(t.Context(), m)
		if err != nil || found.Refused != 1 || found.Copies != 1 || !strings.Contains(fmt.Sprint(found.Why), c.want) {
			t.Errorf("%s: %+v, %v", c.want, found, err)
		}
	}
}

// picky is a table that never takes one item, and that takes others only at the second time.
type picky struct {
	tables.Client
	never string
	mu    sync.Mutex
	asked map[string]bool
}

func (p *picky) take(key migrate.Row) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	pk := rows.TextOf(key["PK"]) + rows.TextOf(key["pk"])
	known := p.asked[pk]
	p.asked[pk] = true
	switch {
	case pk == p.never:
		return &smithy.GenericAPIError{Code: "ValidationException"}
	case !known:
		return &types.ConditionalCheckFailedException{}
	}
	return nil
}

func (p *picky) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if err := p.take(in.Item); err != nil {
		return nil, err
	}
	return p.Client.PutItem(ctx, in, o...)
}

// What the table refuses of one row is counted as that row's, however often the others are tried.
func TestRefusedByTheTable(t *testing.T) {
	m := beginFrom(t, cities, there)
	m.config.Client = &picky{Client: m.engine.DynamoDB(), never: "CITY#2", asked: map[string]bool{}}
	m.sync = m.reopened()
	list := []migrate.Changed{m.row(city("1", "ann")), m.row(city("2", "bob")),
		m.row(migrate.Row{"pk": s("none"), "at": s("2031-05-05T06:00:00Z")})}
	if done := m.sync.Do(t.Context(), migrate.Always, list); len(done.Left) > 0 || done.Refused != 2 || done.Written != 1 {
		t.Errorf("%+v", done)
	}
}

// A process that began before its source was deleted and created anew removes nothing from the
// copy.
func TestTableCreatedAnew(t *testing.T) {
	m := returning(t, there+andBack, city("1", "x"), city("2", "x"))
	m.ids["old"] = "anew"
	m.gone("old", cityKey("1"))
	done := m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{{Key: cityKey("1"), Images: []migrate.Row{city("1", "x")}}})
	stops(t, done.Err, "table old was one, and is anew now")
	if len(done.Left) != 1 || m.item("CITY#1", "CITY")["type"] == nil {
		t.Errorf("%+v, and the copy is %v", done, m.item("CITY#1", "CITY"))
	}
	m.ids["old"] = "one"
	m.put("old", city("1", "x"))
	m.turned()
	m.ids[stack.Events] = "anew"
	m.gone(stack.Events, testworld.Key("CITY#2", "CITY"))
	if out := m.captured("old", `{"pk":{"S":"CITY#2"},"at":{"S":"2031-05-05T06:00:00Z"}}`); len(out.BatchItemFailures) != 1 {
		t.Errorf("%+v", out)
	}
	if m.cityAt("2") == nil {
		t.Error("the row is gone")
	}
	for _, c := range []struct{ old, events, want string }{{"anew", "two", "this is old (anew)"}, {"one", "anew", "is anew now"}} {
		source := m.old
		source.ID, source.EventsID = c.old, c.events
		m.old = source
		_, err := m.reopened().Open(t.Context())
		stops(t, err, c.want)
	}
}

// A process whose files say something else of rows does nothing until a pass has begun with them,
// and then those with the files of before do nothing.
func TestOtherFiles(t *testing.T) {
	m := returning(t, there+andBack, city("1", "x"))
	mapped, err := load(t, cities, strings.Replace(there+andBack, `name: "{name}"`, `name: "{memo}"`, 1))
	m.must(err)
	other, err := migrate.NewMigration(mapped, m.old, m.config)
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
	must.Say(t, rows.TextOf(m.item("CITY#1", "CITY")["data"]), `"name":"kept"`)
}

// A pass asks before it removes much.
func TestMuchIsRemovedIfAsked(t *testing.T) {
	var list []migrate.Row
	for i := range 300 {
		list = append(list, city(fmt.Sprint(i), "x"))
	}
	m := returning(t, there+andBack, list...)
	for _, row := range list[:250] {
		m.gone("old", keyOf(row))
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
