package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// unready returns both functions with a pipeline that uses hmac and lacks its secret.
func unready(t *testing.T) (*Ingest, *Streams) {
	t.Helper()
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(`# two types
ingot: 1
epoch: 1
type: "{type}"
events:
  keyed: {id: "{id}", at: "{at}", key: {pk: "K#{id | hmac}", sk: "-"}, retain: 90d}
  plain: {id: "{id}", at: "{at}", key: {pk: "P#{id}", sk: "-"}, retain: 90d}
`)}}, "pipeline.yaml", pipeline.CheckOnly())
	must.Succeed(t, err)
	c := tables.Config{Client: nowhere{embedded.New(embedded.Config{}).DynamoDB()}, Pipeline: p, Events: "events"}
	in, err := NewIngest(c)
	must.Succeed(t, err)
	streams, err := NewStreams(c)
	must.Succeed(t, err)
	return in, streams
}

// nowhere takes every put and keeps nothing.
type nowhere struct{ tables.Client }

func (nowhere) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return &dynamodb.PutItemOutput{}, nil
}

// SQS deletes every message that the answer does not name. If planning itself asks for a message
// again, the answer names it, and it stops its group.
func TestPlannedRetryGoesBack(t *testing.T) {
	in, _ := unready(t)
	for name, c := range map[string]struct {
		settle func(*ingestBatch)
		types  []string
		want   string
	}{
		"standard":        {(*ingestBatch).standard, []string{"plain", "keyed", "plain"}, "Inserted Retry! Inserted"},
		"fifo":            {(*ingestBatch).fifo, []string{"plain", "keyed", "plain"}, "Inserted Retry! Retry!"},
		"fifo, it alone":  {(*ingestBatch).fifo, []string{"keyed"}, "Retry!"},
		"nothing settled": {func(*ingestBatch) {}, []string{"plain"}, "None!"},
	} {
		ctx := context.Background()
		b := &ingestBatch{Ingest: in, writing: ctx, sending: ctx}
		b.begin(make([]events.SQSMessage, len(c.types)))
		for i, typ := range c.types {
			*b.outcomes[i].Message = events.SQSMessage{MessageId: fmt.Sprint(i),
				Body: fmt.Sprintf(`{"type":%q,"id":"%d","at":%q}`, typ, i, time.Now().Format(time.RFC3339))}
		}
		c.settle(b)
		var got []string
		for _, o := range b.outcomes {
			text := o.Verdict.String()
			if o.Failed {
				text += "!"
			}
			if o.Failed == o.Verdict.Stored() || o.Verdict == event.Retry && o.Refusal == nil {
				t.Errorf("%s: %+v", name, o)
			}
			got = append(got, text)
		}
		must.Equal(t, strings.Join(got, " "), c.want, name, got)
	}
}

// Both functions refuse a pipeline that is only there to be checked. They say so before they touch
// anything.
func TestRefusesAPipelineWithoutItsSecret(t *testing.T) {
	in, streams := unready(t)
	e := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m", Body: `{"type":"plain","id":"1","at":"2099-03-01T10:00:00Z"}`}}}
	_, err := in.Handle(context.Background(), e)
	if !errors.Is(err, pipeline.ErrNoSecret) || !strings.HasPrefix(err.Error(), "ingest: ") {
		t.Errorf("ingest: %v", err)
	}
	_, err = streams.Handle(context.Background(), json.RawMessage(`{"Records":[]}`))
	if !errors.Is(err, pipeline.ErrNoSecret) || !strings.HasPrefix(err.Error(), "streams: ") {
		t.Errorf("streams: %v", err)
	}
}
