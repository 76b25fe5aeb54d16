package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const clientsCommand = "scripts/awscli.sh"

// clients are the AWS CLI and boto3. They use an ingot dev as if it were AWS.
type clients struct {
	*testing.T
	dev      *dev.Dev
	bin, url string
	env      []string
}

// findClients starts an ingot dev. The test is skipped if there are no clients, which
// scripts/awscli.sh installs.
func findClients(t *testing.T) *clients {
	t.Helper()
	slow.Test(t, "it starts the AWS CLI many times")
	bin := installed(t, "awscli", "the AWS CLI and boto3", clientsCommand)
	d := startDev(t, "", readSamples(t).Key)
	url := d.Local().Endpoint
	return &clients{t, d, bin, url,
		[]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AWS_ENDPOINT_URL=" + url, "AWS_DEFAULT_REGION=us-east-1",
			"AWS_ACCESS_KEY_ID=any", "AWS_SECRET_ACCESS_KEY=any", "AWS_PAGER=", "AWS_MAX_ATTEMPTS=1", "NO_PROXY=*"}}
}

// installed returns the folder of a Python tool's commands. The test is skipped if a script has not
// installed it.
func installed(t *testing.T, name, what, command string) (bin string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", ".cache", name+"-*", "complete"))
	if err == nil && len(found) == 0 {
		endpoint.Absent(t, what+": not in .cache; to have this test run: "+command)
	}
	if err == nil {
		bin, err = filepath.Abs(filepath.Join(filepath.Dir(found[len(found)-1]), "bin"))
	}
	must.Succeed(t, err)
	return bin
}

func (c *clients) run(name string, args ...string) string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), filepath.Join(c.bin, name), args...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("%s %.300s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// aws runs the AWS CLI and returns one member of its JSON. Version 1 of the CLI has its own host
// for SQS. AWS_ENDPOINT_URL does not replace that host, but the option does.
func (c *clients) aws(member string, args ...string) any {
	c.Helper()
	var answer any
	if text := c.run("aws", append(args, "--endpoint-url", c.url, "--output", "json")...); text != "" {
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			c.Fatalf("aws %s: %v\n%s", strings.Join(args, " "), err, text)
		}
	}
	for _, name := range strings.Fields(member) {
		switch of := answer.(type) {
		case map[string]any:
			answer = of[name]
		case []any:
			if len(of) == 0 {
				c.Fatalf("aws %s: the list before %s is empty", strings.Join(args, " "), name)
			}
			answer = of[0].(map[string]any)[name]
		}
	}
	return answer
}

