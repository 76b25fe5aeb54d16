package migrate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

const (
	users = `ingot: 1
epoch: 3
events:
  user.profile:
    id: "{account}"
    at: "{created}"
    retain: 60d
    key: {pk: "ACCOUNT#{account}", sk: "USER"}
    indexes: {GSI1: {pk: "NAME#{name}", sk: "{@at | day}"}}
    migrated: users
  user.phone:
    id: "{account}#{number}"
    key: {pk: "ACCOUNT#{account}", sk: "PHONE#{number}"}
    part: {of: user.profile, each: phones, with: [account]}
  other: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "OTHER"}}
`
	usersFile = `migration: 1
name: users
from: {table: old}
rows:
  - where: kind = "session"
    skip: sessions are not carried over
  - type: user.profile
    payload: {account: "{pk | split:2}", created: "{at}", name: "{name}", phones: "{phones}"}
`
)

func load(t testing.TB, pipe, file string) (*rowmap.Mapping, error) {
	t.Helper()
	p := written.Pipeline(t, pipe)
	return rowmap.Load(fstest.MapFS{"m.yaml": {Data: []byte(file)}}, "m.yaml", p)
}

// All mistakes are told at once, each with its place and with what to write.
func TestMistakes(t *testing.T) {
	_, err := load(t, users, `migration: 1
name: Users!
from: {tabel: old}
rows:
  - type: user.profil
  - where: kind =
    type: other
  - {}
  - type: user.phone
    payload: {id: "{@id}", x: "{x"}
`)
	var mistakes pipeline.Mistakes
	if !errors.As(err, &mistakes) {
		t.Fatal(err)
	}
	for _, want := range []string{
		`m.yaml:2:7: "Users!" is not a name of at most 40 lower-case letters, digits and -; write another name, such as users`,
		`m.yaml:3:8: unknown name tabel; write table`,
		`m.yaml:5:11: the pipeline has no event type user.profil; write user.profile`,
		`m.yaml:6:5: rows[1] never takes a row, because rows[0] has no where and takes all; write it before that one`,
		`m.yaml:7:11: events.other of the pipeline does not say that migration Users! moves rows into it`,
		`m.yaml:8:5: an entry says what its rows become, or why they are skipped; write either type or skip`,
		`m.yaml:9:11: user.phone is a part of user.profile, and a row becomes a whole with its parts; write user.profile`,
		`m.yaml:10:19: @id is not known of a row`,
		`m.yaml:10:32: the brace that opens here is not closed; write {x}`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	for text, want := range map[string]string{
		"":                 "m.yaml:1:1: the file declares nothing; write migration: 1, name:, from: and rows:",
		"migration: 2\nx:": "m.yaml:1:12: migration: 2 is not a format that this build reads: it reads 1; write migration: 1",
		"- a":              "m.yaml:1:1: the file is a list, not a mapping",
		"migration: 1\nname: users\nfrom: {table: old}\nrows: [{skip: no}]": "m.yaml:4:7: no rows become user.profile, and the pipeline " +
			"holds its messages back until migration users turns it",
		"migration: 1\nname: users\nfrom: {table: old}\nrows: [{type: user.profile}, {skip: no}]": "rows[0] has no where and takes all; " +
			"write one of the two",
	} {
		_, err := load(t, users, text)
		must.Fail(t, err, want)
	}
}

// A row becomes JSON without any loss, and then an event with its parts.
func TestRowsAreMapped(t *testing.T) {
	row := migrate.Row{
		"n":    rows.Number("12345678901234567890123456789012345678"),
		"null": &types.AttributeValueMemberNULL{Value: true},
		"b":    rows.Binary([]byte{0, 255}), "t": &types.AttributeValueMemberBOOL{Value: true},
		"ss": &types.AttributeValueMemberSS{Value: []string{"b", "a\""}},
		"ns": &types.AttributeValueMemberNS{Value: []string{"10", "9", "-1"}},
		"bs": &types.AttributeValueMemberBS{Value: [][]byte{{2}, {1}}},
		"m": &types.AttributeValueMemberM{Value: migrate.Row{"z": s("é"), "a": &types.AttributeValueMemberL{
			Value: []types.AttributeValue{s(""), rows.Number("1E+30")}}}},
	}
	const want = `{"b":"AP8=","bs":["AQ==","Ag=="],"m":{"a":["",1E+30],"z":"é"},"n":12345678901234567890123456789012345678,"ns":[-1,9,10],` +
		`"null":null,"ss":["a\"","b"],"t":true}`
	if got, err := rowmap.JSON(row); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	m, err := load(t, users, usersFile)
	must.Succeed(t, err)
	got := m.Map(profile("7", "ann", "+1", "+2"))
	if got.Refusal != nil || got.Entry != 1 || len(got.Items) != 3 {
		t.Fatalf("%+v", got)
	}
	must.Equal(t, string(got.Payload), `{"account":"7","created":"2031-05-05T06:00:00Z","name":"ann","phones":[{"number":"+1"},{"number":"+2"}]}`)
	if fmt.Sprint(got.Untaken) != "[]" || fmt.Sprint(m.Map(migrate.Row{"pk": s("A#1"), "memo": s("")}).Untaken) != "[memo]" {
		t.Errorf("no template takes %v", got.Untaken)
	}
	must.Equal(t, got.Items[2].Key, (event.Key{PK: "ACCOUNT#7", SK: "PHONE#+2"}))
	skip := m.Map(migrate.Row{"pk": s("USER#1"), "kind": s("session")})
	if skip.Skip != "sessions are not carried over" || skip.Items != nil {
		t.Errorf("%+v", skip)
	}
	if bad := m.Map(migrate.Row{"pk": s("USER")}); bad.Refusal == nil || !strings.Contains(bad.Refusal.Detail, "too few pieces") {
		t.Errorf("%+v", bad)
	}
}

var s = rows.Text

func profile(account, name string, phones ...string) migrate.Row {
	list := []types.AttributeValue{}
	for _, n := range phones {
		list = append(list, &types.AttributeValueMemberM{Value: migrate.Row{"number": s(n)}})
	}
	return migrate.Row{"pk": s("USER#" + account), "at": s("2031-05-05T06:00:00Z"), "name": s(name),
		"phones": &types.AttributeValueMemberL{Value: list}}
}

// moving is a table that moves, on the engine.
type moving struct {
	t      *testing.T
	now    time.Time
	slept  time.Duration
	engine *embedded.Engine
	sync   *migrate.Migration
	config tables.Config
	old    migrate.Source
	ids    ids
	mapped *rowmap.Mapping
	on     func(api string, in any) error // asked before each request; nil: none is refused

	putRight []string // of the last batch
}

// ids describes tables by their TableId alone.
type ids map[string]string

func (i ids) DescribeTable(_ context.Context, in *dynamodb.DescribeTableInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return &dynamodb.DescribeTableOutput{Table: &types.TableDescription{TableId: aws.String(i[*in.TableName])}}, nil
}

func begin(t *testing.T) *moving { return beginWith(t, users) }

func beginWith(t *testing.T, pipe string) *moving { return beginFrom(t, pipe, usersFile) }

func beginFrom(t *testing.T, pipe, file string) *moving {
	t.Helper()
	m := &moving{t: t, now: must.Time("2031-05-05T08:00:00Z")}
	m.engine = embedded.New(embedded.Config{Now: func() time.Time { return m.now },
		Intercept: func(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
			if m.on != nil {
				if err := m.on(api, in); err != nil {
					return nil, err
				}
			}
			return call()
		}})
	var err error
	m.mapped, err = load(t, pipe, file)
	m.must(err)
	_, err = stack.New(t.Context(), m.engine, stack.Config{Indexes: []string{"GSI1"}, Offload: true})
	m.must(err)
	_, err = stack.Table{Name: "old", Keys: [2]string{"pk", "at"}}.Create(t.Context(), m.engine.DynamoDB())
	m.must(err)
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(pipe)}}, "p.yaml")
	m.must(err)
	m.ids = ids{"old": "one", stack.Events: "two"}
	m.old = migrate.Source{Client: m.engine.DynamoDB(), Describer: m.ids, Table: "old", Keys: []string{"pk", "at"}, ID: "one",
		EventsID: "two", Stream: "one", Events: "new"}
	m.config = tables.Config{Objects: m.engine.S3(), PayloadBucket: stack.Payloads, Client: m.engine.DynamoDB(),
		Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates, Env: env.Env{
			Now: func() time.Time { return m.now },
			Sleep: func(_ context.Context, d time.Duration) error {
				m.now, m.slept = m.now.Add(d), m.slept+d
				return nil
			},
			Deadline: func(ctx context.Context, _ time.Time) (context.Context, context.CancelFunc) {
				return context.WithCancel(ctx)
			},
		}}
	m.sync = m.reopened()
	_, err = m.sync.Begin(t.Context())
	m.must(err)
	return m
}

