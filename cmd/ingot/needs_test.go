package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// called is a command line, and the exit code that it has.
type called struct {
	line string
	code int
}

// calls are command lines of each command that together need all that it may need. LETTER is the id
// of the message in the folder letters.
var calls = map[string][]called{
	"archive": {{"archive read", 0}, {"archive find ORDER#o-1 PLACED", 0}, {"archive erase ORDER#o-1 PLACED --yes", 0},
		{"archive find ORDER#o-1 PLACED", exitDifference}},
	"check": {{"check --was deployed --pipeline pipeline.yaml", 0}},
	"erase": {{"erase --payloads --yes", 0}, {"erase order.placed order_id=o-1 --yes --scan", 0}, {"erase account id=a-1 --yes", 0},
		{"erase --pattern copies --keys erased.ndjson --yes", 0}},
	"get":   {{"get order.placed order_id=o-1", 0}},
	"pause": {{"pause", 0}},
	"query": {{"query order order_id=o-1", 0}, {"query order order_id=o-1,o-2", 0},
		{"query merchant_days merchant_id=m-1 currency=EUR", 0}, {"query leaders --from 2026-03-01", 0}},
	"publish": {{"publish again --since 2026-01-01", 0}},
	"region":  {{"region move --from eu-west-1 --pipeline raised.yaml", 0}},
	"resume":  {{"resume", 0}},
	"send":    {{"send orders.ndjson --wait", 0}, {"send out.ndjson --wait --wait-limit 1ms", exitDifference}},
	"status":  {{"status", 0}},
	"totals": {{"totals orders_daily merchant_id=m-1 currency=EUR", 0}, {"totals orders_daily --scan", 0},
		{"totals orders_daily --top 1 --from 2026-03-01", 0}},
	"try":    {{"try --number 12 --limit 2h --yes", 0}},
	"verify": {{"verify --twice", exitDifference}, {"verify --work s3://my-bucket/w", exitDifference}},
	"rebuild": {{"rebuild orders_daily --segments 1", 0}, {"rebuild --all", 0}, {"rebuild parts", 0}, {"rebuild mend", 0},
		{"rebuild --accept", 0}},
	"quarantine": {{"quarantine pull letters --once --dead", 0}, {"quarantine pull letters --once", 0},
		{"quarantine show letters LETTER", exitDifference}, {"quarantine resend letters LETTER --replace --yes", 0}},
}

// TestNeeds shows that each command uses every action that its policy allows. That each of its
// calls is allowed, every deployment of these tests judges.
func TestNeeds(t *testing.T) {
	for _, command := range slices.Sorted(maps.Keys(policy.Commands)) {
		if command == "migrate" {
			continue // TestMigrate
		}
		t.Run(command, func(t *testing.T) {
			w := hashedShop(t, command)
			if slices.Contains([]string{"pause", "resume", "erase"}, command) {
				w.switched()
			}
			w.filled(t, command)
			w.readied(t, command)
			if command == "rebuild" {
				w.lapse(t)
			}
			w.forget()
			if command == "console" {
				w.console(t)
			}
			for _, line := range calls[command] {
				w.tool(t, line)
			}
			if command != "console" && len(calls[command]) == 0 {
				t.Fatal("no call of it is listed")
			}
			w.used(t, command)
		})
	}
}

// unheard are the actions of services, and of parts of them, that the engine does not have, and
// what only TestASilentStreamIsNotReadToItsEnd hears.
var unheard = []string{"cloudwatch:GetMetricStatistics", "s3:GetObjectVersion", "events:PutEvents", "sns:Publish",
	"states:DescribeExecution", "states:ListExecutions",
	"states:StartExecution"}

// used requires that a command has used each action of its policy.
func (w *living) used(t *testing.T, command string) {
	t.Helper()
	for _, right := range w.role(command).Rights() {
		if !w.uses(command, right.Action) && !slices.Contains(unheard, right.Action) {
			t.Errorf("its policy allows %s (%s), which it did not call", right.Action, right.On)
		}
	}
}

// switched gives the stack functions that are paused after some questions, so that their state is
// asked for.
func (w *living) switched() {
	var asked atomic.Int64
	switches := mappings.New(mappings.Mapping{UUID: "u-1", Function: target.DevIngest, Source: "arn:queue"},
		mappings.Mapping{UUID: "u-2", Function: target.DevStreams, Source: w.Stack().StreamARN})
	switches.Now, switches.Takes = func() time.Time { return time.Unix(asked.Add(1), 0) }, 20*time.Second
	w.cloud.Mappings = switches
}

// filled stores what a command works on.
func (w *living) filled(t *testing.T, command string) {
	t.Helper()
	if command == "erase" || command == "rebuild" {
		w.tool(t, called{"send account.ndjson --wait", exitFine})
	}
	if command == "archive" {
		must.Succeed(t, w.archivesFile())
	}
	if command == "erase" {
		w.archives(t, event.Key{PK: "ACCOUNT#a-1", SK: "ACCOUNT"})
	}
}

