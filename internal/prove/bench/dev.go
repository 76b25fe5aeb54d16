package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/internal/local/nearby"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// These are the limits of ingot dev.
const (
	devEvents  = 100_000
	emptyStart = 1.0 // seconds until it can be used, with nothing stored
	fullStart  = 5.0 // seconds until it can be used, with all events stored
	fullMB     = 384 // megabytes of the process then, at its peak
	eventBytes = 400
	devSenders = 8
)

// devPipeline has no index.
const devPipeline = `ingot: 1
epoch: 1
type: "{type}"
events:
  reading.taken:
    id: "{reading}"
    at: "{at}"
    key: {pk: "READING#{reading}", sk: "TAKEN"}
aggregates:
  readings_daily:
    since: 1
    by: {station: "{station}"}
    window: 1d
    from:
      reading.taken: {values: {readings: count, sum: sum value}}
`

// devReading returns an event of 400 bytes.
func devReading(n int) string {
	text := fmt.Sprintf(`{"type":"reading.taken","reading":"r-%08d","station":"s-%02d","at":"2026-03-%02dT09:00:00Z","value":%d,"note":"`,
		n, n%50, 1+n%28, n%1000)
	return text + strings.Repeat("x", eventBytes-len(text)-2) + `"}`
}

// newDev builds the tool, and makes a folder for an ingot dev of a pipeline, which the caller
// removes.
func newDev(ctx context.Context, pipeline string) (folder string, d devProcess, err error) {
	if folder, err = os.MkdirTemp("", "bench"); err != nil {
		return folder, d, err
	}
	d = devProcess{binary: filepath.Join(folder, "ingot"), file: filepath.Join(folder, "pipeline.yaml")}
	if err = os.WriteFile(d.file, []byte(pipeline), 0o600); err == nil {
		err = runtimeapi.Build(ctx, "./cmd/ingot", d.binary, "")
	}
	return folder, d, err
}

// dev measures ingot dev: how fast it starts with nothing and with many events, what memory it
// needs for them, and how fast it takes them.
func (b *bench) dev(ctx context.Context) error {
	folder, d, err := newDev(ctx, devPipeline)
	defer os.RemoveAll(folder)
	if err != nil {
		return err
	}
	b.head("ingot dev, with %d events of %d bytes and without an index", devEvents, eventBytes)
	empty, err := d.start(ctx)
	if err != nil {
		return err
	}
	defer d.kill()
	began := time.Now()
	if err := d.send(ctx, devEvents); err != nil {
		return err
	}
	sent := time.Since(began)
	if err := d.wait(ctx, devEvents); err != nil {
		return err
	}
	stored := time.Since(began)
	filling, err := residentPeak(d.cmd.Process.Pid)
	if err != nil {
		return err
	}
	d.kill()
	full, err := d.start(ctx)
	if err != nil {
		return err
	}
	peak, err := residentPeak(d.cmd.Process.Pid)
	if err != nil {
		return err
	}
	size, err := os.Stat(filepath.Join(folder, ".ingot", "data", "ingot.db"))
	if err != nil {
		return err
	}
	rate := func(d time.Duration) float64 { return float64(devEvents) / d.Seconds() }
	fmt.Fprintf(b.out,
		"  %.0f events a second are sent, and %.0f sent, stored and counted; %d MB resident at the peak meanwhile; %d MB on the disk\n",
		rate(sent), rate(stored), filling/1024, size.Size()>>20)
	b.atMost("seconds to start with nothing", empty.Seconds(), emptyStart)
	b.atMost("seconds to start with all events, after a kill", full.Seconds(), fullStart)
	b.atMost("MB resident at the peak, once started with all events", float64(peak)/1024, fullMB)
	return nil
}

// devProcess is an ingot dev in a process of its own.
type devProcess struct {
	binary, file string
	cmd          *exec.Cmd
	local        target.Local
}

// start starts it, and returns how long it took until it could be used.
func (d *devProcess) start(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	d.cmd = exec.CommandContext(ctx, d.binary, "dev", "--pipeline", d.file, "--port", "0", "--port-console", "0", "--output", "json")
	d.cmd.Stderr = os.Stderr
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := d.cmd.Start(); err != nil {
		return 0, err
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		return 0, errors.Join(fmt.Errorf("ingot dev did not start: %w", err), d.cmd.Wait())
	}
	return time.Since(began), json.Unmarshal(line, &d.local)
}

func (d *devProcess) kill() {
	_ = d.cmd.Process.Kill() // it may have ended
	_ = d.cmd.Wait()
}

func (d *devProcess) config() aws.Config {
	return aws.Config{Region: d.local.Region, BaseEndpoint: &d.local.Endpoint, HTTPClient: nearby.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
}

// send sends events from several senders, ten in a request.
func (d *devProcess) send(ctx context.Context, events int) error {
	client := sqs.NewFromConfig(d.config())
	var next atomic.Int64
	var senders sync.WaitGroup
	errs := make([]error, devSenders)
	for i := range devSenders {
		senders.Go(func() {
			for errs[i] == nil {
				first := int(next.Add(10)) - 10
				if first >= events {
					return
				}
				in := &sqs.SendMessageBatchInput{QueueUrl: &d.local.QueueURL}
				for n := first; n < min(first+10, events); n++ {
					in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(n)),
						MessageBody: aws.String(devReading(n))})
				}
				_, errs[i] = client.SendMessageBatch(ctx, in)
			}
		})
	}
	senders.Wait()
	return errors.Join(errs...)
}

// wait waits until all events are stored and counted.
func (d *devProcess) wait(ctx context.Context, events int) error {
	client := dynamodb.NewFromConfig(d.config())
	return every(ctx, 100*time.Millisecond, func() (bool, error) {
		if full, err := d.holds(ctx, client, d.local.EventsTable, events); !full || err != nil {
			return false, err
		}
		counted, err := counted(ctx, client, d.local.AggregatesTable)
		return counted >= events, err
	})
}

// holds reports whether a table has so many items.
func (d *devProcess) holds(ctx context.Context, client *dynamodb.Client, table string, items int) (bool, error) {
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	return err == nil && *out.Table.ItemCount >= int64(items), err
}

// every asks again and again, until the answer is yes.
func every(ctx context.Context, pause time.Duration, done func() (bool, error)) error {
	for {
		if yes, err := done(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// counted adds up how many readings all totals count.
func counted(ctx context.Context, client *dynamodb.Client, table string) (int, error) {
	sum := 0
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return 0, err
		}
		for _, it := range out.Items {
			for name, v := range it {
				if n, is := v.(*dynamodbtypes.AttributeValueMemberN); is && name == "readings" {
					readings, err := strconv.Atoi(n.Value)
					if err != nil {
						return 0, err
					}
					sum += readings
				}
			}
		}
	}
	return sum, nil
}
