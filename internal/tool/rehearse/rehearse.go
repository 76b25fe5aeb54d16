// Package rehearse runs messages through the ingest function in memory, and says what became of
// each. It has no rules of its own: the handler, the store and the tables are those of a
// deployment, with the engine in place of DynamoDB.
package rehearse

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
)

// A rehearsal ends when it has had so many messages, so many bytes of them, or so much time. The
// engine keeps about four bytes for each byte of a message.
const (
	MaxMessages = 20_000
	maxBytes    = 64 << 20
	maxTime     = 5 * time.Second
)

// Rehearsal is a deployment in memory. Make it with [New] or [Whole].
type Rehearsal struct {
	ingest          *handler.Ingest
	outcomes        []handler.Outcome // of the open batch
	messages, bytes int
	clock           func() time.Time // nil: no time is too long
	began           time.Time
	whole           // only if Whole made it
}

// New deploys the ingest function of a pipeline with empty tables. All messages come at the time
// now. No total refuses an event for its bounds, because what the real totals hold is not known,
// and types that a migration moves have turned. clock tells how long the rehearsal takes. If it is
// nil, the rehearsal may take any time.
func New(p *pipeline.Pipeline, now time.Time, clock func() time.Time) (*Rehearsal, error) {
	r := &Rehearsal{clock: clock}
	_, err := r.deploy(p, testworld.Config{Start: now})
	return r, err
}

// deploy makes the world, with the ingest function in it.
func (r *Rehearsal) deploy(p *pipeline.Pipeline, c testworld.Config) (*pipeline.Pipeline, error) {
	p, err := p.Unconditional()
	if err != nil {
		return nil, err
	}
	c.Stack.Indexes, c.Stack.Offload = p.Indexes(), p.UsesOffload()
	if r.world, err = testworld.New(context.Background(), c); err != nil {
		return nil, err
	}
	if err := r.turn(p); err != nil {
		return nil, err
	}
	if r.clock != nil {
		r.began = r.clock()
	}
	if r.ingest, err = handler.NewIngest(r.world.StoreConfig(p)); err != nil {
		return nil, err
	}
	r.ingest.OnResult = func(_ context.Context, o handler.Outcome) { r.outcomes = append(r.outcomes, o) }
	return p, nil
}

// turn makes the new table the source of every type that a migration moves: the question is what
// becomes of its events once they are stored.
func (r *Rehearsal) turn(p *pipeline.Pipeline) error {
	for name := range p.Describe().Spec.Events {
		migration := p.Migration(name)
		if migration == "" {
			continue
		}
		_, err := r.world.Engine.DynamoDB().UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
			TableName: aws.String(stack.Aggregates), Key: rows.KeyImage(rows.ControlKey(migration)),
			UpdateExpression:          aws.String("SET #t = :new"),
			ExpressionAttributeNames:  map[string]string{"#t": rows.StatePrefix + name},
			ExpressionAttributeValues: rows.Image{":new": rows.Text(rows.New)}})
		if err != nil {
			return fmt.Errorf("rehearsing: %w", err)
		}
	}
	return nil
}

// Over reports whether the rehearsal should end.
func (r *Rehearsal) Over() bool {
	return r.messages >= MaxMessages || r.bytes >= maxBytes || r.clock != nil && r.clock().Sub(r.began) >= maxTime
}

// Put delivers messages as one batch. The outcomes are in the order of the messages.
func (r *Rehearsal) Put(messages []envelope.Message) ([]handler.Outcome, error) {
	r.outcomes = nil
	records := make([]events.SQSMessage, len(messages))
	for i, m := range messages {
		records[i] = record(strconv.Itoa(i), m)
		r.bytes += len(m.Body)
	}
	r.messages += len(messages)
	err := r.measured(func() error {
		_, err := r.ingest.Handle(context.Background(), events.SQSEvent{Records: records})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rehearsing: %w", err)
	}
	return r.outcomes, nil
}

// record returns a message as Lambda hands it over.
func record(id string, m envelope.Message) events.SQSMessage {
	s := events.SQSMessage{MessageId: id, EventSource: "aws:sqs", Body: m.Body}
	for name := range m.Attributes {
		if s.MessageAttributes == nil {
			s.MessageAttributes = map[string]events.SQSMessageAttribute{}
		}
		text := m.Attributes[name]
		s.MessageAttributes[name] = events.SQSMessageAttribute{StringValue: &text, DataType: "String"}
	}
	return s
}