// readied makes what a command is for, before each time that it runs.
func (w *living) readied(t *testing.T, command string) {
	t.Helper()
	switch command {
	case "rebuild":
		w.age(t)
		w.lose(t)
	case "erase": // ingest is still being paused
		w.cloud.Mappings.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPut,
			mappings.Prefixes[0]+"/u-1", strings.NewReader(`{"Enabled":false}`)))
	case "publish":
		_, err := stack.Queue{Name: "NEXT-QUEUE"}.Create(t.Context(), w.Engine().SQS())
		if err == nil {
			err = os.WriteFile("publish.yaml", []byte(`publish: 1
source: shop
publications:
  orders: {from: [order.placed], to: "arn:aws:sqs:us-east-1:000000000000:NEXT-QUEUE"}
`), 0o600)
		}
		must.Succeed(t, err)
	case "region":
		w.away(t)
	case "resume":
		w.tool(t, called{"pause", exitFine})
	case "verify":
		w.spoil(t) // it looks twice only if something differs
	}
}

// away makes another Region the home, lets both functions stand still since long ago, and writes a
// file with new generations.
func (w *living) away(t *testing.T) {
	t.Helper()
	write(t, "raised.yaml", regexp.MustCompile(`(epoch|since): [0-9]+`).ReplaceAllString(content(t, "pipeline.yaml"), "$1: 9"))
	_, err := w.Engine().DynamoDB().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stack.Events),
		Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: lanes.HomeKey.PK},
			"SK": &types.AttributeValueMemberS{Value: lanes.HomeKey.SK}, "region": &types.AttributeValueMemberS{Value: "eu-west-1"}}})
	must.Succeed(t, err)
	w.switched()
	for _, id := range []string{"u-1", "u-2"} {
		ask := func(method, path, body string) *httptest.ResponseRecorder {
			out := httptest.NewRecorder()
			w.cloud.Mappings.ServeHTTP(out, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
			return out
		}
		var mapping struct{ EventSourceMappingArn string }
		must.Succeed(t, json.Unmarshal(ask(http.MethodPut, mappings.Prefixes[0]+"/"+id, `{"Enabled":false}`).Body.Bytes(), &mapping))
		ask(http.MethodPost, mappings.Prefixes[1]+mapping.EventSourceMappingArn, `{"Tags":{"`+pause.Tag+`":"2026-03-01T12:00:00Z by jo"}}`)
	}
}

// Every command that reaches a stack has a policy, except policy itself, which only finds it.
func TestEveryCommandHasAPolicy(t *testing.T) {
	want := map[string]bool{}
	for _, cmd := range all(newRoot(bare())) {
		if command.Reaches(cmd) && cmd.Name() != "policy" {
			want[strings.Fields(cmd.CommandPath())[1]] = true
		}
	}
	must.Match(t, slices.Sorted(maps.Keys(policy.Commands)), slices.Sorted(maps.Keys(want)))
}

