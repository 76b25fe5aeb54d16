package capture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/capture"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const secret = "a secret of sixteen bytes"

// world is the function's surroundings: both stacks, over HTTP.
type world struct {
	t      *testing.T
	engine *embedded.Engine
	files  fstest.MapFS
	mu     sync.Mutex
	hears  bool
	calls  map[string]bool // of the function, while the world hears them
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, calls: map[string]bool{}, files: fstest.MapFS{}}
	for _, name := range []string{"pipeline.yaml", "migration.yaml"} {
		text, err := fs.ReadFile(examples.Files, "migrate/"+name)
		must.Succeed(t, err)
		w.files[name] = &fstest.MapFile{Data: text}
	}
	w.edit("pipeline.yaml", `pk: "NET#{net}"`, `pk: "NET#{net | hmac}"`)
	w.edit("pipeline.yaml", `    migrated:`, `    offload: {over: 1KB}`+"\n    migrated:")
	w.edit("migration.yaml", "quakes-v1", `"${MIGRATE_FROM}"`)
	w.engine = embedded.New(embedded.Config{Intercept: func(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
		w.note(api, in)
		return call()
	}})
	_, err := stack.New(t.Context(), w.engine, stack.Config{Indexes: []string{"GSI1"}})
	must.Succeed(t, err)
	must.Succeed(t, stack.CreateArchive(t.Context(), w.engine.S3(), "payloads"))
	old := stack.Table{Name: "old", Keys: [2]string{"pk", "sk"}, Stream: true}
	_, err = old.Create(t.Context(), w.engine.DynamoDB())
	must.Succeed(t, err)
	server := httptest.NewServer(wire.New(w.engine))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{"INGOT_TABLE": stack.Events, "INGOT_AGGREGATES_TABLE": stack.Aggregates,
		"INGOT_PAYLOAD_BUCKET": "payloads", "INGOT_PII_KEY": secret, "INGOT_ENDPOINT_URL": server.URL, "MIGRATE_FROM": "old",
		"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"} {
		t.Setenv(name, value)
	}
	return w
}

func (w *world) edit(file, was, now string) {
	w.t.Helper()
	text := string(w.files[file].Data)
	if !strings.Contains(text, was) {
		w.t.Fatalf("%s has no %q", file, was)
	}
	w.files[file] = &fstest.MapFile{Data: []byte(strings.Replace(text, was, now, 1))}
}

// note notes what IAM asks of the caller of a request.
func (w *world) note(api string, in any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hears {
		return
	}
	switch in := in.(type) {
	case *dynamodb.BatchGetItemInput:
		for table := range in.RequestItems {
			w.calls["dynamodb:"+api+" "+table] = true
		}
	case *dynamodb.GetItemInput:
		key := in.Key["PK"].(*types.AttributeValueMemberS).Value
		if *in.TableName == stack.Aggregates {
			key = key[:2]
		}
		w.calls["dynamodb:"+api+" "+*in.TableName+" "+key] = true
	case *dynamodb.PutItemInput:
		table := *in.TableName
		if table == stack.Aggregates {
			table += " " + in.Item["PK"].(*types.AttributeValueMemberS).Value
		}
		w.calls["dynamodb:"+api+" "+table] = true
	case *dynamodb.UpdateItemInput:
		table := *in.TableName
		if table == stack.Aggregates {
			table += " " + in.Key["PK"].(*types.AttributeValueMemberS).Value[:2]
		}
		w.calls["dynamodb:"+api+" "+table] = true
	case *dynamodb.TransactWriteItemsInput: // IAM asks for the right of each part
		w.calls["dynamodb:DeleteItem "+*in.TransactItems[0].Delete.TableName] = true
	case *dynamodb.DescribeTableInput:
		w.calls["dynamodb:"+api+" "+*in.TableName] = true
	default:
		w.calls["s3:"+api] = true
	}
}

