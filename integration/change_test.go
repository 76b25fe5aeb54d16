package integration

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/internal/testworld"
)

// standInNames are the outputs that name the functions of a stack. Functions of these names only
// hold mappings that can be switched: this process runs the real ones.
func standInNames(stack string) map[string]string {
	return map[string]string{"IngestFunctionName": stack + "-ingest", "StreamsFunctionName": stack + "-streams"}
}

// standIns makes the functions of standInNames, each with a mapping of a queue that is always
// empty. They stay at the endpoint: LocalStack cannot delete a function that it could not start.
func (d *deployed) standIns(e *endpoint.Endpoint) {
	d.Helper()
	var code bytes.Buffer
	archive := zip.NewWriter(&code)
	_, err := archive.Create("bootstrap")
	must.Succeed(d, err)
	must.Succeed(d, archive.Close())
	for _, function := range standInNames(d.stack) {
		queue, err := stack.Queue{Name: function}.Create(d.Context(), d.clients.SQS)
		must.Succeed(d, err)
		askLambda(d.T, e, http.MethodPost, "functions",
			map[string]any{"FunctionName": function, "Runtime": "provided.al2023", "Handler": "bootstrap",
				"Role": "arn:aws:iam::000000000000:role/probe", "Code": map[string]any{"ZipFile": code.Bytes()}})
		askLambda(d.T, e, http.MethodPost, "event-source-mappings/", map[string]any{"FunctionName": function,
			"EventSourceArn": "arn:aws:sqs:" + endpoint.Region + ":000000000000:" + filepath.Base(queue)})
	}
}

// deliver starts both functions again, and runs those whose mappings are on, while commands of the
// tool wait for them. The returned function ends that. A round that has begun is finished, so that
// no message stays hidden.
func (d *deployed) deliver() (end func()) {
	d.restart()
	var ended atomic.Bool
	var both sync.WaitGroup
	poll := func(function string, once func() error) {
		both.Go(func() {
			for ; !ended.Load(); time.Sleep(100 * time.Millisecond) {
				if d.switches != nil && !d.switches.Enabled(function) {
					continue
				}
				if err := once(); err != nil && !d.tolerant {
					d.Errorf("%s: %v", function, err)
					return
				}
			}
		})
	}
	names := standInNames(d.stack)
	poll(names["IngestFunctionName"], func() error { _, err := d.queue.Poll(d.Context()); return err })
	poll(names["StreamsFunctionName"], d.count)
	return func() { ended.Store(true); both.Wait() }
}

var versionOf = regexp.MustCompile(`--bucket (\S+) --key (\S+) --version-id (\S+)`)

// changeWith runs the commands of the tool that change a stack, and checks what they have changed.
func (d *deployed) changeWith(e *endpoint.Endpoint, w tool) {
	d.Helper()
	if slow.All() { // a pause waits for a minute, because a batch may be in work
		d.standIns(e)
		call := toolCall{"pause --no-drain", 0, "resume"}
		if os.Getenv("INGOT_TEST_PAUSE") != "" { // it also waits a quarter of an hour for the stream, which nobody reads
			call = toolCall{"pause", 6, "is off, but it is not known"}
		}
		d.useTool(w, []toolCall{call, {"status --check", 3, "paused"}, {"resume", 0, ""}})
	} else {
		d.used["pause"], d.used["resume"] = true, true
	}
	end := d.deliver()
	defer end()

	file := strings.Join(replaced(orders(d.T, 3), "m-900"), "\n") + "\n"
	must.Write(d, filepath.Join(w.dir, "more.ndjson"), file)
	right := strings.Replace(replaced(orders(d.T, 1), "m-900")[0], "4998", "4999", 1)
	waiting := replaced(orders(d.T, 1), "m-901")[0]
	for queue, body := range map[string]string{d.quarantine: waiting, d.queueURL: right} {
		if queue == d.queueURL {
			d.useTool(w, []toolCall{{"send more.ndjson --wait", 0, "3 events stored"},
				{"get order.placed merchant_id=m-900 order_id=o-2", 0, "m-900"}})
		}
		_, err := d.clients.SQS.SendMessage(d.Context(), &sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &body})
		must.Succeed(d, err)
	}
	id := d.conflicting(w)
	d.useTool(w, []toolCall{
		{"quarantine show again " + id, 3, "total"},
		{"quarantine resend again", 3, "resent"}, // what would be stored today, which is one
		{"quarantine resend again " + id + " --replace --yes", 0, "resent"},
		{"rebuild --all", 0, "every aggregate is recorded as complete"},
	})
	d.until("the replaced event is stored", nothing, func() bool {
		out, _, _ := w.run(d.Context(), "get order.placed merchant_id=m-900 order_id=o-1")
		return strings.Contains(out, "4999")
	})
	d.eraseWithVersions(w)
	d.archives(w)
	d.until("every change is counted", nothing, func() bool {
		_, _, code := w.run(d.Context(), "verify")
		return code == 0
	})
	for _, call := range toolDifferences {
		d.useTool(w, []toolCall{call.toolCall})
	}
	_, known, _ := w.run(d.Context(), "policy --for everything")
	for _, command := range regexp.MustCompile(`[a-z-]+`).FindAllString(known[strings.Index(known, "one of ")+7:], -1) {
		switch command {
		case "deploy", "deploy-bounded", "boundary", "producer": // they run no command of the tool
		case "region": // it takes a stack in another Region
		case "migrate", "publish", "try": // TestMigrated, TestPublished and TestTried run them
		default:
			if !d.used[command] {
				d.Errorf("ingot %s was not run on LocalStack", command)
			}
		}
	}
}