// hashedShop is README's deployment with a key that is hashed, with parts and with a ranking. It is
// the working directory.
func hashedShop(t *testing.T, command string) *living {
	t.Helper()
	dir := t.TempDir()
	must.Succeed(t, writeShop(dir))
	file := filepath.Join(dir, "pipeline.yaml")
	change(t, file, `pk: "ORDER#{order_id}"`, `pk: "ORDER#{order_id | hmac}"`)
	if command != "quarantine" { // an event with parts is not replaced
		for i := range copies {
			change(t, file, "\npatterns:\n", fmt.Sprintf(`
  copy%[1]d.order:
    part: {of: order.placed, with: [order_id]}
    id: "{order_id}"
    key: {pk: "COPY%[1]d", sk: "ORDER#{order_id}"}

patterns:
`, i))
		}
	}
	if command == "erase" { // one that reads several items
		change(t, file, "\npatterns:\n", "\npatterns:\n  copies: {read: [copy0.order]}\n")
		change(t, file, "\nevents:\n",
			"\nevents:\n  note: {id: \"{id}\", at: \"{at}\", key: {pk: \"NOTE#{id}\", sk: \"-\"}, offload: {over: 1KB}}\n")
	}
	change(t, file, "events:\n", `events:
  account: {atomic: true, id: "{id}", at: "{at}", key: {pk: "ACCOUNT#{id}", sk: "ACCOUNT"}}
  email: {part: {of: account, with: [email]}, id: "{email}", key: {pk: "EMAIL#{email}", sk: "CLAIM"}}
`)
	accounts := `{"type":"account","id":"a-1","email":"ann@example.com","at":"2026-03-01T09:00:00Z"}` + "\n"
	if command == "erase" { // another event has the state by now
		change(t, file, "events:\n", `events:
  at: {part: {of: account, with: [desk]}, mode: latest, revision: "{@at}", id: "{desk}", key: {pk: "DESK#{desk}", sk: "LAST"}}
`)
		accounts = `{"type":"account","id":"a-1","email":"ann@example.com","desk":"1","at":"2026-03-01T09:00:00Z"}
{"type":"account","id":"a-2","email":"bob@example.com","desk":"1","at":"2026-03-02T09:00:00Z"}
`
	}
	if command == "send" { // a floor may refuse an event
		change(t, file, "events:\n", "events:\n  out: {id: \"{id}\", at: \"{at}\", key: {pk: \"OUT#{id}\", sk: \"-\"}}\n")
		change(t, file, "\n  orders_daily:\n",
			"\n  purse: {since: 1, movedBy: put, atLeast: {cents: 0}, from: {out: {values: {cents: sum -cents}}}}\n  orders_daily:\n")
		must.Succeed(t, writeInto(dir, map[string]string{"out.ndjson": `{"type":"out","id":"1","cents":5,"at":"2026-03-01T09:00:00Z"}` +
			"\n"}))
	}
	change(t, filepath.Join(dir, "template.yaml"), `"dynamodb:BatchGetItem"], Resource: !GetAtt EventsTable.Arn`,
		`"dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem"], Resource: !GetAtt EventsTable.Arn`)
	must.Succeed(t, writeInto(dir,
		map[string]string{"account.ndjson": accounts}))
	change(t, file, "\npatterns:\n", "\npatterns:\n  leaders: {total: orders_daily, top: 10}\n")
	change(t, file, "    window: 1d", "    rank: {value: orders}\n    window: 1d")
	w := lives(t, dir, time.Now)
	must.Succeed(t, w.sendMessages())
	t.Chdir(dir)
	return w
}

// lives starts a deployment of the pipeline.yaml in a folder, until the test ends. The environment
// leads to it.
func lives(t *testing.T, dir string, now func() time.Time) *living {
	t.Helper()
	w, err := liveAt(dir, now)
	must.Succeed(t, err)
	t.Cleanup(func() { w.end(t.Error) })
	setenv(t, w.environment())
	return w
}

// tool runs the tool on the stack.
func (w *living) tool(t *testing.T, c called) {
	t.Helper()
	line, clock := w.named(t, c.line), quickClock()
	if strings.Contains(line, "--payloads") { // no object is young then
		_ = clock.Sleep(t.Context(), 26*time.Hour)
	}
	toolIn(t.Context(), appOf(cli.IO{Clock: clock}), line+" --stack shop").says(t, c.code)
}

// named puts the id of the message in the folder letters into a line.
func (w *living) named(t *testing.T, line string) string {
	t.Helper()
	if !strings.Contains(line, "LETTER") {
		return line
	}
	files, err := filepath.Glob("letters/*-*.json")
	if err != nil || len(files) != 1 {
		t.Fatalf("%d messages, %v", len(files), err)
	}
	return strings.ReplaceAll(line, "LETTER", filepath.Base(files[0])[:8])
}

// kept returns an item of the aggregates table, by the beginning of its key, and the key.
func (w *living) kept(t *testing.T, begins string) (item, key map[string]types.AttributeValue) {
	t.Helper()
	all, err := w.Engine().DynamoDB().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(stack.Aggregates)})
	must.Succeed(t, err)
	for _, item := range all.Items {
		if pk, _ := item["PK"].(*types.AttributeValueMemberS); pk != nil && strings.HasPrefix(pk.Value, begins) {
			return item, map[string]types.AttributeValue{"PK": item["PK"], "SK": item["SK"]}
		}
	}
	t.Fatalf("nothing begins with %s", begins)
	return nil, nil
}

// archives puts an object into the archive, as if the event had expired once, and one of no event
// into the payload bucket.
func (w *living) archives(t *testing.T, key event.Key) {
	t.Helper()
	image := fmt.Sprintf(
		`{"PK":{"S":%q},"SK":{"S":%q},"type":{"S":"account"},"id":{"S":"a-1"},"at":{"S":"2026-01-02T03:04:05.000000000Z"},"epoch":{"N":"1"},`+
			`"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"data":{"S":"{\"id\":\"a-1\",\"email\":\"ann@example.com\"}"}}`,
		key.PK, key.SK)
	for bucket, name := range map[string]string{w.Local().ArchiveBucket: archive.Prefix(key) + "one.json",
		w.Local().PayloadBucket: payloads.Name("note", key, payloads.Sum{})} {
		_, err := w.Engine().S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &name,
			Body: strings.NewReader(image)})
		must.Succeed(t, err)
	}
}

