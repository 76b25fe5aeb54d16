// Command service answers GET /quakes/DAY/TIME/ID with one earthquake, while its table moves.
//
// It is an example of migrate.Reader, short enough to copy. It reads the pipeline.yaml and the
// migration.yaml of the directory that it runs in, and the names of the new tables from INGOT_TABLE
// and INGOT_AGGREGATES_TABLE. Rows of the old table are read by the mapping of the migration, so
// both tables give the same payload. Which of them answers is the stage. An operator sets it on a
// port that only this machine can reach:
//
//	curl -X PUT -d '{"New": 10}' http://127.0.0.1:8081/stage
//
// GET there shows what the reader has counted.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

func main() {
	s, err := open(context.Background())
	if err == nil {
		go func() { log.Fatal(http.ListenAndServe("127.0.0.1:8081", http.HandlerFunc(s.stage))) }()
		err = http.ListenAndServe(":8080", s.routes())
	}
	log.Fatal(err)
}

func open(ctx context.Context) (*service, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return newService(dynamodb.NewFromConfig(cfg), os.Getenv)
}

// quake is what the service answers.
type quake struct {
	ID    string      `json:"id"`
	Net   string      `json:"net"`
	Place string      `json:"place"`
	Mag   json.Number `json:"mag"`
	Tags  []string    `json:"tags"`
}

// where is how the service's clients name an earthquake, as they did before the migration.
type where struct{ day, time, id string }

type service struct {
	reader  migrate.Reader[where, quake]
	current atomic.Pointer[migrate.Stage]
	client  tables.Client
	mapping *rowmap.Mapping
	table   string // the old one
	items   *query.Reader
}

func newService(c tables.Client, getenv func(string) string) (*service, error) {
	files := os.DirFS(".")
	p, err := pipeline.Load(files, "pipeline.yaml", pipeline.Secret([]byte(getenv("INGOT_PII_KEY"))))
	if err != nil {
		return nil, err
	}
	s := &service{client: c}
	if s.mapping, err = rowmap.Load(files, "migration.yaml", p); err != nil {
		return nil, err
	}
	if s.table, err = s.mapping.From(getenv); err != nil {
		return nil, err
	}
	st, err := store.New(tables.Config{Client: c, Pipeline: p, Events: getenv("INGOT_TABLE"), Aggregates: getenv("INGOT_AGGREGATES_TABLE")})
	if err != nil {
		return nil, err
	}
	s.items = query.Of(st)
	s.current.Store(&migrate.Stage{Alone: true}) // as before the migration
	s.reader.Stage = func() migrate.Stage { return *s.current.Load() }
	s.reader.Name = func(k where) string { return k.id }
	s.reader.Old, s.reader.New = s.old, s.now
	s.reader.Equal = func(a, b quake) bool {
		return a.ID == b.ID && a.Net == b.Net && a.Place == b.Place && a.Mag == b.Mag && slices.Equal(a.Tags, b.Tags)
	}
	s.reader.OnDiffer = func(_ context.Context, k where, _, _ migrate.Answer[quake]) { log.Printf("%s differs", k.id) }
	return s, nil
}

// old reads the table that is left.
func (s *service) old(ctx context.Context, k where) (migrate.Answer[quake], error) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.table, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"pk": text("DAY#" + k.day), "sk": text(k.time + "#" + k.id)}})
	if err != nil || len(out.Item) == 0 {
		return migrate.Answer[quake]{}, err
	}
	row := s.mapping.Map(out.Item)
	if row.Refusal != nil || row.Skip != "" {
		return migrate.Answer[quake]{}, nil
	}
	return answer(row.Payload)
}

// now reads the new table.
func (s *service) now(ctx context.Context, k where) (migrate.Answer[quake], error) {
	item, _, barred, err := s.items.Find(ctx, event.Key{PK: "QUAKE#" + k.id, SK: "QUAKE"})
	if err != nil || item == nil {
		return migrate.Answer[quake]{Erased: barred}, err
	}
	return answer([]byte(item.Data))
}

func answer(payload []byte) (migrate.Answer[quake], error) {
	a := migrate.Answer[quake]{Found: true}
	err := json.Unmarshal(payload, &a.Value)
	return a, err
}

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /quakes/{day}/{time}/{id}", func(w http.ResponseWriter, r *http.Request) {
		found, err := s.reader.Get(r.Context(), where{r.PathValue("day"), r.PathValue("time"), r.PathValue("id")})
		switch {
		case err != nil:
			log.Print(err)
			http.Error(w, "the earthquake cannot be read now", http.StatusServiceUnavailable)
		case !found.Found:
			http.NotFound(w, r)
		default:
			_ = json.NewEncoder(w).Encode(found.Value) // the client is gone
		}
	})
	return mux
}

// stage sets the stage, or shows it with what was counted.
func (s *service) stage(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		var to migrate.Stage
		if err := json.NewDecoder(r.Body).Decode(&to); err != nil || to.New < 0 || to.New > 100 {
			http.Error(w, `send {"New": 0 to 100, "Alone": true or false}`, http.StatusBadRequest)
			return
		}
		s.current.Store(&to)
	}
	fmt.Fprintf(w, "%+v\n%+v\n", *s.current.Load(), s.reader.Counts())
}
