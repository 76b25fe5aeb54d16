package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"os"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

const quakes = 60

// move is a table that moves below the service.
type move struct {
	*testing.T
	engine  *embedded.Engine
	config  tables.Config
	sync    *migrate.Migration
	service *service
	stream  string // of the old table

	mu      sync.Mutex
	version int
}

func (m *move) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

func newMove(t *testing.T) *move {
	t.Chdir("..")
	m := &move{T: t, engine: embedded.New(embedded.Config{})}
	_, err := stack.New(t.Context(), m.engine, stack.Config{Indexes: []string{"GSI1"}})
	m.must(err)
	old := stack.Table{Name: "quakes-v1", Keys: [2]string{"pk", "sk"}, Stream: true}
	m.stream, err = old.Create(t.Context(), m.engine.DynamoDB())
	m.must(err)
	p, err := pipeline.Load(os.DirFS("."), "pipeline.yaml")
	m.must(err)
	mapping, err := rowmap.Load(os.DirFS("."), "migration.yaml", p)
	m.must(err)
	table, err := migrate.Find(t.Context(), m.engine.DynamoDB(), m.engine.DynamoDB(), old.Name, stack.Events)
	m.must(err)
	m.config = tables.Config{Client: m.engine.DynamoDB(), Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates}
	m.sync, err = migrate.NewMigration(mapping, table.Source, m.config)
	m.must(err)
	m.service, err = newService(m.engine.DynamoDB(), func(name string) string {
		return map[string]string{"INGOT_TABLE": stack.Events, "INGOT_AGGREGATES_TABLE": stack.Aggregates}[name]
	})
	m.must(err)
	return m
}

func name(i int) where {
	return where{"2031-02-03", fmt.Sprintf("04:05:%02d.000", i), fmt.Sprint("q", i)}
}

// write is what the old application does to a row, and what capture then does.
func (m *move) write(i int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version++
	k := name(i)
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	row := migrate.Row{"pk": text("DAY#" + k.day), "sk": text(k.time + "#" + k.id), "net": text("us"), "place": text("here"),
		"ms": &types.AttributeValueMemberN{Value: "1927000000000"}, "mag": &types.AttributeValueMemberN{Value: fmt.Sprint(m.version)}}
	_, err := m.engine.DynamoDB().PutItem(m.Context(), &dynamodb.PutItemInput{TableName: aws.String("quakes-v1"), Item: row})
	m.must(err)
	time.Sleep(time.Second) // capture is behind
	if done := m.sync.Do(m.Context(), migrate.Always, []migrate.Changed{{Key: row, Images: []migrate.Row{row}}}); done.Err != nil {
		m.Error(done.Err)
	}
}

// clients ask for earthquakes until ctx ends, and see no error.
func (m *move) clients(ctx context.Context, asked *int) {
	handler := m.service.routes()
	for i := 0; ctx.Err() == nil; i++ {
		k := name(i % quakes)
		out := httptest.NewRecorder()
		handler.ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/quakes/"+k.day+"/"+k.time+"/"+k.id, nil))
		var got quake
		if err := json.Unmarshal(out.Body.Bytes(), &got); out.Code != http.StatusOK || err != nil || got.ID != k.id {
			m.Errorf("%s: %d %s", k.id, out.Code, out.Body)
			return
		}
		*asked++
		time.Sleep(100 * time.Millisecond)
	}
}

// stage sets the stage as an operator does, and lets the clients ask for a while.
func (m *move) stage(body string) migrate.Counts {
	m.Helper()
	out := httptest.NewRecorder()
	m.service.stage(out, httptest.NewRequest(http.MethodPut, "/stage", strings.NewReader(body)))
	if out.Code != http.StatusOK {
		m.Errorf("%s: %d %s", body, out.Code, out.Body)
	}
	time.Sleep(time.Minute)
	return m.service.reader.Counts()
}

