package chain

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// odds are how many requests meet what.
var odds = stage.Odds{Dies: 0.02, Throttled: 0.04, Unanswered: 0.06, Late: 0.04, Lost: 0.03}

// client is DynamoDB of one of the two Ingots.
func (w *world) client(of *embedded.Engine) *stage.Client {
	return &stage.Client{World: &w.World, DB: of.DynamoDB(), Late: w.lateness, Page: 5}
}

// lateness draws how long a write is on its way after its sender has given it up.
func (w *world) lateness() time.Duration { return time.Duration(w.Rng.IntN(300)) * time.Second }

// queue is the FIFO queue between the two Ingots. It takes some messages of a request and refuses
// others.
type queue struct{ w *world }

func (q queue) GetQueueUrl(ctx context.Context, in *sqs.GetQueueUrlInput, _ ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error) {
	return stage.Request(&q.w.World, ctx, "GetQueueUrl", false, nil, func() (*sqs.GetQueueUrlOutput, error) {
		return &sqs.GetQueueUrlOutput{QueueUrl: in.QueueName}, nil
	})
}

func (q queue) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput,
	_ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	w := q.w
	return stage.Request(&w.World, ctx, "SendMessageBatch", true, w.lateness, func() (*sqs.SendMessageBatchOutput, error) {
		out := &sqs.SendMessageBatchOutput{}
		for _, e := range in.Entries {
			if w.refuses(*e.MessageDeduplicationId, *e.MessageGroupId) {
				out.Failed = append(out.Failed, sqstypes.BatchResultErrorEntry{Id: e.Id, Code: aws.String("ServiceUnavailable")})
				continue
			}
			w.take(message{*in.QueueUrl, *e.MessageDeduplicationId, *e.MessageGroupId, *e.MessageBody})
			out.Successful = append(out.Successful, sqstypes.SendMessageBatchResultEntry{Id: e.Id})
		}
		return out, nil
	})
}
