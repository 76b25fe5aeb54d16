package dev

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/dev/disk"
)

// kept is the data folder. Besides the data of the engine, it holds the positions of the stream's
// mappings, the pipeline.yaml that ran last, the names of tables and queues, and the time. A nil
// kept stores nothing.
type kept struct {
	disk     *disk.Disk
	pipeline []byte // nil: the folder is new
	names    stack.Stack
	clock    time.Time
	at       map[string]*esm.Checkpoint // by the name of its position; none: the stream was not read yet
}

const (
	keptSpace = "dev"
	// These are the positions of the mappings of the stream.
	keptPosition, keptPublished = "position", "published"
)

// openKept opens a data folder. If an earlier process did not finish setting it up, it begins anew:
// no event can have been stored.
func openKept(dir string) (*kept, error) {
	d, err := disk.Open(dir)
	if err != nil {
		return nil, err
	}
	k := &kept{disk: d, at: map[string]*esm.Checkpoint{}}
	err = d.Load(keptSpace, func(key, value []byte) error {
		switch string(key) {
		case "pipeline":
			k.pipeline = append([]byte{}, value...)
		case "stack":
			return json.Unmarshal(value, &k.names)
		case "clock":
			return k.clock.UnmarshalText(value)
		case keptPosition, keptPublished:
			at := new(esm.Checkpoint)
			k.at[string(key)] = at
			return json.Unmarshal(value, at)
		}
		return nil
	})
	if err == nil && k.pipeline == nil {
		err = d.Empty()
	}
	if err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("the data in %s cannot be read: %w; name another folder with --data", dir, err)
	}
	return k, nil
}

// begun reports whether there is earlier data to go on with.
func (k *kept) begun() bool { return k != nil && k.pipeline != nil }

func (k *kept) stopped() time.Time {
	if k == nil {
		return time.Time{}
	}
	return k.clock
}

// stack returns the tables and queues of an engine that was read from the folder. The URLs of its
// queues have the port of this process.
func (k *kept) stack(ctx context.Context, e *embedded.Engine) (*stack.Stack, error) {
	s := k.names
	s.Engine = e
	for _, url := range []*string{&s.Queue, &s.Quarantine, &s.DeadLetters} {
		out, err := e.SQS().GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(path.Base(*url))})
		if err != nil {
			return nil, fmt.Errorf("the queue %s: %w", path.Base(*url), err)
		}
		*url = *out.QueueUrl
	}
	return &s, nil
}

// deployed stores which pipeline and stack run now. It returns when that is safely on the disk.
func (k *kept) deployed(s *stack.Stack, pipeline []byte) error {
	if k == nil {
		return nil
	}
	names, err := json.Marshal(stack.Stack{StreamARN: s.StreamARN, Queue: s.Queue, Quarantine: s.Quarantine, DeadLetters: s.DeadLetters})
	if err != nil {
		return err
	}
	k.disk.Keep([]embedded.Change{
		{Space: keptSpace, Key: "stack", Value: string(names)},
		{Space: keptSpace, Key: "pipeline", Value: string(pipeline)},
	})
	return k.disk.Safe()
}

// position stores how far a mapping of the stream has come. It need not wait for the disk, because
// changes that are delivered again are not counted again, and are published with the same ids.
func (k *kept) position(name string, c esm.Checkpoint, now time.Time) {
	if k == nil {
		return
	}
	at, err := json.Marshal(c)
	if err != nil {
		return // it would be delivered again
	}
	clock, _ := now.MarshalText() // fails only for years of five digits
	k.disk.Keep([]embedded.Change{
		{Space: keptSpace, Key: name, Value: string(at)},
		{Space: keptSpace, Key: "clock", Value: string(clock)},
	})
}

// restore puts a mapping back to its stored position.
func (k *kept) restore(name string, s *esm.Stream) {
	if k != nil && k.at[name] != nil {
		s.Restore(*k.at[name])
	}
}

func (k *kept) close() error {
	if k == nil {
		return nil
	}
	return k.disk.Close()
}
