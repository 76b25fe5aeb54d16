//go:build ingotlocal

package function

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// backend is the engine in this process, with the tables, queue and bucket that the settings name.
type backend struct {
	engine *embedded.Engine
	queue  string // URL that the engine gave the quarantine queue
	now    func() time.Time
}

// aheadVariable sets the clock of a local build ahead by a duration such as 8760h. CI sends the
// sample events to a build that is a year ahead. A deployed function ignores the variable.
const aheadVariable = "INGOT_TEST_CLOCK_AHEAD"

func clock(ahead string) (func() time.Time, error) {
	if ahead == "" {
		return time.Now, nil
	}
	d, err := time.ParseDuration(ahead)
	if err != nil {
		return nil, fmt.Errorf("%s is %q: write a duration such as 8760h", aheadVariable, ahead)
	}
	return func() time.Time { return time.Now().Add(d) }, nil
}

// connect makes new tables, queues and buckets. It ignores the AWS configuration and any endpoint
// in the environment.
//
// It refuses to run anywhere but under the SAM CLI. If it were deployed by mistake, it would
// acknowledge every message, and lose them all when its sandbox ends.
func connect(ctx context.Context, log *slog.Logger, _ *aws.Config, s settings, plan *pipeline.Pipeline) (*backend, error) {
	if os.Getenv("AWS_SAM_LOCAL") != "true" {
		return nil, errors.New("local build: it loses all events when its process ends, so it runs only under sam local (AWS_SAM_LOCAL " +
			"is not true); build without the tag ingotlocal to deploy it")
	}
	log.WarnContext(ctx,
		"local build: tables, quarantine queue and archive are in this process and end with it; no AWS service or endpoint is used")
	now, err := clock(os.Getenv(aheadVariable))
	if err != nil {
		return nil, fmt.Errorf("local build: %w", err)
	}
	b := &backend{engine: embedded.New(embedded.Config{Region: os.Getenv("AWS_REGION"), Now: now}), now: now}
	if err := b.make(ctx, s, plan); err != nil {
		return nil, fmt.Errorf("local build: %w", err)
	}
	return b, nil
}

func (b *backend) make(ctx context.Context, s settings, plan *pipeline.Pipeline) error {
	if s.events != "" {
		if _, err := stack.EventsTable(s.events, plan.Indexes()...).Create(ctx, b.engine.DynamoDB()); err != nil {
			return fmt.Errorf("events table: %w", err)
		}
	}
	if s.aggregates != "" {
		if _, err := stack.AggregatesTable(s.aggregates).Create(ctx, b.engine.DynamoDB()); err != nil {
			return fmt.Errorf("aggregates table: %w", err)
		}
	}
	if s.quarantine != "" {
		url, err := stack.Queue{Name: path.Base(s.quarantine)}.Create(ctx, b.engine.SQS())
		if err != nil {
			return fmt.Errorf("quarantine queue: %w", err)
		}
		b.queue = url
	}
	if s.archive != "" {
		if err := stack.CreateArchive(ctx, b.engine.S3(), s.archive); err != nil {
			return fmt.Errorf("archive bucket: %w", err)
		}
	}
	if s.payloads != "" {
		if err := stack.CreateArchive(ctx, b.engine.S3(), s.payloads); err != nil {
			return fmt.Errorf("payload bucket: %w", err)
		}
	}
	return nil
}

func (b *backend) objects() tables.Objects { return b.engine.S3() }

func (b *backend) env() env.Env { return env.Env{Now: b.now} }

func (b *backend) region() string { return "" } // one Region is all there is

func (b *backend) aws() aws.Config { return aws.Config{} }

func (b *backend) tables() tables.Client { return b.engine.DynamoDB() }

func (b *backend) quarantine(string) quarantine.Queue {
	return quarantine.New(b.engine.SQS(), b.queue)
}

func (b *backend) payloads(buckets []string) *handler.Payloads {
	return handler.NewPayloads(b.engine.S3(), buckets...)
}

func (b *backend) archive(bucket string) handler.Archive {
	return handler.NewArchive(b.engine.S3(), bucket)
}
