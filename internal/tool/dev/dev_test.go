package dev

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/nearby"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const orders = `ingot: 1
epoch: 1
type: "{type}"
events:
  order.placed:
    id: "{order_id}"
    at: "{placed_at}"
    key: {pk: "ORDER#{order_id}", sk: "PLACED"}
aggregates:
  orders_daily:
    since: 1
    by: {merchant: "{merchant_id}"}
    window: 1d
    from:
      order.placed: {values: {orders: count, revenue: sum total_cents}}
`

// folder makes a folder with a pipeline.yaml.
func folder(t *testing.T, text string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "pipeline.yaml")
	must.Write(t, file, text)
	return file
}

// start runs a pipeline until the test ends.
func start(t *testing.T, cfg Config) *Dev {
	t.Helper()
	d, err := Start(t.Context(), cfg)
	must.Succeed(t, err)
	t.Cleanup(func() { must.Succeed(t, d.Close()) })
	return d
}

// clients are those of the AWS SDK, over the network.
func clients(t *testing.T, d *Dev) (*sqs.Client, *dynamodb.Client) {
	t.Helper()
	client := nearby.Client()
	t.Cleanup(client.CloseIdleConnections)
	cfg := aws.Config{Region: Region, BaseEndpoint: aws.String(d.Local().Endpoint), HTTPClient: client,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	return sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
}

// send sends messages over the network.
func send(t *testing.T, d *Dev, bodies ...string) {
	t.Helper()
	queue, _ := clients(t, d)
	for _, body := range bodies {
		_, err := queue.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(d.Local().QueueURL), MessageBody: &body})
		must.Succeed(t, err)
	}
}

func order(n, cents int) string {
	return fmt.Sprintf(`{"type":"order.placed","order_id":"o-%d","merchant_id":"m-1","placed_at":"2026-03-01T09:00:00Z","total_cents":%d}`,
		n, cents)
}

// until waits for a step that is what the test waits for.
func until(t *testing.T, d *Dev, is func(Step) bool) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for number := int64(0); ; {
		steps, more := d.Steps().After(number, 100)
		for _, s := range steps {
			if is(s) {
				return
			}
			number = s.Number
		}
		if len(steps) > 0 {
			continue
		}
		select {
		case <-more:
		case <-late:
			t.Fatal("what the test waits for did not happen in two minutes")
		}
	}
}

func counted(changes int) func(Step) bool {
	return func(s Step) bool {
		if s.Streams != nil {
			changes -= s.Streams.Inserted
		}
		return changes <= 0
	}
}

// The clock of an ingot dev may be behind the machine's, after the machine has slept for days. Both
// functions have the time that they need all the same.
func TestClockThatIsBehind(t *testing.T) {
	d := start(t,
		Config{File: folder(t, strings.Replace(orders, "ORDER#{order_id}", "ORDER#{order_id | hmac}", 1)),
			Secret: []byte("a secret of sixteen bytes"),
			Now:    func() time.Time { return time.Now().AddDate(0, 0, -3) }})
	send(t, d, order(1, 100))
	until(t, d, counted(1))
}

// scanned returns how many items a table has.
func scanned(t *testing.T, tables *dynamodb.Client, table string) int {
	t.Helper()
	out, err := tables.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
	must.Succeed(t, err)
	return len(out.Items)
}

// proven adds up all items and compares every total.
func proven(t *testing.T, d *Dev, items, totals int) {
	t.Helper()
	st, err := store.New(tables.Config{Client: d.Engine().DynamoDB(), Pipeline: d.Pipeline(), Events: stack.Events,
		Aggregates: stack.Aggregates})
	must.Succeed(t, err)
	report, err := verify.Totals(t.Context(), d.Pipeline(), st, time.Now())
	must.Succeed(t, err)
	if !report.OK() || report.Items != items || report.Totals != totals {
		t.Errorf("%d items and %d totals, want %d and %d; differences: %v", report.Items, report.Totals, items, totals, report.Differences)
	}
}

func TestOthersFindIt(t *testing.T) {
	file := folder(t, orders)
	d, err := Start(t.Context(), Config{File: file, Console: func(*Dev) http.Handler { return http.NotFoundHandler() }})
	must.Succeed(t, err)
	said := target.LocalFile(filepath.Dir(file))
	_, err = os.Stat(said)
	must.Succeed(t, err)
	if d.Local().Console == "" || d.Local().Console == d.Local().Endpoint {
		t.Errorf("the console is at %q", d.Local().Console)
	}
	must.Succeed(t, d.Close())
	if _, err := os.Stat(said); !os.IsNotExist(err) {
		t.Errorf("the file is still there after the end: %v", err)
	}
}

func TestThePortsRefuseWebPages(t *testing.T) {
	d := start(t, Config{File: folder(t, orders)})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.Local().Endpoint+"/archive?delete", strings.NewReader("<Delete/>"))
	must.Succeed(t, err)
	r.Close = true
	r.Header.Set("Origin", "http://evil.example")
	answer, err := http.DefaultClient.Do(r)
	must.Succeed(t, err)
	defer answer.Body.Close()
	must.Equal(t, answer.StatusCode, http.StatusForbidden)
}

func TestTakenPort(t *testing.T) {
	for errno, taken := range map[syscall.Errno]bool{syscall.EADDRINUSE: true, 10048: true, syscall.EACCES: false} { // 10048: Windows
		must.Equal(t, PortTaken(&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", errno)}), taken, errno)
	}
}

// TestEverythingIsThereAgain ends a pipeline and starts it again with the same folder.
func TestEverythingIsThereAgain(t *testing.T) {
	cfg := Config{File: folder(t, orders), Data: filepath.Join(t.TempDir(), "data")}
	first, err := Start(t.Context(), cfg)
	must.Succeed(t, err)
	send(t, first, order(1, 100), `{"type":"nothing"}`)
	until(t, first, counted(1))
	must.Succeed(t, first.Close())
	second := start(t, cfg)
	queue, tables := clients(t, second)
	send(t, second, order(1, 100), order(2, 100))
	verdicts := map[event.Verdict]int{}
	until(t, second, func(s Step) bool {
		if s.Message != nil {
			verdicts[s.Message.Verdict]++
		}
		return verdicts[event.Inserted] == 1 && verdicts[event.Duplicate] == 1
	})
	until(t, second, counted(1))
	proven(t, second, 2, 1)
	must.Equal(t, scanned(t, tables, second.Local().EventsTable), 2)
	letters, err := queue.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: aws.String(second.Local().QuarantineURL)})
	if err != nil || len(letters.Messages) != 1 {
		t.Errorf("%d messages in quarantine, want 1 (%v)", len(letters.Messages), err)
	}
	_, err = Start(t.Context(), cfg)
	must.Fail(t, err, fmt.Sprintf("another ingot dev (process %d) runs with the data in %s", os.Getpid(), cfg.Data))
}

// The mapping of a function says what became of its last batch, as Lambda does.
func TestMappingSaysWhatBecameOfTheLastBatch(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	told := make(chan string, 1)
	d, err := Start(t.Context(), Config{File: folder(t, orders), Tell: func(text string) {
		if strings.HasPrefix(text, "the ingest function: ") {
			told <- text
		}
	}, Function: func(call esm.Handler) esm.Handler {
		return func(ctx context.Context, payload []byte) ([]byte, error) {
			if broken.Load() {
				return nil, errors.New("it refuses to start")
			}
			return call(ctx, payload)
		}
	}})
	must.Succeed(t, err)
	end := sync.OnceValue(d.Close)
	t.Cleanup(func() { _ = end() })
	says := func(function, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		d.switches.ServeHTTP(w, httptest.NewRequest(http.MethodGet, mappings.Prefixes[0]+"/?FunctionName="+function, nil))
		if last := `"LastProcessingResult":"`; !strings.Contains(w.Body.String(), last+want+`"`) &&
			(want != "" || strings.Contains(w.Body.String(), last)) {
			t.Errorf("%s: %s", function, w.Body)
		}
	}
	send(t, d, order(1, 100))
	<-told
	says(target.DevIngest, "PROBLEM: Function call failed")
	says(target.DevStreams, "")
	broken.Store(false)
	send(t, d, order(2, 100))
	until(t, d, counted(1))
	must.Succeed(t, end()) // it finishes the rounds that have begun
	says(target.DevIngest, "OK")
	says(target.DevStreams, "OK")
}