// replaced returns orders of another merchant.
func replaced(bodies []string, merchant string) []string {
	for i, body := range bodies {
		bodies[i] = strings.Replace(body, `"m-101"`, `"`+merchant+`"`, 1)
	}
	return bodies
}

// conflicting saves what is in quarantine until a Conflict is there, and returns its id.
func (d *deployed) conflicting(w tool) (id string) {
	d.Helper()
	d.until("a Conflict is in quarantine", nothing, func() bool {
		if _, stderr, code := w.run(d.Context(), "quarantine pull again --once"); code != 0 {
			d.Fatalf("exit code %d: %s", code, stderr)
		}
		plain := tool{binary: w.binary, dir: w.dir, env: w.env} // a folder is of no stack
		for _, m := range verdictOf(d.T, plain, "quarantine list again --output json", 0)["messages"].([]any) {
			if one := m.(map[string]any); one["verdict"] == "Conflict" {
				id = one["id"].(string)
			}
		}
		return id != ""
	})
	return id
}

func nothing() error { return nil }

// archives lets an event expire. The deployed function puts it into a file of the archive, where
// the tool finds it, and from which it takes it.
func (d *deployed) archives(w tool) {
	d.Helper()
	key, err := d.plan.Key("order.placed", envelope.Message{Body: replaced(orders(d.T, 3), "m-900")[2]})
	must.Succeed(d, err)
	named := testworld.Key(key.PK, key.SK)
	_, err = d.clients.DynamoDB.UpdateItem(d.Context(), &dynamodb.UpdateItemInput{TableName: &d.events, Key: named,
		UpdateExpression:          aws.String("SET expiresAt = :past"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":past": &types.AttributeValueMemberN{Value: "1700000000"}}})
	if err == nil { // as time to live does, days later
		_, err = d.clients.DynamoDB.DeleteItem(d.Context(), &dynamodb.DeleteItemInput{TableName: &d.events, Key: named})
	}
	must.Succeed(d, err)
	find := "archive find " + key.PK + " " + key.SK
	d.until("the expired event is archived", nothing, func() bool {
		_, _, code := w.run(d.Context(), find)
		return code == 0
	})
	d.useTool(w, []toolCall{{find, 0, ".json.gz"}, {"archive read --type order.placed", 0, `"PK":{"S":"` + key.PK},
		{"archive erase " + key.PK + " " + key.SK + " --yes", 0, "1 file had such an event"}, {find, 3, "not found"}})
}

// eraseWithVersions erases an event of which the archive has two versions. Everything that is left
// of the event is what the tool names.
func (d *deployed) eraseWithVersions(w tool) {
	d.Helper()
	const line = "erase order.placed merchant_id=m-101 order_id=o-3"
	key, err := d.plan.Key("order.placed", envelope.Message{Body: orders(d.T, 3)[2]})
	must.Succeed(d, err)
	name := "expired/" + key.Hash() + "/event.json"
	for _, state := range []string{"older", "newer"} {
		image := fmt.Sprintf(
			`{"PK":{"S":%q},"SK":{"S":%q},"type":{"S":"order.placed"},"id":{"S":%q},"at":{"S":"2026-01-02T03:04:05.000000000Z"},"epoch":{"N":"1"},`+
				`"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"data":{"S":"{}"}}`, key.PK, key.SK, state)
		_, err := d.clients.S3.PutObject(d.Context(),
			&s3.PutObjectInput{Bucket: &d.archive, Key: &name, Body: strings.NewReader(image)})
		must.Succeed(d, err)
	}
	if _, err := d.clients.S3.DeleteObject(d.Context(),
		&s3.DeleteObjectInput{Bucket: &d.archive, Key: &name}); err != nil { // which leaves a marker
		d.Fatal(err)
	}
	stdout, stderr, code := w.run(d.Context(), line+" --yes")
	versions := map[string]bool{}
	for _, v := range versionOf.FindAllStringSubmatch(stdout, -1) {
		versions[v[3]] = true
		if _, err := d.clients.S3.DeleteObject(d.Context(),
			&s3.DeleteObjectInput{Bucket: &v[1], Key: &v[2], VersionId: aws.String(strings.Trim(v[3], "'"))}); err != nil {
			d.Error(err)
		}
	}
	if code != 0 || len(versions) != 3 {
		d.Errorf("exit code %d, and %d versions in\n%s%s", code, len(versions), stdout, stderr)
	}
	d.useTool(w,
		[]toolCall{{line + " --yes", 0, "archive       nothing"},
			{"get order.placed merchant_id=m-101 order_id=o-3", 3, "was erased, and its key is barred"}})
}