func (m *moving) must(err error) {
	m.t.Helper()
	must.Succeed(m.t, err)
}

// reopened returns the migration as another process opens it.
func (m *moving) reopened() *migrate.Migration {
	m.t.Helper()
	sync, err := migrate.NewMigration(m.mapped, m.old, m.config)
	m.must(err)
	return sync
}

func (m *moving) compared() {
	m.t.Helper()
	_, err := m.sync.Compare(m.t.Context(), m)
	m.must(err)
}

// noted says that capture has read a stream until now.
func (m *moving) noted(stream string) {
	m.t.Helper()
	m.must(m.sync.NoteCaptured(m.t.Context(), stream, m.now))
}

// event plans a message.
func (m *moving) event(body string) *event.Item {
	m.t.Helper()
	item, err := m.config.Pipeline.Plan(envelope.Message{Body: body})
	m.must(err)
	return item
}

func (m *moving) store() *store.Store {
	m.t.Helper()
	st, err := store.New(m.config)
	m.must(err)
	return st
}

// keyOf returns the key of a row.
func keyOf(row migrate.Row) migrate.Row { return migrate.Row{"pk": row["pk"], "at": row["at"]} }

func (m *moving) put(table string, img migrate.Row) {
	m.t.Helper()
	_, err := m.engine.DynamoDB().PutItem(m.t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: img})
	m.must(err)
}

