package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/nearby"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

const killPipeline = `ingot: 1
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

// TestKilledDevLosesAndDoublesNothing kills ingot dev with SIGKILL while events are sent to it,
// again and again. What it has answered must be there, and every event must be stored and counted
// once.
//
// INGOT_SEED repeats the times of the kills, as far as a machine repeats itself.
func TestKilledDevLosesAndDoublesNothing(t *testing.T) {
	rounds := slow.Number(3, 50)
	seed := replay.Seed(t, 0)
	k := newKilling(t, rand.New(rand.NewPCG(seed, 0)))
	for range rounds {
		k.start()
		k.sendAgain()
		k.sendUntilKilled(time.Duration(k.die.Int64N(int64(200 * time.Millisecond))))
	}
	k.start()
	k.sendAgain()
	k.verify()
	if k.acknowledged == 0 {
		t.Error("no event was sent: this test shows nothing")
	}
	t.Logf("%d events, %d of them acknowledged before a kill, in %d rounds", k.sent, k.acknowledged, rounds)
}

// killing sends events to an ingot dev that is killed.
type killing struct {
	t                  *testing.T
	die                *rand.Rand
	binary, file       string
	sent, acknowledged int
	again              []int // events that may not have arrived, and some that have
	cmd                *exec.Cmd
	local              target.Local
	queue              *sqs.Client
	tables             *dynamodb.Client
}

func newKilling(t *testing.T, die *rand.Rand) *killing {
	t.Helper()
	k := &killing{t: t, die: die, file: filepath.Join(t.TempDir(), "pipeline.yaml")}
	var err error
	if k.binary, err = exec.LookPath("ingot"); err != nil { // the one of TestMain
		t.Fatal(err)
	}
	write(t, k.file, killPipeline)
	return k
}

// start runs ingot dev until kill.
func (k *killing) start(more ...string) {
	k.t.Helper()
	k.cmd = exec.Command(k.binary, append([]string{"dev", "--pipeline", k.file, "--port", "0", "--port-console", "0", "--output", "json"},
		more...)...)
	var stderr strings.Builder
	k.cmd.Stderr = &stderr
	stdout, err := k.cmd.StdoutPipe()
	must.Succeed(k.t, err)
	must.Succeed(k.t, k.cmd.Start())
	cmd := k.cmd
	k.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // of a process that may have ended
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		k.t.Fatalf("ingot dev did not start: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal([]byte(line), &k.local); err != nil {
		k.t.Fatalf("%v: %s", err, line)
	}
	client := nearby.Client()
	k.t.Cleanup(client.CloseIdleConnections)
	cfg := aws.Config{Region: k.local.Region, BaseEndpoint: &k.local.Endpoint, HTTPClient: client, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	k.queue, k.tables = sqs.NewFromConfig(cfg), dynamodb.NewFromConfig(cfg)
}

// batch sends up to ten events, and returns those that were acknowledged.
func (k *killing) batch(events []int) (acknowledged []int) {
	in := &sqs.SendMessageBatchInput{QueueUrl: &k.local.QueueURL}
	for _, n := range events {
		in.Entries = append(in.Entries,
			types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(n)), MessageBody: aws.String(fmt.Sprintf(
				`{"type":"order.placed","order_id":"o-%d","merchant_id":"m-%d","placed_at":"2026-03-01T09:00:00Z","total_cents":%d}`,
				n, n%7, n))})
	}
	out, err := k.queue.SendMessageBatch(context.Background(), in)
	if err != nil {
		return nil
	}
	for _, e := range out.Successful {
		n, _ := strconv.Atoi(*e.Id) // as it was sent
		acknowledged = append(acknowledged, n)
	}
	return acknowledged
}

// sendAgain sends what may not have arrived, and a part of what has.
func (k *killing) sendAgain() {
	k.t.Helper()
	for part := range slices.Chunk(k.again, 10) {
		if got := k.batch(part); len(got) != len(part) {
			k.t.Fatalf("%d of %d events were acknowledged", len(got), len(part))
		}
	}
	k.again = nil
}

// sendUntilKilled sends new events from several senders, and kills the process in the middle. An
// event that was acknowledged is not sent again, but for one of ten.
func (k *killing) sendUntilKilled(after time.Duration) {
	k.t.Helper()
	var mu sync.Mutex
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for {
				mu.Lock()
				var part []int
				for range 10 {
					part = append(part, k.sent)
					k.sent++
				}
				mu.Unlock()
				got := k.batch(part)
				mu.Lock()
				k.acknowledged += len(got)
				for _, n := range part {
					if !slices.Contains(got, n) || n%10 == 0 {
						k.again = append(k.again, n)
					}
				}
				mu.Unlock()
				if len(got) == 0 {
					return
				}
			}
		})
	}
	time.Sleep(after) // the moment of the kill is the chance in this test
	must.Succeed(k.t, k.cmd.Process.Kill())
	_ = k.cmd.Wait() // it was killed
	senders.Wait()
}

// verify waits until everything is processed, and then compares.
func (k *killing) verify() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), 2*time.Minute)
	defer cancel()
	plan, err := pipeline.Load(os.DirFS(filepath.Dir(k.file)), filepath.Base(k.file))
	must.Succeed(k.t, err)
	st, err := store.New(tables.Config{Client: k.tables, Pipeline: plan, Events: k.local.EventsTable, Aggregates: k.local.AggregatesTable})
	must.Succeed(k.t, err)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		report, err := verify.Totals(ctx, plan, st, time.Now())
		must.Succeed(k.t, err)
		if k.depth(ctx) == 0 && report.Items < k.sent {
			k.redrive(ctx)
		}
		if report.OK() && report.Items == k.sent && k.depth(ctx) == 0 {
			must.Equal(k.t, report.Totals, min(7, k.sent))
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			k.t.Fatal(errors.New("what was sent and what is stored and counted still differ after a minute"),
				fmt.Sprintf("\n%d events sent, %d items, %d messages left; differences: %v", k.sent, report.Items,
					k.depth(context.Background()), report.Differences))
		}
	}
}

// depth returns how many messages the queue has, including those in flight.
func (k *killing) depth(ctx context.Context) int {
	out, err := k.queue.GetQueueAttributes(ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &k.local.QueueURL, AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil {
		return -1
	}
	n, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
	hidden, _ := strconv.Atoi(out.Attributes["ApproximateNumberOfMessagesNotVisible"])
	return n + hidden
}

// redrive moves back what is in the dead-letter queue: a message that ten kills have met goes
// there.
func (k *killing) redrive(ctx context.Context) {
	out, err := k.queue.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &k.local.DeadLetterURL,
		AttributeNames: []types.QueueAttributeName{"All"}})
	if err == nil && out.Attributes["ApproximateNumberOfMessages"] != "0" {
		_, err = k.queue.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{SourceArn: aws.String(out.Attributes["QueueArn"])})
	}
	if err != nil {
		k.t.Log(err) // a task may be running
	}
}