// The service goes from the old table to the new one, and its clients see no error, while the old
// application writes and, after the turn, the new one.
func TestServiceChangesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMove(t)
		for i := range quakes {
			m.write(i)
		}
		pass, err := m.sync.BeginPass(t.Context())
		m.must(err)
		_, err = pass.Run(t.Context(), nil)
		m.must(err)
		asking, stop := context.WithCancel(t.Context())
		writing, written := context.WithCancel(t.Context())
		var people sync.WaitGroup
		defer func() { stop(); written(); people.Wait(); m.service.reader.Wait() }()
		var asked [3]int
		for i := range asked {
			people.Go(func() { m.clients(asking, &asked[i]) })
		}
		people.Go(func() {
			for i := 0; writing.Err() == nil; i++ {
				m.write(i * 7 % quakes)
			}
		})
		if c := m.stage(`{"Alone": true}`); c.FromNew+c.Compared != 0 || c.FromOld == 0 {
			t.Errorf("old alone: %+v", c)
		}
		if c := m.stage(`{}`); c.FromNew != 0 || c.Compared == 0 {
			t.Errorf("compared: %+v", c)
		}
		share := m.stage(`{"New": 20, "Names": {"q1": true}}`)
		if all := m.stage(`{"New": 100}`); share.FromNew == 0 || all.FromNew <= share.FromNew || all.FellBack > 0 {
			t.Errorf("a share: %+v, all: %+v", share, all)
		}
		if back := m.stage(`{"New": 20}`); back.Differ > 0 {
			t.Errorf("and back: %+v", back)
		}
		m.stage(`{"New": 100}`)
		written() // the old application ends
		m.turn()
		if c := m.stage(`{"New": 100, "Alone": true}`); c.FellBack > 0 || c.Differ > 0 {
			t.Errorf("new alone: %+v", c)
		}
		stop()
		people.Wait()
		if asked[0] < 1000 {
			t.Errorf("the clients asked %v times", asked)
		}
	})
}

// Counted says that capture has done everything.
func (m *move) Counted(context.Context) (time.Time, error) { return time.Now(), nil }

// turn makes the new table the source, and stores an event that only it has.
func (m *move) turn() {
	m.Helper()
	time.Sleep(time.Minute)
	m.must(m.sync.NoteCaptured(m.Context(), m.stream, time.Now()))
	c, err := m.sync.Compare(m.Context(), m)
	if err != nil || !c.Clean() {
		m.Fatalf("%+v, %v", c, err)
	}
	m.must(m.sync.NoteCaptured(m.Context(), m.stream, time.Now().Add(time.Second)))
	h, err := handler.NewStreams(m.config)
	m.must(err)
	m.must(h.Start(m.Context()))
	if state, err := m.sync.Turn(m.Context(), 0); err != nil || state != migrate.New {
		m.Fatalf("%s, %v", state, err)
	}
	st, err := store.New(m.config)
	m.must(err)
	item, err := m.config.Pipeline.Plan(envelope.Message{Body: `{"id":"new","net":"us","time":1927000000000,"mag":1}`})
	m.must(err)
	if r, _ := st.Put(m.Context(), []*event.Item{item}); r[0].Verdict != event.Inserted {
		m.Errorf("%+v", r[0])
	}
	// A person erases an event. Its row stays where it is, and is not read any more.
	_, err = repair.Of(st).Erase(m.Context(), item.Key)
	m.must(err)
	m.service.stage(httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/stage", strings.NewReader(`{"New": 100}`)))
	out := httptest.NewRecorder()
	m.service.routes().ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/quakes/2031-02-03/04:05:00.000/new", nil))
	if out.Code != http.StatusNotFound {
		m.Errorf("an erased event: %d %s", out.Code, out.Body)
	}
}

// A stage that cannot be is refused, and nothing changes.
func TestStageIsChecked(t *testing.T) {
	m := newMove(t)
	for _, body := range []string{"", "{", `{"New": 101}`, `{"New": -1}`, `{"New": "10"}`} {
		out := httptest.NewRecorder()
		m.service.stage(out, httptest.NewRequest(http.MethodPut, "/stage", strings.NewReader(body)))
		if out.Code != http.StatusBadRequest || !m.service.current.Load().Alone {
			t.Errorf("%q: %d %s", body, out.Code, out.Body)
		}
	}
}