// begin makes the control item, as `ingot migrate backfill` does.
func (w *world) begin() *migrate.Migration {
	w.t.Helper()
	p, err := pipeline.Load(w.files, "pipeline.yaml", pipeline.Secret([]byte(secret)))
	must.Succeed(w.t, err)
	m, err := rowmap.Load(w.files, "migration.yaml", p)
	must.Succeed(w.t, err)
	old, err := migrate.Find(w.t.Context(), w.engine.DynamoDB(), w.engine.DynamoDB(), "old", stack.Events)
	must.Succeed(w.t, err)
	s, err := migrate.NewMigration(m, old.Source, tables.Config{Client: w.engine.DynamoDB(),
		Events: stack.Events, Aggregates: stack.Aggregates,
		Objects: w.engine.S3(), PayloadBucket: "payloads"})
	if err == nil {
		_, err = s.Begin(w.t.Context())
	}
	must.Succeed(w.t, err)
	return s
}

// row puts a row, and returns the batch that tells of it.
func (w *world) row(id, place string) json.RawMessage {
	w.t.Helper()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	row := migrate.Row{"pk": text("DAY#2098-02-01"), "sk": text("01:02:03.000#" + id), "net": text("us"), "place": text(place),
		"ms": &types.AttributeValueMemberN{Value: strconv.FormatInt(time.Now().UnixMilli(), 10)}}
	_, err := w.engine.DynamoDB().PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: aws.String("old"), Item: row})
	must.Succeed(w.t, err)
	return json.RawMessage(`{"Records": [{"eventName": "INSERT", "dynamodb": {"SequenceNumber": "1", "ApproximateCreationDateTime": 1,
  "Keys": {"pk": {"S": "DAY#2098-02-01"}, "sk": {"S": "01:02:03.000#` + id + `"}}}}]}`)
}

type caughtUp struct{}

func (caughtUp) Counted(context.Context) (time.Time, error) { return time.Now(), nil }

// The function copies what changes, and writes its metrics. Its role allows what it calls, and
// nothing else.
func TestCapture(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	w.hears = true
	handle, err := capture.New(t.Context(), w.files, func(o *capture.Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	must.Succeed(t, err)
	w.hears = false
	first := w.row("us1", "here")
	w.hears = true
	if _, err := handle(t.Context(), first); err == nil || !strings.Contains(log.String(), "has no control item") {
		t.Errorf("before the first pass: %v, %s", err, &log)
	}
	w.hears = false
	s := w.begin()
	batches := []json.RawMessage{first, w.row("us2", strings.Repeat("far away ", 200))}
	_, err = w.engine.DynamoDB().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stack.Events), Item: migrate.Row{
		"PK": &types.AttributeValueMemberS{Value: "QUAKE#us3"}, "SK": &types.AttributeValueMemberS{Value: "QUAKE"},
		"i:barred": &types.AttributeValueMemberBOOL{Value: true}}})
	must.Succeed(t, err)
	batches = append(batches, w.row("us3", strings.Repeat("erased ", 300))) // its payload is deleted again
	w.hears = true
	for _, batch := range batches {
		if out, err := handle(t.Context(), batch); err != nil || len(out.BatchItemFailures) > 0 {
			t.Errorf("%+v, %v, %s", out, err, &log)
		}
	}
	w.hears = false
	if c, err := s.Compare(t.Context(), caughtUp{}); err != nil || c.Copies != 2 || c.Erased != 1 || !c.Clean() {
		t.Errorf("%+v, %v", c, err)
	}
	back := goesBack(t)
	maps.Copy(w.calls, back.calls)
	allowed := w.allowed()
	for call := range w.calls {
		if !slices.Contains(allowed, call) {
			t.Errorf("it calls %s, and its role does not allow it", call)
		}
	}
	for _, call := range allowed {
		if !w.calls[call] {
			t.Errorf("its role allows %s, and it does not call it", call)
		}
	}
}

