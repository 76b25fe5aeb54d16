package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// TestLosses loses a table, the other table, and both functions, while events flow. It runs the
// commands of docs/repair.md in bash, with the AWS CLI itself. LocalStack makes the tables, queues
// and streams; [losing] has what it lacks. At the end, each event is stored once, and verify proves
// the totals.
func TestLosses(t *testing.T) {
	slow.Test(t, "a pause waits for a minute, because a batch may be in work")
	t.Parallel()
	e, _ := open(t)
	bin := installed(t, "awscli", "the AWS CLI and boto3", clientsCommand)
	file := regexp.MustCompile("(?s)```yaml pipeline\n(.*?)```").FindSubmatch(must.Read(t, "../README.md"))
	dir := layered(t, string(file[1]))
	l := &losing{deployed: deploy(t, deployment{dir: dir, binaries: functions(t), window: time.Second,
		parameters: map[string]string{"Counting": "marks", "EndpointUrl": e.URL}}), layer: filepath.Join(dir, "pipeline", "pipeline.yaml")}
	l.tolerant = true
	l.begin(e.URL, bin, dir)
	must.Write(t, filepath.Join(l.w.dir, "messages.ndjson"), l.body("m-1")+"\n"+l.body("m-1")+"\n")

	sending, stop := context.WithCancel(t.Context())
	var producer sync.WaitGroup
	producer.Go(func() {
		for sending.Err() == nil {
			l.order()
			time.Sleep(200 * time.Millisecond)
		}
	})
	end := l.deliver()
	page := string(must.Read(t, "../docs/repair.md"))
	l.until("something is counted", nothing, func() bool { return l.size(l.totals) > 3 })
	for _, block := range blocksOf(t, page, "A lost aggregates table") {
		l.run(block)
		if strings.HasPrefix(block, "sed -i") { // the file is deployed
			end()
			must.Write(t, l.layer, string(must.Read(t, filepath.Join(l.w.dir, "pipeline.yaml"))))
			end = l.deliver()
		}
	}
	made, err := l.clients.DynamoDB.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &l.totals})
	must.Succeed(t, err)
	if indexes := made.Table.GlobalSecondaryIndexes; len(indexes) != 1 || *indexes[0].IndexName != lanes.RankIndex {
		t.Errorf("the page makes the table with the indexes %v", indexes)
	}
	for _, block := range blocksOf(t, page, "A lost events table") {
		if strings.Contains(block, "delete-table") { // LocalStack forgets the stream with its table: it is read before
			end()
			l.until("all is counted", l.count, l.verified)
		}
		if strings.Contains(block, "ingot resume") { // a new stack takes the tables over
			out, err := l.clients.DynamoDB.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &l.events})
			must.Succeed(t, err)
			l.streamARN = *out.Table.LatestStreamArn
			l.switches.Map(standInNames(l.stack)["StreamsFunctionName"], l.streamARN)
			end = l.deliver()
		}
		l.run(block)
	}
	end()
	// The functions of a new stack read the stream from its beginning. LocalStack cannot import the
	// tables into one: TestTakingOverTables runs the commands.
	end = l.deliver()
	defer end()
	stop()
	producer.Wait()
	said := ""
	defer func() { t.Logf("%d orders were sent, and verify says %s", l.sent, said) }()
	l.until("every event is stored and counted", nothing, func() bool {
		out, code := l.shell("ingot verify --local")
		said = out
		return code == 0 && strings.Contains(out, "\n"+show.Comma(l.sent+1)+" items, ") // one is the page's own
	})
}

// losing is a stack that loses what it has. Its functions fail meanwhile.
type losing struct {
	*deployed
	w     tool
	layer string // the pipeline.yaml of the functions
	env   []string
	sent  int // orders of the producer

	lost  *types.TableDescription // the table that was deleted last
	items []map[string]types.AttributeValue
}

