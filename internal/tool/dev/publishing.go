package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/tables"
)

const (
	// published is what the name of a queue begins with that takes the place of a target.
	published = "published-"
	// keepPublished is for how long such a queue keeps what nobody takes.
	keepPublished = 24 * time.Hour
	// publishBatch is as in the template of the publish function.
	publishBatch = 100
)

// publishFile is the publish.yaml beside pipeline.yaml.
func (d *Dev) publishFile() string { return filepath.Join(filepath.Dir(d.cfg.File), "publish.yaml") }

// readPublish reads publish.yaml. The text is nil if there is none.
func (d *Dev) readPublish() ([]byte, error) {
	text, err := os.ReadFile(d.publishFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// publisher makes the publish function of a publish.yaml. Each publication goes to a queue of its
// own here, whatever its target is.
func (d *Dev) publisher(ctx context.Context, c tables.Config, text []byte) (*publish.Publisher, error) {
	if text == nil {
		return nil, nil
	}
	file := textfile.File{Name: name(d.publishFile()), Text: text}
	plan, err := publish.Load(file, file.Name, c.Pipeline)
	if err != nil {
		return nil, err
	}
	for i := range plan.Publications {
		of := &plan.Publications[i]
		url, err := stack.Queue{Name: published + of.Name, Keep: keepPublished}.Create(ctx, d.engine.SQS())
		if err != nil {
			return nil, err
		}
		of.To = "arn:aws:sqs:" + Region + ":" + Account + ":" + published + of.Name
		if d.toldOf[of.Name] != url {
			d.toldOf[of.Name] = url
			d.cfg.Tell(fmt.Sprintf("what %s sends is in the queue %s", of.Name, url))
		}
	}
	if plan, err = plan.Resolved(func(name string) string { return cmp.Or(os.Getenv(name), "dev") }); err != nil {
		return nil, err
	}
	p, err := publish.New(plan, c, func(arn string) publish.Target { return publish.Queue(d.engine.SQS(), arn) })
	if err != nil {
		return nil, err
	}
	p.Quarantine, p.Log = quarantine.New(d.engine.SQS(), d.stack.Quarantine), d.cfg.Log
	return p, nil
}

// publishRole returns the role of the publish function, whose targets are queues.
func publishRole(p iam.Pipeline) *iam.Role {
	r := iam.Publish(p)
	r.Statements = append(r.Statements, iam.Statement{Actions: []string{"sqs:SendMessage", "sqs:GetQueueUrl"},
		Resources: []string{"sqs:" + published + "*"}})
	return r
}

// publish calls the publish function, as its mapping does.
func (r *running) publish(ctx context.Context, payload []byte) ([]byte, error) {
	now := r.current.Load()
	if now.publisher == nil { // publish.yaml was just removed
		return answer(publish.Response{}, nil)
	}
	return answer(now.publisher.Handle(iam.As(ctx, now.asPublisher), payload))
}

// mapPublishing makes the second mapping of the stream. It begins at the first record.
func (d *Dev) mapPublishing() error {
	s, err := esm.NewStream(esm.StreamConfig{Client: d.engine.Streams(), ARN: d.stack.StreamARN, Function: d.guard(d.running.publish),
		BatchSize: publishBatch, ReportBatchItemFailures: true, OnFailure: d.failed("publish")})
	d.publishing.Store(s)
	return err
}

// pollPublishing reads nothing while there is no publish.yaml.
func (d *Dev) pollPublishing(ctx context.Context) (time.Duration, error) {
	if d.running.current.Load().publisher == nil {
		d.rest(&d.publishIdle)
		return pause, nil
	}
	s := d.publishing.Load()
	p, err := s.Poll(ctx)
	if !p.Idle() && d.publishing.Load() == s {
		d.kept.position(keptPublished, s.Checkpoint(), d.clock.Now())
	}
	return d.until(p.Failed, p.Idle(), &d.publishIdle), err
}