// Only commands that may change totals in any case may invoke the streams function, which a forged
// batch would make count. The others say that the deployed file is missing, and take one by name.
func TestReadersWakeNothing(t *testing.T) {
	for name, command := range policy.Commands {
		may := slices.ContainsFunc(command(policy.ARNsOf(nil)), func(s policy.Statement) bool {
			return slices.Contains(s.Action, "lambda:InvokeFunction")
		})
		must.Equal(t, may, slices.Contains([]string{"migrate", "rebuild"}, name), name)
	}
	w := hashedShop(t, "get")
	ask := func(code int, line string, parts ...string) {
		t.Helper()
		tool(t, line+" --stack shop").says(t, code, parts...)
	}
	ask(exitUsage, "get order.place order_id=o-1", "--pipeline FILE")
	ask(exitUsage, "query ordr order_id=o-1", "--pipeline FILE")
	ask(exitUsage, "totals orders_dayly merchant_id=m-1", "--pipeline FILE")
	w.lapse(t)
	missing := " FILE: table totals: it does not say which pipeline.yaml is deployed"
	for _, line := range []string{"get order.placed order_id=o-1", "query order order_id=o-1", "verify",
		"totals orders_daily merchant_id=m-1 currency=EUR", "send orders.ndjson --wait"} {
		ask(exitFailed, line, "--pipeline"+missing, "aws lambda invoke --function-name streams ")
		ask(exitFine, line+" --pipeline pipeline.yaml")
	}
	ask(exitFailed, "check --was deployed", "--was"+missing)
}

// lapse removes the deployed file. Waking the streams function brings it back.
func (w *living) lapse(t *testing.T) {
	t.Helper()
	tables, name := w.Engine().DynamoDB(), stack.Aggregates
	item, key := w.kept(t, "F#")
	_, err := tables.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &name, Key: key})
	must.Succeed(t, err)
	w.cloud.Invoke = func(string, []byte) (string, string) {
		if _, err := tables.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &name, Item: item}); err != nil {
			return "", err.Error()
		}
		return "null", ""
	}
}

// spoil adds one to a total.
func (w *living) spoil(t *testing.T) {
	t.Helper()
	_, key := w.kept(t, "A#orders_daily")
	_, err := w.Engine().DynamoDB().UpdateItem(t.Context(),
		&dynamodb.UpdateItemInput{TableName: aws.String(stack.Aggregates), Key: key, UpdateExpression: aws.String("ADD n :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}})
	must.Succeed(t, err)
}

// copies is how many parts an order has. So many are put in one request, and one alone is put by
// itself.
const copies = 4

// lose deletes all parts of an event, and one part of another.
func (w *living) lose(t *testing.T) {
	t.Helper()
	lost := [][2]string{{"COPY0", "ORDER#o-2"}, {"EMAIL#ann@example.com", "CLAIM"}}
	for i := range copies {
		lost = append(lost, [2]string{"COPY" + strconv.Itoa(i), "ORDER#o-1"})
	}
	for _, key := range lost {
		_, err := w.Engine().DynamoDB().DeleteItem(t.Context(),
			&dynamodb.DeleteItemInput{TableName: aws.String(stack.Events), Key: testworld.Key(key[0], key[1])})
		must.Succeed(t, err)
	}
}

// age deploys the file with the next epoch, so that a rebuild touches what is stored.
func (w *living) age(t *testing.T) {
	t.Helper()
	epoch := w.Pipeline().Epoch()
	change(t, "pipeline.yaml", fmt.Sprintf("epoch: %d", epoch), fmt.Sprintf("epoch: %d", epoch+1))
	w.Reload(t.Context())
	if now := w.Pipeline().Epoch(); now != epoch+1 {
		t.Fatalf("it is deployed with epoch %d", now)
	}
}

// console asks the console for all that it can show and do.
func (w *living) console(t *testing.T) {
	t.Helper()
	ask, token, end := consoleOf(t, "--stack shop --write")
	ask("/api/session", `{"token":"`+token+`"}`).says(t, 204)
	ask("/api/flow", "").says(t, 200)
	ask("/api/journey", `{"type":"order.placed","fields":{"order_id":"o-1"}}`).says(t, 200)
	ask("/api/totals", `{"aggregate":"orders_daily","by":{"merchant":"m-1","currency":"EUR"},"value":"orders"}`).says(t, 200)
	ask("/api/totals", `{"aggregate":"orders_daily","value":"orders","scan":true}`).says(t, 200)
	var list struct{ Letters []struct{ ID string } }
	if ask("/api/quarantine", "").says(t, 200).reads(t, &list); len(list.Letters) != 1 {
		t.Fatalf("%+v", list)
	}
	ask("/api/resend", `{"id":"`+list.Letters[0].ID+`"}`).says(t, 200)
	end().says(t, exitFine)
}