// begin makes an endpoint that answers for Lambda's mappings and for backups, and hands all else on
// to LocalStack.
func (l *losing) begin(at, bin, dir string) {
	l.Helper()
	to, err := url.Parse(at)
	must.Succeed(l, err)
	names := standInNames(l.stack)
	l.switches = mappings.New(
		mappings.Mapping{UUID: "1", Function: names["IngestFunctionName"],
			Source: "arn:aws:sqs:" + endpoint.Region + ":000000000000:" + filepath.Base(l.queueURL)},
		mappings.Mapping{UUID: "2", Function: names["StreamsFunctionName"], Source: l.streamARN})
	others := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mappings.Answers(r) {
			l.switches.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		must.Succeed(l, err)
		if strings.HasSuffix(r.URL.Path, "/invocations") { // the tool wakes the streams function
			answer, err := l.streams.Invoke(r.Context(), body, time.Minute)
			must.Succeed(l, err)
			_, err = w.Write(answer)
			must.Succeed(l, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if answer := l.backup(r.Header.Get("X-Amz-Target"), body); answer != "" {
			fmt.Fprint(w, answer)
			return
		}
		others.ServeHTTP(w, r)
	}))
	l.Cleanup(server.Close)
	l.w = l.tool(server.URL, dir)
	must.Write(l, filepath.Join(l.w.dir, "pipeline.yaml"), string(must.Read(l, l.layer)))
	l.env = append(l.w.env, "PATH="+filepath.Dir(l.w.binary)+":"+bin+":"+os.Getenv("PATH"), "AWS_ENDPOINT_URL="+server.URL,
		"AWS_PAGER=", "AWS_DEFAULT_REGION="+endpoint.Region) // where version 1 of the CLI looks
}

// backup does what LocalStack lacks: it keeps a table that is deleted, and restores it without its
// stream.
func (l *losing) backup(operation string, body []byte) (answer string) {
	var in struct{ TableName string }
	_ = json.Unmarshal(body, &in)
	db := l.clients.DynamoDB
	switch _, operation, _ := strings.Cut(operation, "."); operation {
	case "DeleteTable":
		out, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &in.TableName})
		must.Succeed(l, err)
		l.lost, l.items = out.Table, nil
		pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &in.TableName, ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			must.Succeed(l, err)
			l.items = append(l.items, page.Items...)
		}
	case "ListBackups":
		return `{"BackupSummaries": [{"BackupArn": "` + *l.lost.TableArn + `/backup/0123456789-abcdef01"}]}`
	case "RestoreTableFromBackup":
		table := stack.Table{Name: *l.lost.TableName}
		for _, ix := range l.lost.GlobalSecondaryIndexes {
			table.Indexes = append(table.Indexes, *ix.IndexName)
		}
		_, err := table.Create(ctx, db)
		must.Succeed(l, err)
		for _, item := range l.items {
			_, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: l.lost.TableName, Item: item})
			must.Succeed(l, err)
		}
		return "{}"
	}
	return ""
}

func (l *losing) body(merchant string) string {
	l.sent++
	return fmt.Sprintf(`{"type":"order.placed","order_id":"f-%d","merchant_id":%q,"placed_at":"2099-03-%02dT09:00:00Z",`+
		`"currency":"EUR","total_cents":%d}`, l.sent, merchant, 1+l.sent%9, l.sent)
}

func (l *losing) order() {
	body := l.body(fmt.Sprint("m-", l.sent%5))
	_, err := l.clients.SQS.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &l.queueURL, MessageBody: &body})
	must.Succeed(l, err)
}

func (l *losing) verified() bool { _, code := l.shell("ingot verify --local"); return code == 0 }

func (l *losing) size(table string) int {
	out, err := l.clients.DynamoDB.Scan(l.Context(), &dynamodb.ScanInput{TableName: &table, Select: types.SelectCount})
	must.Succeed(l, err)
	return int(out.Count)
}

// run runs a block of the page.
func (l *losing) run(block string) {
	l.Helper()
	out, code := l.shell(block)
	if strings.Contains(out, "there is no table "+l.totals) { // as the page says
		return
	}
	for deadline := time.Now().Add(time.Minute); code != 0 && strings.HasPrefix(block, "ingot verify") && time.Now().Before(deadline); {
		out, code = l.shell(block) // events are under way
	}
	if code != 0 {
		l.Errorf("%s\nexit code %d: %s", block, code, out)
	}
}

// shell runs commands with the names that the stack has.
func (l *losing) shell(commands string) (out string, code int) {
	l.Helper()
	commands = strings.NewReplacer("table-name events", "table-name "+l.events, "table-name totals", "table-name "+l.totals,
		"--local", strings.Join(l.w.flags, " ")).Replace(commands)
	cmd := exec.CommandContext(l.Context(), "bash", "-euc", commands)
	cmd.Dir, cmd.Env = l.w.dir, l.env
	text, _ := cmd.CombinedOutput() // the exit code tells
	return string(text), cmd.ProcessState.ExitCode()
}

// blocksOf returns the blocks of commands of a section.
func blocksOf(t *testing.T, page, title string) (list []string) {
	t.Helper()
	_, section, _ := strings.Cut(page, "\n### "+title+"\n")
	section, _, _ = strings.Cut(section, "\n### ")
	for _, m := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		list = append(list, m[1])
	}
	if len(list) < 4 {
		t.Fatalf("%s: %d blocks of commands", title, len(list))
	}
	return list
}
