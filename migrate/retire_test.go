package migrate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/store/repair"
)

// A migration that is over leaves no tombstones. Before it is over, the error says what stands in
// the way, and nothing is deleted.
func TestRetire(t *testing.T) {
	m := beginWith(t, users+"aggregates:\n  names: {since: 3, from: {user.profile: {values: {users: count}}}}\n")
	st := m.store()
	m.must(st.Start(t.Context()))
	for _, account := range []string{"1", "2", "3", "4"} {
		row := profile(account, "ann")
		m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{m.row(row)})
		if account == "1" {
			continue
		}
		m.gone("old", keyOf(row))
		m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{{Key: row, Images: []migrate.Row{row}}})
	}
	_, err := repair.Of(st).Erase(t.Context(), event.Key{PK: "ACCOUNT#4", SK: "USER"})
	m.must(err)
	late, asked := 1, time.Time{}
	retire := func(want int, says string) {
		t.Helper()
		swept, err := m.sync.Retire(t.Context(), m.engine.DynamoDB(), func(_ context.Context, since time.Time) (int, error) {
			asked = since
			return late, nil
		})
		stop := (*migrate.StopError)(nil)
		if swept != want || (says == "") != (err == nil) || err != nil && (!errors.As(err, &stop) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%d, %v; want %d, %q", swept, err, want, says)
		}
	}
	retire(0, "have not turned")
	m.copied()
	captured := m.now
	m.now = m.now.Add(time.Minute)
	state, err := m.sync.Turn(t.Context(), migrate.Quiet)
	m.must(err)
	must.Equal(t, state, migrate.New)
	retire(0, "may live for 15m0s")
	m.now = m.now.Add(time.Hour)
	retire(0, "names is not complete: run `ingot rebuild names` first")
	def, _ := m.config.Pipeline.Definition("names")
	touch, err := repair.Of(st).BeginPass(t.Context(), def)
	m.must(err)
	m.must(repair.Of(st).ClearBuilding(t.Context(), def, touch.Behind))
	retire(0, "somebody has written 1 rows of table old since capture was over")
	if !asked.Equal(captured) {
		t.Errorf("asked for changes since %s, and capture was over at %s", asked, captured)
	}
	late = 0
	item := m.event(`{"specversion":"1.0","type":"user.profile","source":"s","id":"1","data":` +
		`{"account":"2","created":"2031-05-05T06:00:00Z","name":"bob","phones":[]}}`)
	if r, _ := st.Put(t.Context(), []*event.Item{item}); r[0].Verdict != event.Inserted { // in place of a tombstone
		t.Errorf("%+v", r[0])
	}
	retire(1, "")
	retire(0, "")
	if m.item("ACCOUNT#2", "USER")["type"] == nil || m.item("ACCOUNT#3", "USER") != nil || m.item("ACCOUNT#4", "USER")["i:barred"] == nil {
		t.Error("an event, or a bar, is gone, or a tombstone is left")
	}
	if c, err := m.sync.Control(t.Context()); err != nil || !c.Retired.Equal(m.now) {
		t.Errorf("%+v, %v", c, err)
	}
}

// A tombstone that a producer takes between the look and the delete stays.
func TestSweepDeletesWhatItSaw(t *testing.T) {
	m := begin(t)
	m.put(stack.Aggregates, migrate.Row{"PK": s("M#users"), "SK": s("-"), "from": s("old"), "table": s("one"),
		"state:user.profile": s("new")})
	key := migrate.Row{"PK": s("ACCOUNT#1"), "SK": s("USER")}
	for _, taken := range []migrate.Row{{"i:migrated": s("a"), "type": s("user.profile")}, {"type": s("user.profile")},
		{"i:migrated": s("b")},
		{"i:migrated": s("a"), "i:barred": &types.AttributeValueMemberBOOL{Value: true}}} {
		m.put(stack.Events, migrate.Row{"PK": key["PK"], "SK": key["SK"], "i:migrated": s("a")})
		taken["PK"], taken["SK"] = key["PK"], key["SK"]
		swept, err := m.sync.Retire(t.Context(), taker{m, taken}, func(context.Context, time.Time) (int, error) { return 0, nil })
		if err != nil || swept != 0 || m.item("ACCOUNT#1", "USER") == nil {
			t.Errorf("%v: swept %d, %v", taken, swept, err)
		}
	}
}

// taker puts an item just before a delete.
type taker struct {
	*moving
	item migrate.Row
}

func (d taker) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	d.put(stack.Events, d.item)
	return d.engine.DynamoDB().DeleteItem(ctx, in, options...)
}
