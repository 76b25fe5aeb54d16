package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/store/repair"
)

const (
	cities = `ingot: 1
epoch: 1
events:
  city: {id: "{id}", at: "{at}", retain: 60d, key: {pk: "CITY#{id}", sk: "CITY"}, migrated: cities}
`
	town = `  shop: {id: "{id}", at: "{at}", key: {pk: "SHOP#{id}", sk: "SHOP"}, migrated: cities}
  shelf: {id: "{id}#{n}", key: {pk: "SHOP#{id}", sk: "SHELF#{n}"}, part: {of: shop, each: shelves, with: [id]}}
  town: {id: "{id}", at: "{at}", key: {pk: "TOWN#{id}", sk: "TOWN"}, migrated: cities, offload: {over: 1KB}}
`
	there = `migration: 1
name: cities
from: {table: old}
rows:
  - where: kind = "cursor"
    skip: it is not a city
  - type: city
    payload: {id: "{pk | split:2}", at: "{at}", name: "{name}", tags: "{tags}", level: "{level}"}
`
	andBack = `back:
  city: {pk: "CITY#{id}", at: "{at}", name: "{name}", tags: "{tags}", level: "{level}", kind: "city"}
`
)

// A way back needs an entry for each type, and types whose rows it can find.
func TestBackMistakes(t *testing.T) {
	head := "migration: 1\nname: cities\nfrom: {table: old}\nrows:\n"
	for text, want := range map[string]string{
		head + "  - {where: a = 1, type: city}\n  - type: shop\nback: {city: {pk: \"{id}\"}}": "back has no entry for shop, and all types of a " +
			"migration go back together; write shop: {…} in back",
		head + "  - type: town\nback: {town: {pk: \"{id}\"}}": "town has offload: where its payload is gone, nobody knows which row it was",
		head + "  - type: shop\nback: {shop: {pk: \"{id}\"}}": "shop has parts, and a row that is made of several items has no way back",
		there + "back: {city: {pk: \"{@source}\"}, cty: {}}":  "@source is not known here; write a member of the payload, @id, @at or @type",
		there + andBack + "  cty: {pk: \"{id}\"}":             "no rows become cty; write city",
	} {
		_, err := load(t, cities+town, text)
		must.Fail(t, err, want)
	}
}

// returning is a migration with a way back, with rows that are copied and compared.
func returning(t *testing.T, file string, list ...migrate.Row) *moving {
	m := beginFrom(t, cities, file)
	for _, row := range list {
		m.put("old", row)
	}
	m.copied()
	return m
}

func city(id, name string) migrate.Row {
	return migrate.Row{"pk": s("CITY#" + id), "at": s("2031-05-05T06:00:00Z"), "name": s(name), "memo": s("kept"),
		"tags": &types.AttributeValueMemberSS{Value: []string{"a", "b"}}, "level": rows.Number("1")}
}

func cityKey(id string) migrate.Row { return keyOf(city(id, "")) }

func (m *moving) turned() {
	m.t.Helper()
	if state, err := m.sync.Turn(m.t.Context(), migrate.Quiet); err != nil || state != migrate.New {
		m.t.Fatal(state, err)
	}
}

// changed lets capture do a change of a table. After the keys, an image may follow.
func (m *moving) changed(table string, keys string) {
	m.t.Helper()
	if out := m.captured(table, keys); len(out.BatchItemFailures) > 0 {
		m.t.Fatalf("%+v", out)
	}
}

func (m *moving) captured(table string, keys string) migrate.CaptureResponse {
	m.t.Helper()
	capture := &migrate.Capture{Migration: m.sync, OnBatch: func(_ context.Context, c migrate.Captured) { m.putRight = c.PutRight }}
	keys, image, _ := strings.Cut(keys, " ")
	batch := fmt.Sprintf(`{"Records":[{"eventSourceARN":"arn:aws:dynamodb:r:1:table/%s/stream/1","dynamodb":{"SequenceNumber":"1",`+
		`"ApproximateCreationDateTime":%d,"Keys":%s%s}}]}`, table, m.now.Unix(), keys, image)
	out, err := capture.Handle(m.t.Context(), []byte(batch))
	m.must(err)
	return out
}

