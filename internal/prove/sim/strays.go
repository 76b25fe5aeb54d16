package sim

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/tool/erase/stray"
	"github.com/ingot-events/ingot/internal/tool/pause"
)

// strays are the objects of the payload bucket that belong to no item, and the person who deletes
// them while events come.
type strays struct {
	*World
	draw     *rand.Rand // draws when, and how
	off      bool       // the mapping of the queue is switched off
	since    time.Time  // when it was switched on or off, and how long that takes
	takes    time.Duration
	cleaning bool
	halted   time.Time // until then, nothing calls the streams function
}

// In worlds whose plan has Offload, somebody pauses ingest now and then, deletes the objects of no
// event, and resumes. Often the stream stands still meanwhile, with what has expired in it.

// clean lets a person do so.
func (w *strays) clean() {
	if w.plan.Offload == 0 || w.plan.Still || w.cleaning || w.draw.IntN(3) == 0 {
		return
	}
	w.cleaning = true
	if w.draw.IntN(2) == 0 {
		w.halted = w.Now.Add(time.Duration(w.draw.IntN(40)) * time.Minute)
	}
	w.Spawn("cleaner", nil, func() {
		defer func() { w.cleaning = false }()
		w.Sleep(time.Duration(w.draw.IntN(300)) * time.Second)
		env := w.Env(w.Rng.Float64, 0)
		pages := &stage.ShortPages{Client: w.client(), Limit: int32(5 + w.draw.IntN(40))}
		store := w.operators.storeOf(pages, w.wholes.toolEpoch(), env)
		b := &stray.Bucket{Objects: deleter{large{w.World}}, Name: payloadBucket, Plan: w.pipelineOf(w.wholes.toolEpoch()), Clock: env,
			Items:  func(ctx context.Context) iter.Seq2[*event.Item, error] { return stray.Items(ctx, store) },
			Pauser: pause.Pauser{Client: queueSwitch{w: w}, Env: env, Settle: functionTimeout}, Lag: streamLag{w.World}}
		forgets := w.draw.IntN(8) == 0
		if !forgets {
			_, err := b.Pauser.Pause(context.Background(), "ingest", "a person")
			w.Must(err)
		}
		for range 3 {
			if w.once(b, forgets) {
				break
			}
		}
		if !forgets {
			_, err := b.Pauser.Resume(context.Background(), "ingest")
			w.Must(err)
		}
	})
}

// once runs the command once. It returns whether that is enough. While ingest is not paused, it
// must refuse. Afterwards, no old object is there that belonged to no item.
func (w *strays) once(b *stray.Bucket, forgets bool) (enough bool) {
	began, before := w.Now, w.model.Records
	found, err := b.Delete(context.Background())
	if found != nil {
		w.Tracef("erase --payloads: %d deleted, %d young", *found.Deleted, found.Young)
	}
	var now *stray.NotNow
	switch {
	case forgets:
		if !errors.As(err, &now) {
			w.Fail(Altered, "objects of the payload bucket are deleted while ingest works: %v", err)
		}
		return true
	case err != nil:
		w.Tracef("erase --payloads: %v", err)
		return false
	}
	if *found.Deleted > 0 {
		w.Fault(cleaned, "")
	}
	owned := map[string]bool{}
	for _, h := range w.model.Keys {
		for _, img := range h.During(before) {
			if img != nil && img.Elsewhere != nil {
				owned[img.ObjectName()] = true
			}
		}
	}
	out, err := w.ingot.Engine.S3().ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: aws.String(payloadBucket)})
	w.Must(err)
	for _, o := range out.Contents {
		if o.LastModified.Before(began.Add(-25*time.Hour)) && !owned[*o.Key] {
			w.Fail(Altered, "%s is of no event and old, and is left", *o.Key)
		}
	}
	return true
}

// deleter is the payload bucket as the person reaches it.
type deleter struct{ large }

// DeleteObjects deletes, and checks that no stored order needs what is deleted.
func (d deleter) DeleteObjects(ctx context.Context, in *s3.DeleteObjectsInput, o ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	w := d.w
	out, err := d.large.DeleteObjects(ctx, in, o...)
	for _, key := range sortedKeys(w.model.Keys) {
		if live := w.model.Keys[key].Live; live != nil && live.Elsewhere != nil {
			if slices.ContainsFunc(in.Delete.Objects, func(id s3types.ObjectIdentifier) bool { return *id.Key == live.ObjectName() }) {
				w.Fail(Altered, "%s is stored, and its payload is deleted as one of no event", key)
			}
		}
	}
	return out, err
}

// queueSwitch is Lambda with the mapping of the queue.
type queueSwitch struct {
	pause.Client
	w *strays
}

// state returns what Lambda says of the mapping.
func (w *strays) state() string {
	changes := w.Now.Before(w.since.Add(w.takes))
	switch {
	case w.off && changes:
		return "Disabling"
	case w.off:
		return "Disabled"
	case changes:
		return "Enabling"
	}
	return "Enabled"
}

func (s queueSwitch) ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput,
	...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []types.EventSourceMappingConfiguration{
		{UUID: aws.String("queue"), State: aws.String(s.w.state())}}}, nil
}

func (s queueSwitch) GetEventSourceMapping(context.Context, *lambda.GetEventSourceMappingInput,
	...func(*lambda.Options)) (*lambda.GetEventSourceMappingOutput, error) {
	return &lambda.GetEventSourceMappingOutput{State: aws.String(s.w.state())}, nil
}

func (s queueSwitch) UpdateEventSourceMapping(_ context.Context, in *lambda.UpdateEventSourceMappingInput,
	_ ...func(*lambda.Options)) (*lambda.UpdateEventSourceMappingOutput, error) {
	s.w.off, s.w.since, s.w.takes = !*in.Enabled, s.w.Now, time.Duration(s.w.draw.IntN(90))*time.Second
	return &lambda.UpdateEventSourceMappingOutput{State: aws.String(s.w.state())}, nil
}