func (c *clients) want(what string, got, want any) {
	c.Helper()
	if got != want {
		c.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestAWSCLI shows that the AWS CLI can use ingot dev as if it were AWS.
func TestAWSCLI(t *testing.T) {
	c := findClients(t)
	c.anEvent()
	url := c.aws("QueueUrl", "sqs", "create-queue", "--queue-name", "by-hand").(string)
	c.aws("", "sqs", "send-message", "--queue-url", url, "--message-body", `{"a":"é"}`, "--message-attributes",
		`{"kind":{"DataType":"String","StringValue":"order"}}`)
	received := c.aws("Messages", "sqs", "receive-message", "--queue-url", url, "--message-attribute-names",
		"All").([]any)[0].(map[string]any)
	c.want("the message's body", received["Body"], `{"a":"é"}`)
	c.want("its attribute", received["MessageAttributes"].(map[string]any)["kind"].(map[string]any)["StringValue"], "order")

	c.aws("", "dynamodb", "create-table", "--table-name", "by-hand", "--billing-mode", "PAY_PER_REQUEST", "--key-schema",
		"AttributeName=PK,KeyType=HASH", "AttributeName=SK,KeyType=RANGE",
		"--attribute-definitions", "AttributeName=PK,AttributeType=S", "AttributeName=SK,AttributeType=S", "--stream-specification",
		"StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES")
	c.aws("", "dynamodb", "wait", "table-exists", "--table-name", "by-hand")
	item := `{"PK":{"S":"a"},"SK":{"S":"1"},"n":{"N":"1.5"},"b":{"B":"AAE="},"l":{"L":[{"NULL":true},{"M":{}}]}}`
	c.aws("", "dynamodb", "put-item", "--table-name", "by-hand", "--item", item)
	c.want("the item's number", c.aws("Items n N", "dynamodb", "query", "--table-name", "by-hand", "--key-condition-expression", "PK = :a",
		"--expression-attribute-values", `{":a":{"S":"a"}}`), "1.5")
	c.want("the items of a scan", c.aws("Count", "dynamodb", "scan", "--table-name", "by-hand"), 1.0)

	stream := c.aws("Streams StreamArn", "dynamodbstreams", "list-streams", "--table-name", "by-hand").(string)
	records := 0
	for _, shard := range c.aws("StreamDescription Shards", "dynamodbstreams", "describe-stream", "--stream-arn", stream).([]any) {
		iterator := c.aws("ShardIterator", "dynamodbstreams", "get-shard-iterator", "--stream-arn", stream, "--shard-id",
			shard.(map[string]any)["ShardId"].(string), "--shard-iterator-type", "TRIM_HORIZON").(string)
		for _, r := range c.aws("Records", "dynamodbstreams", "get-records", "--shard-iterator", iterator).([]any) {
			records++
			c.want("the record's event", r.(map[string]any)["eventName"], "INSERT")
		}
	}
	c.want("records", records, 1)

	c.aws("", "s3api", "create-bucket", "--bucket", "by-hand")
	file := filepath.Join(t.TempDir(), "object")
	must.Write(t, file, "payload")
	c.aws("", "s3api", "put-object", "--bucket", "by-hand", "--key", "2026/a b", "--body", file)
	c.want("the listed key", c.aws("Contents Key", "s3api", "list-objects", "--bucket", "by-hand"), "2026/a b")
	c.want("the listed key, version 2", c.aws("Contents Key", "s3api", "list-objects-v2", "--bucket", "by-hand", "--prefix", "2026/"),
		"2026/a b")
	c.want("the object's size", c.aws("ContentLength", "s3api", "head-object", "--bucket", "by-hand", "--key", "2026/a b"), 7.0)
	c.aws("", "s3api", "delete-object", "--bucket", "by-hand", "--key", "2026/a b")
	c.want("what is left", c.aws("Contents", "s3api", "list-objects-v2", "--bucket", "by-hand"), nil)
}

// anEvent sends an event to the pipeline that runs, as docs/dev.md does, and looks at what became
// of it.
func (c *clients) anEvent() {
	c.Helper()
	text := must.Read(c, "../events/ingest-one.json")
	var sent events.SQSEvent
	must.Succeed(c, json.Unmarshal(text, &sent))
	file := filepath.Join(c.TempDir(), "event.json")
	must.Write(c, file, sent.Records[0].Body)
	at := c.dev.Local()
	c.aws("", "sqs", "send-message", "--queue-url", at.QueueURL, "--message-body", "file://"+file)
	st, err := store.New(tables.Config{Client: c.dev.Engine().DynamoDB(), Pipeline: c.dev.Pipeline(), Events: stack.Events,
		Aggregates: stack.Aggregates})
	must.Succeed(c, err)
	counted(c.T, c.dev.Pipeline(), st)
	c.want("the items of the pipeline", c.aws("Count", "dynamodb", "scan", "--table-name", at.EventsTable), 1.0)
	pk := c.aws("Items PK S", "dynamodb", "scan", "--table-name", at.EventsTable).(string)
	c.want("the items of its partition",
		c.aws("Count", "dynamodb", "query", "--table-name", at.EventsTable, "--key-condition-expression", "PK = :pk",
			"--expression-attribute-values", `{":pk":{"S":"`+pk+`"}}`), 1.0)
	if n := c.aws("Count", "dynamodb", "scan", "--table-name", at.AggregatesTable).(float64); n < 2 {
		c.Errorf("%v rows of totals", n)
	}
}

// TestBoto3 shows that boto3 can use ingot dev as if it were AWS, and that it has classes for
// its errors.
func TestBoto3(t *testing.T) {
	c := findClients(t)
	c.want("what the program prints", c.run("python", filepath.Join("testdata", "clients.py")), "ok\n")
}