func (m *moving) cityAt(id string) migrate.Row {
	m.t.Helper()
	return m.rowAt(cityKey(id))
}

func (m *moving) rowAt(key migrate.Row) migrate.Row {
	m.t.Helper()
	return m.at("old", key)
}

// stored stores an event as a producer does, and lets capture bring it back.
func (m *moving) stored(id, more string) {
	m.t.Helper()
	m.storedAt(id, "2031-05-05T06:00:00Z", more)
	m.changed(stack.Events, `{"PK":{"S":"CITY#`+id+`"},"SK":{"S":"CITY"}}`)
}

// storedAt stores an event as a producer does.
func (m *moving) storedAt(id, at, more string) {
	m.t.Helper()
	st := m.store()
	item := m.event(`{"specversion":"1.0","type":"city","source":"s","id":"1","data":{"id":"` + id +
		`","at":"` + at + `"` + more + `}}`)
	if r, _ := st.Put(m.t.Context(), []*event.Item{item}); r[0].Verdict != event.Inserted {
		m.t.Fatal(r[0])
	}
}

func (m *moving) gone(table string, key migrate.Row) {
	m.t.Helper()
	_, err := m.engine.DynamoDB().DeleteItem(m.t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	m.must(err)
}

// After the turn, rows follow their events: only what back names changes, an attribute keeps its
// kind, and what nobody else than the old application knows stays.
func TestRowsFollow(t *testing.T) {
	m := returning(t, there+andBack, city("1", "ann"), city("2", "bob"), migrate.Row{"pk": s("CITY#9"), "at": s("2031-05-05T06:00:00Z"),
		"kind": s("cursor")})
	m.turned()
	key := func(id string) string { return `{"pk":{"S":"CITY#` + id + `"},"at":{"S":"2031-05-05T06:00:00Z"}}` }
	m.stored("3", `,"name":"cat","level":2.50`)
	// A list that is not a set stays a list, also where the row has a set.
	for id, tags := range map[string]string{"5": `["b","a"]`, "6": `["a","a"]`, "0": `[1,1.0]`} {
		m.put("old", city(id, "eve"))
		m.stored(id, `,"name":"eve","level":1,"tags":`+tags)
		if list, ok := m.cityAt(id)["tags"].(*types.AttributeValueMemberL); !ok || len(list.Value) != 2 {
			t.Errorf("%s has become %v", tags, m.cityAt(id))
		}
	}
	// A row stays whose key in the new table holds what is not Ingot's.
	m.put(stack.Events, migrate.Row{"PK": s("CITY#8"), "SK": s("CITY"), "x": s("1")})
	m.put("old", city("8", "fay"))
	m.changed("old", key("8"))
	if m.cityAt("8") == nil {
		t.Error("a row is gone whose key is taken")
	}
	if row := m.cityAt("3"); row == nil || rows.TextOf(row["name"]) != "cat" || row["tags"] != nil ||
		rows.NumberOf(row["level"]) != "2.5" {
		t.Errorf("a new event has the row %v", row)
	}
	// A forgotten job changes a row, makes one, and deletes one.
	changed := city("1", "wrong")
	changed["tags"] = &types.AttributeValueMemberSS{Value: []string{"c"}}
	m.put("old", changed)
	m.put("old", city("4", "dan"))
	m.gone("old", cityKey("2"))
	marked := func(id string) string { return key(id)[:len(key(id))-1] + `,"i:migrated":{"S":"x-y"}}` }
	for id, images := range map[string]string{"1": ` ,"OldImage":` + marked("1") + `,"NewImage":` + marked("1"), // written back whole
		"2": ` ,"OldImage":` + marked("2"), "4": ""} {
		if m.changed("old", key(id)+images); fmt.Sprint(m.putRight) != `[`+key(id)+`]` {
			t.Errorf("what somebody has written is %v, not %s", m.putRight, id)
		}
	}
	// What capture itself has written is in the old table's stream too, and may be older than its
	// event by then.
	m.gone(stack.Events, testworld.Key("CITY#3", "CITY"))
	m.storedAt("3", "2031-05-05T06:00:00Z", `,"name":"carl"`)
	if m.changed("old", key("3")+` ,"NewImage":`+marked("3")); len(m.putRight) > 0 ||
		rows.TextOf(m.cityAt("3")["name"]) != "carl" {
		t.Errorf("capture's own row is put right: %v, %v", m.putRight, m.cityAt("3"))
	}
	row := m.cityAt("1")
	if tags, ok := row["tags"].(*types.AttributeValueMemberSS); !ok || len(tags.Value) != 2 || row["memo"] == nil ||
		rows.TextOf(row["name"]) != "ann" {
		t.Errorf("the row is %v", row)
	}
	if m.cityAt("2") == nil || m.cityAt("4") != nil {
		t.Errorf("a deleted row is %v, one that no event has is %v", m.cityAt("2"), m.cityAt("4"))
	}
	// An erased event takes its row with it, also if it soon expires.
	st := m.store()
	m.now = m.now.Add(60*24*time.Hour - 2*time.Hour - 5*time.Minute)
	_, err := repair.Of(st).Erase(t.Context(), event.Key{PK: "CITY#1", SK: "CITY"})
	m.must(err)
	m.changed("old", key("1"))
	if m.cityAt("1") != nil {
		t.Errorf("its event was erased, and the row is %v", m.cityAt("1"))
	}
	// One that has expired leaves its row to the old application.
	m.gone(stack.Events, testworld.Key("CITY#2", "CITY"))
	m.changed("old", key("2"))
	if m.cityAt("2") == nil || m.cityAt("9") == nil {
		t.Errorf("the row of an expired event is %v, one that is skipped %v", m.cityAt("2"), m.cityAt("9"))
	}
}

// A row that is put back, or whose key moves, keeps what back does not name, and the kinds of its
// attributes. It moves: the old one goes only once the new one is there.
func TestRowsKeepTheirAttributes(t *testing.T) {
	plain := migrate.Row{"pk": s("CITY#3"), "at": s("2031-05-05T06:00:00Z"), "name": s("x"), "kind": s("city")}
	m := returning(t, there+andBack, city("1", "ann"), city("2", "bob"), plain)
	if c, err := m.sync.Compare(t.Context(), m); err != nil || c.Thinner != 2 || !c.Clean() {
		t.Errorf("%+v, %v", c, err)
	}
	m.noted("one")
	m.turned()
	whole := func(what string, row migrate.Row, name string) {
		t.Helper()
		tags, set := row["tags"].(*types.AttributeValueMemberSS)
		if !set || len(tags.Value) != 2 || row["memo"] == nil || rows.TextOf(row["name"]) != name {
			t.Errorf("%s is %v", what, row)
		}
	}
	m.gone("old", cityKey("1"))
	const key = `{"pk":{"S":"CITY#1"},"at":{"S":"2031-05-05T06:00:00Z"}`
	m.changed("old", key+`} ,"OldImage":`+key+`,"name":{"S":"wrong"},"memo":{"S":"kept"},"tags":{"SS":["a","c"]},"level":{"N":"7"}}`)
	whole("a row that was deleted", m.cityAt("1"), "ann")
	// The event of the other one is corrected: its time, which is in the key of its row.
	m.gone(stack.Events, testworld.Key("CITY#2", "CITY"))
	item := city("2", "bob")
	m.storedAt("2", "2031-05-05T07:00:00Z", `,"name":"bob","tags":["a","b"],"level":1`)
	failed := errors.New("no answer")
	moved := migrate.Row{"pk": item["pk"], "at": s("2031-05-05T07:00:00Z")}
	m.on = func(api string, _ any) error { // the first write of the new row fails
		if api == "UpdateItem" {
			defer func() { failed = nil }()
			return failed
		}
		if api == "TransactWriteItems" && m.rowAt(moved) == nil {
			t.Error("the old row goes before the new one is there")
		}
		return nil
	}
	m.changed("old", `{"pk":{"S":"CITY#2"},"at":{"S":"2031-05-05T06:00:00Z"}}`)
	whole("a row that has moved", m.rowAt(moved), "bob")
	if m.cityAt("2") != nil {
		t.Errorf("the old row stays: %v", m.cityAt("2"))
	}
}

// What would not become the same event again, and the place of a row that is not ours, is not
// written, and a comparison says so.
func TestNoRowIsInvented(t *testing.T) {
	m := returning(t, there+andBack, city("1", "ann"), migrate.Row{"pk": s("CITY#9"), "at": s("2031-05-05T06:00:00Z"), "kind": s("cursor")})
	m.turned()
	altered := m.item("CITY#1", "CITY")
	altered["data"] = s(`{"id":"1","at":"2031-05-05T06:00:00Z","name":"bob"}`) // and the digest is left as it was
	m.put(stack.Events, altered)
	m.stored("9", `,"name":"x"`)
	m.stored("7", `,"name":"x","unknown":1`)
	if row := m.cityAt("9"); m.cityAt("7") != nil || row["kind"] == nil || row["name"] != nil {
		t.Errorf("rows %v and %v", row, m.cityAt("7"))
	}
	c, err := m.sync.Compare(t.Context(), m)
	if err != nil || len(c.Differences) != 3 || c.Differences[2].What != "missing in the old table" ||
		c.Differences[0].What != "different" ||
		c.Differences[1].What != "missing in the old table: a row that back makes of its event does not become the same event" {
		t.Errorf("%+v, %v", c, err)
	}
}

// Before the turn, a comparison names rows that back would not bring back.
func TestOneWayRowsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		`back: {city: {pk: "CITY#{id}", at: "{at}", name: "{name}", tags: "{tags}"}}`: "does not become the same event",
		`back: {city: {pk: "C#{id}", at: "{at}"}}`:                                    "another key",
		`back: {city: {pk: "CITY#{id}"}}`:                                             "makes no key",
		`back: {city: {pk: "CITY#{nobody}", at: "{at}"}}`:                             "nobody",
	} {
		m := returning(t, there+text+"\n", city("1", "ann"))
		c, err := m.sync.Compare(t.Context(), m)
		if err != nil || c.OneWay != 1 || c.Clean() || !strings.Contains(fmt.Sprint(c.Why), want) || len(c.Named) != 1 ||
			c.Named[0].Kind != migrate.NamedOneWay || c.Named[0].Name != `{"pk":{"S":"CITY#1"},"at":{"S":"2031-05-05T06:00:00Z"}}` {
			t.Errorf("%s: %+v, %v", text, c, err)
		}
	}
}