// goesBack turns a table that has a way back, and shows that the function then brings events to it.
func goesBack(t *testing.T) *world {
	w := newWorld(t)
	w.edit("pipeline.yaml", `    offload: {over: 1KB}`+"\n", "")
	text, err := fs.ReadFile(examples.Files, path.Join("migrate", "back.yaml"))
	must.Succeed(t, err)
	w.files["migration.yaml"] = &fstest.MapFile{Data: text}
	w.edit("migration.yaml", "quakes-v1", `"${MIGRATE_FROM}"`)
	s := w.begin()
	pass, err := s.BeginPass(t.Context())
	if err == nil {
		_, err = pass.Run(t.Context(), nil)
	}
	if err == nil {
		err = s.NoteCaptured(t.Context(), "", time.Now())
	}
	if err == nil {
		_, err = s.Compare(t.Context(), caughtUp{})
	}
	if err == nil {
		err = s.NoteCaptured(t.Context(), "", time.Now().Add(time.Second))
	}
	must.Succeed(t, err)
	for _, state := range []string{migrate.Turning, migrate.New} {
		key := migrate.Row{"PK": &types.AttributeValueMemberS{Value: "M#quakes"}, "SK": &types.AttributeValueMemberS{Value: "-"}}
		_, err := w.engine.DynamoDB().UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: aws.String(stack.Aggregates), Key: key,
			UpdateExpression:          aws.String("SET #s = :s"),
			ExpressionAttributeNames:  map[string]string{"#s": "state:quake"},
			ExpressionAttributeValues: migrate.Row{":s": &types.AttributeValueMemberS{Value: state}}})
		must.Succeed(t, err)
	}
	p, err := pipeline.Load(w.files, "pipeline.yaml", pipeline.Secret([]byte(secret)))
	must.Succeed(t, err)
	st, err := store.New(tables.Config{Client: w.engine.DynamoDB(),
		Events: stack.Events, Aggregates: stack.Aggregates, Pipeline: p})
	must.Succeed(t, err)
	now := time.Now()
	item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(`{"id":"us9","net":"us","time":%d,"mag":4.5}`, now.UnixMilli())})
	must.Succeed(t, err)
	if result, _ := st.Put(t.Context(), []*event.Item{item}); result[0].Verdict != event.Inserted {
		t.Fatal(result[0])
	}
	handle, err := capture.New(t.Context(), w.files, func(o *capture.Options) { o.Log = slog.New(slog.DiscardHandler) })
	must.Succeed(t, err)
	row := migrate.Row{"pk": &types.AttributeValueMemberS{Value: now.UTC().Format("DAY#2006-01-02")},
		"sk": &types.AttributeValueMemberS{Value: fmt.Sprintf("%d#us9", now.UnixMilli())}}
	record := func(table, keys string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"Records": [{"eventSourceARN": "arn:aws:dynamodb:us-east-1:1:table/%s/stream/1", "dynamodb": {
  "SequenceNumber": "1", "ApproximateCreationDateTime": %d, "Keys": %s}}]}`, table, now.Unix(), keys))
	}
	for _, step := range []struct {
		does  func()
		batch json.RawMessage
		there bool
	}{
		{func() {}, record(stack.Events, `{"PK": {"S": "QUAKE#us9"}, "SK": {"S": "QUAKE"}}`), true},
		{func() { // somebody deletes the event, and then the row tells of it
			_, err := w.engine.DynamoDB().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(stack.Events),
				Key: migrate.Row{"PK": &types.AttributeValueMemberS{Value: "QUAKE#us9"},
					"SK": &types.AttributeValueMemberS{Value: "QUAKE"}}})
			must.Succeed(t, err)
		}, record("old", fmt.Sprintf(`{"pk": {"S": %q}, "sk": {"S": "%d#us9"}}`, now.UTC().Format("DAY#2006-01-02"),
			now.UnixMilli())), false},
	} {
		step.does()
		w.hears = true
		if out, err := handle(t.Context(), step.batch); err != nil || len(out.BatchItemFailures) > 0 {
			t.Errorf("%+v, %v", out, err)
		}
		w.hears = false
		out, err := w.engine.DynamoDB().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("old"), Key: row})
		if err != nil || (out.Item != nil) != step.there {
			t.Errorf("%v, %v, want a row: %t", out.Item, err, step.there)
		}
	}
	return w
}

// allowed lists what the role of the template allows, without what Lambda does with it.
func (w *world) allowed() (list []string) {
	w.t.Helper()
	p, err := pipeline.Load(w.files, "pipeline.yaml", pipeline.Secret([]byte(secret)))
	must.Succeed(w.t, err)
	for _, s := range iam.Capture(p).Statements {
		table := strings.TrimPrefix(s.Resources[0], "dynamodb:table/")
		for _, action := range s.Actions {
			switch service, name, _ := strings.Cut(action, ":"); {
			case service == "s3":
				list = append(list, action)
			case service != "dynamodb" || strings.Contains("DescribeStream GetRecords GetShardIterator ListStreams", name):
			case s.Keys == nil:
				list = append(list, action+" "+table)
			default:
				for _, key := range s.Keys {
					list = append(list, action+" "+table+" "+strings.TrimSuffix(key, "*"))
				}
			}
		}
	}
	return list
}

// What is missing or wrong is said before the first batch.
func TestMistakes(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(*world)
		want  string
	}{
		"no table":     {func(w *world) { w.t.Setenv("INGOT_TABLE", "") }, "INGOT_TABLE is not set"},
		"no totals":    {func(w *world) { w.t.Setenv("INGOT_AGGREGATES_TABLE", "") }, "INGOT_AGGREGATES_TABLE is not set"},
		"no variable":  {func(w *world) { w.t.Setenv("MIGRATE_FROM", "") }, "MIGRATE_FROM, which is not set"},
		"no old table": {func(w *world) { w.t.Setenv("MIGRATE_FROM", "gone") }, "there is no table gone"},
		"no file":      {func(w *world) { delete(w.files, "migration.yaml") }, "migration.yaml"},
		"no layer":     {func(w *world) { w.t.Setenv("INGOT_PIPELINE", "/opt/pipeline.yaml") }, "there is no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.t = t
			tt.spoil(w)
			_, err := capture.New(t.Context(), w.files)
			must.Fail(t, err, tt.want)
		})
	}
}

// Under another secret, the copies would get other keys. Nothing is written.
func TestOtherSecret(t *testing.T) {
	w := newWorld(t)
	batch := w.row("us1", "here")
	w.begin()
	t.Setenv("INGOT_PII_KEY", "another secret of 24 byt")
	handle, err := capture.New(t.Context(), w.files)
	must.Succeed(t, err)
	_, err = handle(t.Context(), batch)
	must.Fail(t, err, "INGOT_PII_KEY")
	w.nothing()
}

// nothing makes sure that the events table has no item but the one that names the home.
func (w *world) nothing() {
	w.t.Helper()
	out, err := w.engine.DynamoDB().Scan(w.t.Context(), &dynamodb.ScanInput{TableName: aws.String(stack.Events)})
	if err != nil || out.Count != 1 || out.Items[0]["PK"].(*types.AttributeValueMemberS).Value != lanes.HomeKey.PK {
		w.t.Errorf("%d items, %v", out.Count, err)
	}
}

// In another Region than the home of the events table, nothing is written.
func TestAnotherRegion(t *testing.T) {
	w := newWorld(t)
	batch := w.row("us1", "here")
	w.begin()
	_, err := w.engine.DynamoDB().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stack.Events),
		Item: migrate.Row{"PK": &types.AttributeValueMemberS{Value: lanes.HomeKey.PK},
			"SK":     &types.AttributeValueMemberS{Value: lanes.HomeKey.SK},
			"region": &types.AttributeValueMemberS{Value: "eu-west-1"}}})
	must.Succeed(t, err)
	handle, err := capture.New(t.Context(), w.files)
	must.Succeed(t, err)
	_, err = handle(t.Context(), batch)
	must.Fail(t, err, "eu-west-1")
	w.nothing()
}
