package esm

import (
	"context"
	"fmt"
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
	inner, stop := withoutTimer(outer, time.Now().Add(time.Hour))
	defer stop()
	if at, _ := inner.Deadline(); time.Until(at) > time.Minute {
		t.Errorf("deadline %v is after the parent's", at)
	}
}

// The SDK's clients can be sources too.
var (
	_ QueueClient  = (*sqs.Client)(nil)
	_ StreamClient = (*dynamodbstreams.Client)(nil)
)