// Going back takes two steps, each of which may be repeated, and refuses what would lose an event.
func TestBack(t *testing.T) {
	m := returning(t, there, city("1", "ann"))
	back := func(want string, says string) {
		t.Helper()
		state, err := m.sync.Back(t.Context(), migrate.Quiet)
		stop := (*migrate.StopError)(nil)
		if state != want || (says == "") != (err == nil) || err != nil && (!errors.As(err, &stop) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s, %v; want %s, %q", state, err, want, says)
		}
	}
	back("", "has no back")
	m = returning(t, there+andBack, city("1", "ann"))
	back(migrate.Old, "")
	m.turned()
	m.stored("2", `,"name":"bob"`)
	back(migrate.New, "capture is not proven to have read")
	sync := m.sync
	m.old.Events = ""
	m.sync = m.reopened()
	back(migrate.New, "has no stream, so nobody knows what is stored there")
	m.sync = sync
	m.noted("new one")
	back(migrate.New, "no longer counts")
	m.compared()
	m.noted("new one")
	m.before("UpdateItem", func() { m.stored("7", `,"name":"x","unknown":1`) }) // which has no row
	back(migrate.Draining, "go back again")
	back(migrate.New, "no longer counts")
	m.gone(stack.Events, testworld.Key("CITY#7", "CITY"))
	m.compared()
	m.noted("new one")
	back(migrate.Draining, "")
	back(migrate.Draining, "go on once capture has read that far")
	_, err := m.sync.Turn(t.Context(), migrate.Quiet)
	must.Fail(t, err, "on their way back")
	st := m.store()
	item := m.event(`{"specversion":"1.0","type":"city","source":"s","id":"1","data":{"id":"5",` +
		`"at":"2031-05-05T06:00:00Z"}}`)
	if r, _ := st.Put(t.Context(), []*event.Item{item}); r[0].Verdict != event.Rejected {
		t.Errorf("a message on the way back is %v", r[0].Verdict)
	}
	m.now = m.now.Add(25 * time.Hour) // the stream keeps 24
	m.noted("new one")
	back(migrate.Draining, "run `ingot migrate compare`")
	m.gone("old", cityKey("2")) // what is only in the new table would be lost
	m.compared()
	back(migrate.Draining, "the last comparison found 1 differences")
	m.changed(stack.Events, `{"PK":{"S":"CITY#2"},"SK":{"S":"CITY"}}`)
	m.compared()
	m.slept = 0
	back(migrate.Old, "")
	must.Equal(t, m.slept, 30*time.Second)
	back(migrate.Old, "")
	if way, err := m.sync.Open(t.Context()); way != migrate.Forward || err != nil || m.cityAt("2") == nil {
		t.Errorf("%d, %v, %v", way, err, m.cityAt("2"))
	}
	c, err := m.sync.Control(t.Context())
	if err != nil || !c.Compared.IsZero() || !c.Captured.IsZero() || c.State("city") != migrate.Old {
		t.Errorf("evidence is left: %+v, %v", c, err)
	}
	// What was an event stays one: what its row does is counted and published. A new row is a copy.
	for id, epoch := range map[string]string{"2": "1", "6": "0"} {
		m.put("old", city(id, "eve"))
		m.changed("old", `{"pk":{"S":"CITY#`+id+`"},"at":{"S":"2031-05-05T06:00:00Z"}}`)
		item := m.item("CITY#"+id, "CITY")
		if got := rows.NumberOf(item["epoch"]); got != epoch ||
			!strings.Contains(rows.TextOf(item["data"]), "eve") {
			t.Errorf("%s has epoch %s, want %s: %v", id, got, epoch, item)
		}
	}
}

