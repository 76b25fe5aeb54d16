package console

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/tool/dev"
)

// InDev adds the console to the configuration of an ingot dev, which the console follows until ctx
// ends. Personal values are shown only if reveal is true.
func InDev(ctx context.Context, cfg *dev.Config, reveal bool) {
	trouble := &Trouble{Now: time.Now}
	cfg.Token, cfg.Client, cfg.Function = rand.Text(), trouble.Client, trouble.Handler
	cfg.Console = func(d *dev.Dev) http.Handler {
		at := d.Local()
		listen, _, _ := strings.Cut(strings.TrimPrefix(at.Console, "http://"), "/")
		live := &Live{Feed: NewFeed(d.Now), Troubles: trouble, Sweep: d.Engine().SweepExpired, Resources: Resources{
			Name: name(at.Pipeline), Place: fmt.Sprintf("%s · AWS protocols at %s", at.Pipeline, at.Endpoint),
			DynamoDB: d.Engine().DynamoDB(), SQS: d.Engine().SQS(), Events: at.EventsTable, Aggregates: at.AggregatesTable,
			Objects: d.Engine().S3(), PayloadBucket: at.PayloadBucket,
			QueueURL: at.QueueURL, QuarantineURL: at.QuarantineURL, DeadLettersURL: at.DeadLetterURL,
			Pipeline: d.Pipeline, Counting: d.Counting(), Now: d.Now, Reveal: reveal}}
		go live.Feed.follow(ctx, d.Steps())
		server, err := New(Config{Source: live, Listen: listen, Token: cfg.Token, Write: true})
		if err != nil {
			return http.NotFoundHandler() // cannot happen: ingot dev listens on 127.0.0.1
		}
		return server
	}
}

// name returns the name that the page shows for a pipeline: the folder of its file, because most
// files are called pipeline.yaml.
func name(file string) string { return filepath.Base(filepath.Dir(file)) }

// atOnce is how many steps follow asks for at once.
const atOnce = 1000

// follow adds the steps of an ingot dev to the feed until ctx ends.
func (f *Feed) follow(ctx context.Context, steps *dev.Steps) {
	for number := int64(0); ; {
		list, more := steps.After(number, atOnce)
		for _, s := range list {
			f.take(ctx, s)
			number = s.Number
		}
		if len(list) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-more:
		}
	}
}

func (f *Feed) take(ctx context.Context, s dev.Step) {
	switch {
	case s.Message != nil:
		f.Result(ctx, *s.Message)
	case s.Ingest != nil:
		f.Ingested(ctx, *s.Ingest)
	case s.Change != nil:
		_ = f.Changed(ctx, *s.Change) // always nil
	case s.Streams != nil:
		f.Counted(ctx, *s.Streams)
	}
}