// copied runs a pass, compares the tables, and notes that capture has gone on.
func (m *moving) copied() {
	m.t.Helper()
	m.must(m.sync.NoteStream(m.t.Context(), "one"))
	m.now = m.now.Add(migrate.Quiet + 10*time.Second) // for so long nothing was written
	pass, err := m.sync.BeginPass(m.t.Context())
	m.must(err)
	_, err = pass.Run(m.t.Context(), nil)
	m.must(err)
	m.compared()
	m.noted("one")
}

// row puts a row and returns that it has changed.
func (m *moving) row(row migrate.Row) migrate.Changed {
	m.t.Helper()
	m.put("old", row)
	return migrate.Changed{Key: keyOf(row), Images: []migrate.Row{row}}
}

// item returns what the new table holds under a key.
func (m *moving) item(pk, sk string) migrate.Row {
	m.t.Helper()
	return m.at(stack.Events, testworld.Key(pk, sk))
}

func (m *moving) at(table string, key migrate.Row) migrate.Row {
	m.t.Helper()
	out, err := m.engine.DynamoDB().GetItem(m.t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: key})
	m.must(err)
	return out.Item
}

// A row with parts is copied with them, and a part that is gone leaves a tombstone. A batch of rows
// takes one request for all copies, one for all rows, and one for each write.
func TestSync(t *testing.T) {
	m := begin(t)
	var changed []migrate.Changed
	for i := range 30 {
		changed = append(changed, m.row(profile(fmt.Sprint(i), "ann", "+1", "+2")))
	}
	before := m.engine.Usage().Requests
	done := m.sync.Do(t.Context(), migrate.Always, changed)
	requests := 0
	for api, n := range m.engine.Usage().Requests {
		requests += int(n - before[api])
	}
	if done.Written != 90 || len(done.Left) > 0 || requests != 92 {
		t.Errorf("%+v, after %d requests", done, requests)
	}
	img := m.item("ACCOUNT#3", "PHONE#+2")
	if img["i:row"] == nil || rows.NumberOf(img["epoch"]) != "0" || img["i:migrated"] == nil {
		t.Errorf("%v", img)
	}
	first := img["i:migrated"]
	again := m.row(profile("3", "ann", "+2"))
	again.Images = append(again.Images, profile("3", "ann", "+1", "+2")) // what the stream says it was
	if done := m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{again}); done.Written != 3 || done.Tombstones != 1 {
		t.Errorf("%+v", done)
	}
	if gone := m.item("ACCOUNT#3", "PHONE#+1"); len(gone) != 3 || gone["i:migrated"] == nil {
		t.Errorf("%v is not a tombstone", gone)
	}
	if img := m.item("ACCOUNT#3", "PHONE#+2"); img["i:migrated"] == first {
		t.Error("a copy that did not change was not written again")
	}
	if done := m.sync.Do(t.Context(), migrate.IfDifferent, []migrate.Changed{again}); done.Written != 0 {
		t.Errorf("%+v", done)
	}
}

