package esm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func TestTimeouts(t *testing.T) {
	var deadline time.Time
	var rig *queueRig
	slow := true
	rig = newQueueRig(t, false, func(c *QueueConfig) {
		c.Function.Timeout = 10 * time.Second
		c.Function.Handler = func(ctx context.Context, payload []byte) ([]byte, error) {
			deadline, _ = ctx.Deadline()
			if slow {
				rig.now = rig.now.Add(10 * time.Second)
			}
			if ctx.Err() != nil {
				t.Error("the context ended by a clock that is not the function's")
			}
			return rig.handle(ctx, payload)
		}
	})
	rig.source.send("1")
	if p := rig.poll(); p.FailedWhole != 1 || !deadline.Equal(time.Unix(1010, 0)) {
		t.Errorf("did %+v, deadline %v", p, deadline)
	}
	slow = false
	rig.now = rig.now.Add(time.Minute)
	if p := rig.poll(); p.Deleted != 1 {
		t.Errorf("did %+v", p)
	}
}

func TestMachineClockGivesRealDeadlines(t *testing.T) {
	f := Function{Timeout: time.Hour, Handler: func(ctx context.Context, _ []byte) ([]byte, error) {
		at, ok := ctx.Deadline()
		if left := time.Until(at); !ok || left < 59*time.Minute || left > time.Hour {
			return nil, fmt.Errorf("deadline %v", at)
		}
		return []byte("{}"), nil
	}}
	if _, err := f.invoke(context.Background(), Invocation{}); err != nil {
		t.Error(err)
	}
	outer, cancel := context.WithDeadline(context.Background(), time.Now().Add(time.Minute))
	defer cancel()
	inner, stop := Untimed(outer, time.Now().Add(time.Hour))
	defer stop()
	if at, _ := inner.Deadline(); time.Until(at) > time.Minute {
		t.Errorf("deadline %v is after the parent's", at)
	}
}

func TestRunPausesWhenIdleAndStopsWithItsContext(t *testing.T) {
	rig := newQueueRig(t, false, nil)
	rig.source.send(bodies(15)...)
	ctx, cancel := context.WithCancel(context.Background())
	var pauses []time.Duration
	var met []error
	err := rig.Run(ctx, Loop{
		Interval: time.Minute,
		OnError:  func(err error) { met = append(met, err) },
		Sleep: func(_ context.Context, d time.Duration) error {
			pauses = append(pauses, d)
			if len(pauses) == 1 {
				rig.source.err = errors.New("no network")
				return nil
			}
			cancel()
			return ctx.Err()
		},
	})
	if !errors.Is(err, context.Canceled) || len(pauses) != 2 || pauses[0] != time.Minute || len(met) != 1 || rig.source.left() != 0 {
		t.Errorf("ended with %v after pauses %v and errors %v, %d left", err, pauses, met, rig.source.left())
	}
	rig.source.err = errors.New("no network")
	if err := rig.Run(context.Background(), Loop{}); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("without OnError: %v", err)
	}
}

// The SDK's clients can be sources too.
var (
	_ QueueClient  = (*sqs.Client)(nil)
	_ StreamClient = (*dynamodbstreams.Client)(nil)
)