// before does something once, just before the next request of a kind.
func (m *moving) before(api string, do func()) {
	m.on = func(asked string, _ any) error {
		if asked == api {
			m.on = nil
			do()
		}
		return nil
	}
}

// A pass never goes on the other way after a turn.
func TestPassKeepsItsWay(t *testing.T) {
	m := returning(t, there+andBack, city("1", "ann"))
	pass, err := m.sync.BeginPass(t.Context())
	m.must(err)
	_, err = pass.Run(t.Context(), nil)
	m.must(err)
	m.compared()
	m.noted("one")
	m.turned()
	if _, err := pass.Run(t.Context(), nil); !errors.Is(err, migrate.ErrOvertaken) {
		t.Error(err)
	}
}

// A turn waits until the old table has been silent.
func TestTurnNeedsSilence(t *testing.T) {
	m := returning(t, there, city("1", "ann"))
	m.put("old", city("2", "bob"))
	m.changed("old", `{"pk":{"S":"CITY#2"},"at":{"S":"2031-05-05T06:00:00Z"}}`)
	_, err := m.sync.Turn(t.Context(), migrate.Quiet)
	must.Fail(t, err, "the old table was written at", "15m10s between the two: --quiet, and the 10s to which the time of a change is known")
	m.now = m.now.Add(migrate.Quiet + time.Minute)
	m.noted("one")
	m.turned()
}