// What no row became is never overwritten.
func TestForeignItemsStay(t *testing.T) {
	m := begin(t)
	foreign := migrate.Row{"PK": s("ACCOUNT#1"), "SK": s("USER"), "x": s("1")}
	m.put(stack.Events, foreign)
	done := m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{m.row(profile("1", "ann"))})
	if done.Collisions != 1 || done.Written != 0 || len(done.Left) > 0 || m.item("ACCOUNT#1", "USER")["x"] == nil {
		t.Errorf("%+v, %v", done, m.item("ACCOUNT#1", "USER"))
	}
	if c, err := m.sync.Compare(t.Context(), m); err != nil || c.Clean() || c.Collisions != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func (m *moving) Counted(context.Context) (time.Time, error) { return m.now, nil }

// The bar of a copy has no expiry: another row may have its key later, and expire later.
func TestErasedCopyStaysBarred(t *testing.T) {
	m := begin(t)
	m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{m.row(profile("1", "ann")), m.row(profile("2", "bob", "+1"))})
	st := m.store()
	for _, account := range []string{"1", "2", "3"} {
		_, err := repair.Of(st).Erase(t.Context(), event.Key{PK: "ACCOUNT#" + account, SK: "USER"})
		m.must(err)
	}
	if bar := m.item("ACCOUNT#1", "USER"); bar["i:barred"] == nil || bar["expiresAt"] != nil {
		t.Errorf("%v", bar)
	}
	done := m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{m.row(profile("1", "ann")), m.row(profile("2", "bob", "+1"))})
	if done.Written != 0 || len(done.Left) > 0 || m.item("ACCOUNT#2", "PHONE#+1")["i:barred"] == nil {
		t.Errorf("%+v, %v", done, m.item("ACCOUNT#2", "PHONE#+1"))
	}
	if c, err := m.sync.Compare(t.Context(), m); err != nil || !c.Clean() || c.Erased != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A pass that begins although the one before it was killed waits until nothing of that one is on
