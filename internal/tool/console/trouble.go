package console

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// These are the kinds of trouble.
const (
	troubleTwice    = "twice"
	troubleIngest   = "crash-ingest"
	troubleStreams  = "crash-streams"
	troubleThrottle = "throttle"
	troubleExpire   = "expire"
)

// These are the names of the functions in [Trouble].
const (
	Ingest  = "ingest"
	Streams = "streams"
)

// throttled is how long [Trouble] refuses writes when it throttles.
const throttled = 10 * time.Second

// Trouble makes the trouble that a person asks for. Give each function the client that
// [Trouble.Client] returns, and let [Trouble.Handler] call it. It is safe for concurrent use. A nil
// Trouble makes no trouble.
type Trouble struct {
	// Now is the clock of the functions.
	Now func() time.Time

	mu     sync.Mutex
	doomed map[string]bool // functions that die after their next write
	until  time.Time       // writes are refused until then
}

// errCrashed is the error that Lambda gets from a function that has crashed.
var errCrashed = errors.New("the function crashed on purpose, right after a write")

func (t *Trouble) kinds() []Kind {
	if t == nil {
		return nil
	}
	return []Kind{
		{troubleTwice, "Send twice", "Sends the last stored message again, two times. Both copies become Duplicates, and no total moves."},
		{troubleIngest, "Crash ingest", "Ends the ingest function right after its next write, before it answers. The messages come again " +
			"when their visibility timeout ends, after three minutes, and what was written is a Duplicate."},
		{troubleStreams, "Crash streams", "Ends the streams function right after its next write, before it answers. The changes come " +
			"again, and marks drop what was counted."},
		{troubleThrottle, "Throttle",
			"Refuses every write to the tables for ten seconds. Messages wait or come again, and nothing is lost."},
		{troubleExpire, "Expire", "Ends the life of the last stored event now, and lets time to live remove it. It is archived, and " +
			"totals keep or lose it as pipeline.yaml says."},
	}
}

// invocation is one call of a function. It is in the context of the call, so the client can see
// that the function has crashed.
type invocation struct {
	mu     sync.Mutex
	died   bool
	cancel context.CancelFunc
}

type invocationKey struct{}

// Handler returns a function that can crash. After the crash nothing that it does has an effect on
// the tables, and its answer is lost.
func (t *Trouble) Handler(call esm.Handler) esm.Handler {
	return func(ctx context.Context, payload []byte) ([]byte, error) {
		inv := &invocation{}
		ctx, inv.cancel = context.WithCancel(context.WithValue(ctx, invocationKey{}, inv))
		defer inv.cancel()
		answer, err := call(ctx, payload)
		if inv.dead() {
			return nil, errCrashed
		}
		return answer, err
	}
}

func (i *invocation) dead() bool {
	if i == nil {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.died
}

func (i *invocation) die() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.died = true
	i.cancel()
}

// Client returns a client for one function, to which the trouble happens.
func (t *Trouble) Client(function string, client tables.Client) tables.Client {
	return &troubled{Client: client, trouble: t, function: function}
}

// doom makes a function crash at its next write.
func (t *Trouble) doom(function string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.doomed == nil {
		t.doomed = map[string]bool{}
	}
	t.doomed[function] = true
}

// throttle refuses writes for a while.
func (t *Trouble) throttle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until = t.Now().Add(throttled)
}

// befalls returns what happens to the next write of a function.
func (t *Trouble) befalls(function string) (crash, refused bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Now().Before(t.until) {
		return false, true
	}
	crash = t.doomed[function]
	delete(t.doomed, function)
	return crash, false
}

type troubled struct {
	tables.Client
	trouble  *Trouble
	function string
}

// write carries out a write as far as the trouble allows.
func write[In, Out any](ctx context.Context, c *troubled, in *In, do func(context.Context, *In, ...func(*dynamodb.Options)) (*Out,
	error)) (*Out, error) {
	inv, _ := ctx.Value(invocationKey{}).(*invocation)
	if inv.dead() {
		return nil, errCrashed
	}
	crash, refused := c.trouble.befalls(c.function)
	if refused {
		return nil,
			&types.ThrottlingException{Message: aws.String(
				"Throughput exceeds the current capacity of your table. (asked for in the console)")}
	}
	out, err := do(ctx, in)
	if crash && inv != nil {
		inv.die()
		return nil, errCrashed
	}
	return out, err
}

func (c *troubled) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return write(ctx, c, in, c.Client.PutItem)
}

func (c *troubled) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput,
	error) {
	return write(ctx, c, in, c.Client.UpdateItem)
}

func (c *troubled) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return write(ctx, c, in, c.Client.BatchExecuteStatement)
}

func (c *troubled) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return write(ctx, c, in, c.Client.TransactWriteItems)
}

// Trouble makes the trouble that a person asked for, and returns what the person will see.
func (l *Live) Trouble(ctx context.Context, kind string) (string, error) {
	for _, k := range l.Troubles.kinds() {
		if k.Name == kind {
			return l.trouble(ctx, kind)
		}
	}
	return "", &mistake{fmt.Sprintf("there is no trouble of the kind %q", kind)}
}

func (l *Live) trouble(ctx context.Context, kind string) (string, error) {
	switch kind {
	case troubleIngest:
		l.Troubles.doom(Ingest)
		return "The ingest function will crash after its next write. Send an event.", nil
	case troubleStreams:
		l.Troubles.doom(Streams)
		return "The streams function will crash after its next write. Send an event.", nil
	case troubleThrottle:
		l.Troubles.throttle()
		return "The tables refuse writes for ten seconds.", nil
	}
	last := l.Feed.stored()
	if last == nil {
		return "", &mistake{"no event has been stored since the start; send one first"}
	}
	if kind == troubleExpire {
		return l.expire(ctx, last.key)
	}
	in := &sqs.SendMessageInput{QueueUrl: &l.QueueURL, MessageBody: &last.body,
		MessageAttributes: map[string]sqstypes.MessageAttributeValue{}}
	for name, value := range last.attributes {
		in.MessageAttributes[name] = sqstypes.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
	}
	for range 2 {
		if _, err := l.SQS.SendMessage(ctx, in); err != nil {
			return "", fmt.Errorf("the queue did not take the message: %w", err)
		}
	}
	return fmt.Sprintf("The message of %s was sent two more times.", last.key), nil
}

// expire ends the life of one event. Only the stored item gets another expiry: if the event is sent
// again, it is stored again. That cannot happen to an event that has really expired.
func (l *Live) expire(ctx context.Context, key event.Key) (string, error) {
	_, err := l.DynamoDB.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &l.Events,
		Key:                       rows.KeyImage(key),
		UpdateExpression:          aws.String("SET expiresAt = :now"),
		ConditionExpression:       aws.String("attribute_exists(expiresAt)"),
		ExpressionAttributeValues: rows.Image{":now": rows.Integer(l.now().Unix() - 1)}})
	var unmet *types.ConditionalCheckFailedException
	if errors.As(err, &unmet) {
		return "", &mistake{fmt.Sprintf("%s never expires, because pipeline.yaml gives its type no retain, or it is gone already", key)}
	}
	if err != nil {
		return "", fmt.Errorf("the item cannot be changed: %w", err)
	}
	return fmt.Sprintf("Time to live removed %d expired item. Its change is on the way.", l.Sweep()), nil
}