// its way, and says so at once. After one that has ended, or has stopped between two parts, there
// is nothing to wait for.
func TestPassesWait(t *testing.T) {
	m := begin(t)
	for i := range 3000 {
		m.row(profile(fmt.Sprint(i), "ann"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var last *migrate.Pass
	run := func(what string, waits time.Duration, at func()) (done migrate.Progress, err error) {
		t.Helper()
		before, said := m.slept, time.Duration(-1)
		last, err = m.sync.BeginPass(t.Context())
		m.must(err)
		defer func() { _ = recover() }()
		defer func() {
			if m.slept-before != waits || said != waits {
				t.Errorf("%s waits %s, and says first that it waits %s; want %s", what, m.slept-before, said, waits)
			}
		}()
		return last.Run(ctx, func(p migrate.Progress) {
			if said < 0 {
				said = p.Waits
			}
			if p.Rows > 0 {
				at()
			}
		})
	}
	kill := func() { panic("killed") }
	run("the first pass", 0, kill)
	first := last
	m.now = m.now.Add(5 * time.Minute)
	if _, err := run("one after a pass that was killed", 12*time.Minute, cancel); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := first.Run(t.Context(), nil); !errors.Is(err, migrate.ErrOvertaken) {
		t.Errorf("the first pass goes on: %v", err)
	}
	ctx = t.Context()
	run("one after a pass that was stopped", 0, kill)
	m.now = m.now.Add(time.Hour)
	if done, err := run("one long after a pass that was killed", 0, func() {}); err != nil || done.Rows != 3000 {
		t.Errorf("%+v, %v", done, err)
	}
	run("one after a pass that has ended", 0, kill)
}

// Nothing is copied if the old table is another one, if the control item is gone, or after a turn;
// and a migration does not begin beside items that nobody could tell from copies.
func TestStops(t *testing.T) {
	m := begin(t)
	other := m.old
	other.ID = "two"
	for name, c := range map[string]struct {
		does func() (*migrate.Migration, error)
		want string
	}{
		"a table that was created anew": {func() (*migrate.Migration, error) { return migrate.NewMigration(m.mapped, other, m.config) },
			"would empty the copy"},
		"no control item": {func() (*migrate.Migration, error) {
			c := m.config
			c.Aggregates = "elsewhere"
			_, err := stack.AggregatesTable("elsewhere").Create(t.Context(), m.engine.DynamoDB())
			m.must(err)
			return migrate.NewMigration(m.mapped, m.old, c)
		}, "has no control item"},
	} {
		sync, err := c.does()
		m.must(err)
		var stop *migrate.StopError
		if _, err := sync.Open(t.Context()); !errors.As(err, &stop) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m.gone(stack.Aggregates, rows.KeyImage(rows.ControlKey("users")))
	m.noted("one")
	m.noted("two")
	if c, err := m.sync.Control(t.Context()); c != nil || err != nil {
		t.Errorf("capture brings the control item back: %+v, %v", c, err)
	}
	m.put(stack.Events, migrate.Row{"PK": s("ACCOUNT#1"), "SK": s("USER"), "type": s("user.profile"), "id": s("1"),
		"epoch": rows.Number("3"), "at": s("2031-05-05T06:00:00.000000000Z"),
		"digest": rows.Binary(make([]byte, 32)), "data": s("{}")})
	_, err := m.sync.Begin(t.Context())
	must.Fail(t, err, "already holds user.profile 1")
}

// Until a comparison has found nothing, a type does not turn, and the error says what is missing.
func TestTurnNeedsEvidence(t *testing.T) {
	m := begin(t)
	m.row(profile("1", "ann"))
	m.row(migrate.Row{"pk": s("USER"), "at": s("x")})
	turn := func(want string) {
		t.Helper()
		_, err := m.sync.Turn(t.Context(), migrate.Quiet)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	turn("no pass has begun")
	pass, err := m.sync.BeginPass(t.Context())
	m.must(err)
	turn("pass 1 has not ended")
	_, err = pass.Run(t.Context(), nil)
	m.must(err)
	turn("capture is not proven to have read the stream")
	m.noted("one")
	turn("never compared")
	m.compared()
	turn("1 refused row")
	m.gone("old", migrate.Row{"pk": s("USER"), "at": s("x")})
	m.compared()
	m.now = m.now.Add(25 * time.Hour)
	turn("25h0m0s old")
	m.compared()
	turn("capture has not been proven to go on")
	m.noted("one")
	for i, stream := range []string{"two", "", "three"} { // the stream is switched off and on
		m.old.Stream = stream
		m.sync = m.reopened()
		turn([]string{"another one than capture has read", "table old has no stream", "another one than capture has read"}[i])
	}
	m.noted("three")
	turn("the last comparison no longer counts")
	m.compared()
	m.noted("three")
	turn("nobody knows when the old table was written before") // capture has seen no change since the stream is on
	m.now = m.now.Add(migrate.Quiet + 10*time.Second)
	m.noted("three")
	turn("")
	turn("") // an answer was lost
	_, err = m.sync.Open(t.Context())
	must.Fail(t, err, "user.profile is new")
}

// Where a total has a floor, messages wait until a rebuild has counted what was moved.
func TestTurnWaitsForFloors(t *testing.T) {
	m := beginWith(t, users+`aggregates:
  seats: {since: 3, movedBy: put, atLeast: {free: 0}, from: {user.profile: {values: {free: sum -seats?}}}}
`)
	st := m.store()
	m.must(st.Start(t.Context()))
	m.row(profile("1", "ann"))
	m.copied()
	turn := func(want, says string) {
		t.Helper()
		state, err := m.sync.Turn(t.Context(), migrate.Quiet)
		if failed := err != nil; failed != (says != "") || failed && !strings.Contains(err.Error(), says) || !failed && state != want {
			t.Errorf("%s, %v; want %s, %s", state, err, want, says)
		}
	}
	put := func(want event.Verdict) {
		t.Helper()
		item := m.event(`{"specversion":"1.0","type":"user.profile","source":"s","id":"1","data":` +
			`{"account":"2","created":"2031-05-05T06:00:00Z","name":"bob","phones":[]}}`)
		if result, _ := st.Put(t.Context(), []*event.Item{item}); result[0].Verdict != want {
			t.Errorf("%s, want %s", result[0].Verdict, want)
		}
	}
	copies := func(want int) {
		t.Helper()
		if r, err := verify.Totals(t.Context(), m.config.Pipeline, st, m.now); err != nil || r.Copies != want || r.Items != 1-want {
			t.Errorf("%+v, %v; want %d copies", r, err, want)
		}
	}
	copies(1)
	turn(migrate.Turning, "")
	copies(0)
	put(event.Rejected)
	turn("", "seats is not complete")
	def, _ := m.config.Pipeline.Definition("seats")
	touch, err := repair.Of(st).BeginPass(t.Context(), def)
	m.must(err)
	_, err = repair.Of(st).Touch(t.Context())
	m.must(err)
	m.must(repair.Of(st).ClearBuilding(t.Context(), def, touch.Behind))
	turn(migrate.New, "")
	turn(migrate.New, "")
	put(event.Inserted)
	// So they do where a type claims values.
	m = beginWith(t, strings.Replace(users, "    retain: 60d", "    atomic: true\n    retain: 60d", 1)+
		`  user.name: {id: "{name}", key: {pk: "NAME#{name}", sk: "CLAIM"}, part: {of: user.profile, with: [name]}}
aggregates:
  seats: {since: 3, from: {user.profile: {values: {all: count}}}}
`)
	st = m.store()
	m.must(st.Start(t.Context()))
	m.row(profile("1", "ann"))
	m.copied()
	turn(migrate.Turning, "")
	turn("", "seats is not complete")
}

// After the turn, a tombstone is a free key for producers: in one put or among many, and in a
// transaction. The stream takes such a put for an insert.
func TestTombstonesAreFreeKeys(t *testing.T) {
	atomic := strings.Replace(users, "    retain: 60d", "    atomic: true\n    retain: 60d", 1)
	for name, pipe := range map[string]string{"plain": users, "atomic": atomic} {
		for _, n := range []int{1, 30} {
			m := beginWith(t, pipe)
			st := m.store()
			var gone []migrate.Changed
			var items []*event.Item
			for i := range n {
				row := profile(fmt.Sprint(i), "ann", "+1")
				gone = append(gone, migrate.Changed{Key: keyOf(row), Images: []migrate.Row{row}})
				item := m.event(fmt.Sprintf(`{"specversion":"1.0","type":"user.profile",`+
					`"source":"s","id":"1","data":{"account":"%d","created":"2031-05-05T06:00:00Z","name":"bob","phones":[{"number":"+1"}]}}`, i))
				items = append(items, item)
			}
			if done := m.sync.Do(t.Context(), migrate.Always, gone); done.Tombstones != 2*n {
				t.Fatalf("%+v", done)
			}
			tombstone := m.item("ACCOUNT#0", "USER")
			m.put(stack.Aggregates, migrate.Row{"PK": s("M#users"), "SK": s("-"), "state:user.profile": s("new")})
			results, _ := st.Put(t.Context(), items)
			for i, r := range results {
				if r.Verdict != event.Inserted || len(r.Parts) > 0 && r.Parts[0].Verdict != event.Inserted {
					t.Errorf("%s, %d: %d is %s %v", name, n, i, r.Verdict, r.Refusal)
				}
			}
			again, _ := st.Put(t.Context(), items)
			must.Equal(t, again[0].Verdict, event.Duplicate, name, n)
			typed := func(img migrate.Row) string {
				text := ""
				for name, v := range img {
					if v, ok := v.(*types.AttributeValueMemberS); ok {
						text += fmt.Sprintf(",%q:{\"S\":%q}", name, v.Value)
					}
				}
				return "{" + text[1:] + "}"
			}
			keys := typed(migrate.Row{"PK": tombstone["PK"], "SK": tombstone["SK"]})
			doc, err := event.ParseDocument(`{"eventSourceARN":"arn","eventName":"MODIFY","dynamodb":{"SequenceNumber":"100000000000000000001",` +
				`"ApproximateCreationDateTime":1,"Keys":` + keys + `,"OldImage":` + typed(tombstone) + `,"NewImage":` + keys + `}}`)
			m.must(err)
			if change, err := store.ReadRecord(doc.Root(), "shard"); err != nil || change.Kind != event.Insert {
				t.Errorf("%v, %v", change.Kind, err)
			}
		}
	}
}

// Capture reads records with any kind of images. With keys alone, a later pass finds the copy of a
// row that is gone.
func TestCapture(t *testing.T) {
	m := begin(t)
	m.row(profile("1", "ann"))
	c := &migrate.Capture{Migration: m.sync}
	record := func(images string) string {
		return `{"Records":[{"dynamodb":{"Keys":{"pk":{"S":"USER#1"},"at":{"S":"2031-05-05T06:00:00Z"}},` + images + `"SequenceNumber":"100"}}]}`
	}
	handle := func(payload string) string {
		t.Helper()
		response, err := c.Handle(t.Context(), []byte(payload))
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(response.BatchItemFailures)
	}
	if got := handle(record("")); got != "[]" || m.item("ACCOUNT#1", "USER") == nil {
		t.Errorf("%s, %v", got, m.item("ACCOUNT#1", "USER"))
	}
	for payload, want := range map[string]string{
		"{":                             "not a stream batch",
		`{"Records":[{"dynamodb":{}}]}`: "no keys or no sequence number",
		`{}`:                            "[]",
	} {
		must.Say(t, handle(payload), want)
	}
	m.gone("old", migrate.Row{"pk": s("USER#1"), "at": s("2031-05-05T06:00:00Z")})
	if got := handle(record(`"OldImage":{"pk":{"S":"USER#1"},"at":{"S":"2031-05-05T06:00:00Z"},"name":{"S":"ann"},"phones":{"L":[]}},`)); got != "[]" ||
		m.item("ACCOUNT#1", "USER")["type"] != nil {
		t.Errorf("%s, %v", got, m.item("ACCOUNT#1", "USER"))
	}
}

// Capture notes of a lane what is done: once a minute, and at the end of its window. A record
// that is left, and whatever follows it, is not done.
func TestCaptureNotes(t *testing.T) {
	m := begin(t)
	m.on = func(_ string, in any) error { // it may not write the copy of one row
		if put, is := in.(*dynamodb.PutItemInput); is && rows.TextOf(put.Item["PK"]) == "ACCOUNT#2" {
			return errDenied
		}
		return nil
	}
	began, read := m.now, 0
	m.row(profile("1", "ann"))
	m.row(profile("2", "bob"))
	number := func(n int) string { return fmt.Sprintf("1%020d", n) }
	lane := event.Lane{StreamARN: "arn:aws:dynamodb:r:1:table/old/stream/1", ShardID: "shard-1"}
	var state *migrate.WindowState
	for _, step := range []struct {
		name    string
		after   time.Duration
		records int // numbered from the last one on
		fails   bool
		more    string // members of the event beside the window
		want    int    // the number that is noted then
	}{
		{name: "the first batch of a window", records: 2, want: 2},
		{name: "soon after it", after: time.Second, records: 2, want: 2},
		{name: "a minute later", after: time.Minute, records: 1, want: 5},
		{name: "soon after that", after: time.Second, records: 1, want: 5},
		{name: "a batch that fails in part", after: time.Minute, records: 2, fails: true, want: 7},
		{name: "the end of the window", more: `,"isFinalInvokeForWindow":true`, want: 7},
		{name: "a window whose state is lost", records: 1, more: `,"state":{}`, want: 9},
		{name: "a state of somebody else", records: 1, more: `,"state":{"done":7}`, want: 10},
		{name: "the end of a window without its state", after: time.Hour, more: `,"state":{},"isFinalInvokeForWindow":true`, want: 10},
		{name: "an older batch that comes again", after: time.Hour, records: -3, more: `,"state":{}`, want: 10},
	} {
		m.now = m.now.Add(step.after)
		first := read + 1
		if step.records < 0 {
			first, step.records = 1, -step.records
		} else {
			read += step.records
		}
		var records []string
		for i := range step.records {
			keys := `{"pk":{"S":"USER#1"},"at":{"S":"2031-05-05T06:00:00Z"}}`
			if step.fails && i == 1 {
				keys = `{"pk":{"S":"USER#2"},"at":{"S":"2031-05-05T06:00:00Z"}}`
			}
			records = append(records, fmt.Sprintf(`{"eventSourceARN":%q,"dynamodb":{"SequenceNumber":%q,"ApproximateCreationDateTime":%d,`+
				`"Keys":%s}}`, lane.StreamARN, number(first+i), began.Unix(), keys))
		}
		text := "{}"
		if state != nil {
			encoded, err := json.Marshal(state)
			m.must(err)
			text = string(encoded)
		}
		c := &migrate.Capture{Migration: m.sync}
		out, err := c.Handle(t.Context(), fmt.Appendf(nil, `{"Records":[%s],"state":%s,"shardId":%q,"eventSourceARN":%q%s}`,
			strings.Join(records, ","), text, lane.ShardID, lane.StreamARN, step.more))
		m.must(err)
		if state = out.State; state == nil {
			t.Fatalf("%s: the answer has no state", step.name)
		}
		must.Equal(t, (len(out.BatchItemFailures) > 0), step.fails, step.name, out)
		note, err := m.sync.LaneDone(t.Context(), lane)
		if m.must(err); note.Sequence != number(step.want) || !note.Created.Equal(began) {
			t.Errorf("%s: noted is %+v, want %d", step.name, note, step.want)
		}
	}
	// What the end of a window cannot note comes again: nothing may follow it.
	_, err := (&migrate.Capture{Migration: m.sync}).Handle(t.Context(), []byte(`{"Records":[{"dynamodb":{"SequenceNumber":"none","Keys":`+
		`{"pk":{"S":"USER#1"},"at":{"S":"2031-05-05T06:00:00Z"}}}}],"shardId":"shard-1","isFinalInvokeForWindow":true}`))
	must.Fail(t, err, "noting how far capture is in shard shard-1")
}

// A batch of rows with many parts is done in the order of its records: the first that is left is
// named, and what was done before it is not done again.
func TestCaptureGoesOnInOrder(t *testing.T) {
	m := begin(t)
	var phones, records []string
	list := ""
	for i := range 30 {
		phones = append(phones, fmt.Sprint(i))
		list += fmt.Sprintf(`,{"M":{"number":{"S":"%d"}}}`, i)
	}
	for i := range 40 {
		account := fmt.Sprint(90 - i) // not in the order of the keys
		m.row(profile(account, "ann", phones...))
		key := fmt.Sprintf(`"pk":{"S":"USER#%s"},"at":{"S":"2031-05-05T06:00:00Z"}`, account)
		image := fmt.Sprintf(`,"NewImage":{%s,"name":{"S":"ann"},"phones":{"L":[%s]}}`, key, list[1:])
		if i >= 20 {
			image = "" // as with KEYS_ONLY images
		}
		records = append(records, fmt.Sprintf(`{"dynamodb":{"SequenceNumber":"%d","Keys":{%s}%s}}`, i, key, image))
	}
	c := &migrate.Capture{Migration: m.sync}
	at, deliveries := 0, 0
	var left atomic.Int64
	left.Store(600)
	m.on = func(api string, _ any) error { // it writes so many copies, and then no more
		if api == "PutItem" && left.Add(-1) < 0 {
			return errDenied
		}
		return nil
	}
	for ; at < len(records) && deliveries < 5; deliveries++ {
		out, err := c.Handle(t.Context(), []byte(`{"Records":[`+strings.Join(records[at:], ",")+`]}`))
		m.must(err)
		next := len(records)
		if len(out.BatchItemFailures) > 0 {
			next, err = strconv.Atoi(out.BatchItemFailures[0].ItemIdentifier)
			m.must(err)
		}
		if next <= at {
			t.Fatalf("delivery %d makes no progress from %d", deliveries, at)
		}
		at = next
		left.Store(600)
	}
	if at < len(records) || deliveries > 3 {
		t.Errorf("%d records after %d deliveries", at, deliveries)
	}
}

var errDenied = &smithy.GenericAPIError{Code: "AccessDeniedException"}

// No file makes the reader panic.
func FuzzLoad(f *testing.F) {
	corpus.Add(f)
	f.Add(usersFile)
	p := written.Pipeline(f, users)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := rowmap.Load(fstest.MapFS{"m.yaml": {Data: []byte(text)}}, "m.yaml", p)
		if err == nil {
			m.Map(profile("1", "ann"))
		}
	})
}
