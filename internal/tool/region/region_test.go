package region

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const declared = `ingot: 1
epoch: EPOCH
type: "{type}"
events:
  order: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "-"}}
aggregates:
  orders: {since: EPOCH, from: {order: {values: {orders: count}}}}
`

func load(t *testing.T, epoch int) *pipeline.Pipeline {
	t.Helper()
	return written.Pipeline(t, strings.ReplaceAll(declared, "EPOCH", fmt.Sprint(epoch)))
}

// paused answers for Lambda. Each function has one mapping.
type paused struct {
	pause.Client // what is not asked for
	state        string
	at           time.Time
}

func (p *paused) ListEventSourceMappings(_ context.Context, in *lambda.ListEventSourceMappingsInput,
	_ ...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []lambdatypes.EventSourceMappingConfiguration{{
		UUID: in.FunctionName, State: &p.state, EventSourceArn: aws.String("arn"),
		EventSourceMappingArn: aws.String("arn:aws:lambda:x:0:event-source-mapping:u")}}}, nil
}

func (p *paused) ListTags(context.Context, *lambda.ListTagsInput, ...func(*lambda.Options)) (*lambda.ListTagsOutput, error) {
	return &lambda.ListTagsOutput{Tags: map[string]string{pause.Tag: p.tag()}}, nil
}

func (p *paused) tag() string {
	if p.at.IsZero() {
		return ""
	}
	return p.at.Format(time.RFC3339) + " by jo"
}

// world is two Regions with a replica of the events table each. What is written in the old one
// arrives in the new one when the clock passes. At first, the old one is the home.
type world struct {
	t         *testing.T
	now       time.Time
	old, new  *embedded.Engine
	oldLambda *paused
	newLambda *paused
	cut       bool // nothing is replicated any more
	told      []string
}

var start = must.Time("2026-03-01T12:00:00Z")

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: start}
	clock := func() time.Time { return w.now }
	w.old = embedded.New(embedded.Config{Now: clock, Region: "us-east-1"})
	w.new = embedded.New(embedded.Config{Now: clock, Region: "eu-west-1"})
	for _, e := range []*embedded.Engine{w.old, w.new} {
		_, err := stack.New(t.Context(), e, stack.Config{})
		must.Succeed(t, err)
	}
	w.oldLambda = &paused{state: "Disabled", at: start.Add(-time.Minute)}
	w.newLambda = &paused{state: "Disabled", at: start.Add(-time.Hour)}
	must.Succeed(t, w.starts(w.old, "us-east-1", 3))
	w.replicate()
	return w
}

// starts starts a function in a Region.
func (w *world) starts(e *embedded.Engine, name string, epoch int) error {
	st, err := store.New(tables.Config{Client: e.DynamoDB(), Pipeline: load(w.t, epoch), Events: stack.Events, Aggregates: stack.Aggregates,
		Region: name, Env: env.Env{Now: func() time.Time { return w.now }}})
	must.Succeed(w.t, err)
	return st.Start(w.t.Context())
}

func (w *world) replicate() {
	w.t.Helper()
	if w.cut {
		return
	}
	out, err := w.old.DynamoDB().GetItem(w.t.Context(), &dynamodb.GetItemInput{TableName: aws.String(stack.Events),
		Key: rows.KeyImage(lanes.HomeKey)})
	if err == nil && len(out.Item) > 0 {
		_, err = w.new.DynamoDB().PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stack.Events), Item: out.Item})
	}
	must.Succeed(w.t, err)
}

func (w *world) side(e *embedded.Engine, name string, l *paused) *Side {
	return &Side{Region: name, Tables: e.DynamoDB(), Lambda: l, Events: stack.Events, Aggregates: stack.Aggregates,
		Ingest: "in", Streams: "st"}
}

func (w *world) mover(epoch int) *Mover {
	return &Mover{From: w.side(w.old, "us-east-1", w.oldLambda), To: *w.side(w.new, "eu-west-1", w.newLambda), Pipeline: load(w.t, epoch),
		Env: env.Env{Now: func() time.Time { return w.now }, Sleep: func(_ context.Context, d time.Duration) error {
			w.now = w.now.Add(d)
			w.replicate()
			return nil
		}},
		Tell: func(format string, args ...any) { w.told = append(w.told, fmt.Sprintf(format, args...)) }}
}

func TestMove(t *testing.T) {
	w := newWorld(t)
	elsewhere := (*tables.HomeError)(nil)
	if err := w.starts(w.new, "eu-west-1", 4); !errors.As(err, &elsewhere) || elsewhere.Home != "us-east-1" {
		t.Fatalf("a function in another Region: %v", err)
	}
	m := w.mover(4)
	must.Succeed(t, m.Move(t.Context(), "us-east-1"))
	if waited := w.now.Sub(start); waited < 4*time.Minute || waited > 5*time.Minute || len(w.told) != 2 {
		t.Errorf("waited %s: %q", waited, w.told)
	}
	must.Succeed(t, w.starts(w.new, "eu-west-1", 4))
	must.Succeed(t, m.Move(t.Context(), "us-east-1"))
}

func TestRefusedMoves(t *testing.T) {
	for name, c := range map[string]struct {
		epoch int
		from  string
		make  func(*world, *Mover)
		want  string
	}{
		"an old generation": {3, "us-east-1", nil, "with epoch: 4, and since: 4"},
		"another home":      {4, "eu-central-1", nil, "is us-east-1, and not eu-central-1"},
		"the old one runs":  {4, "us-east-1", func(w *world, _ *Mover) { w.oldLambda.state = "Enabled" }, "in in us-east-1 is not paused"},
		"the new one runs":  {4, "us-east-1", func(w *world, _ *Mover) { w.newLambda.state = "Enabling" }, "in in eu-west-1 is not paused"},
		"no replica":        {4, "us-east-1", func(w *world, m *Mover) { m.To.Events = stack.Aggregates }, "names no home in eu-west-1"},
		"somebody else moves it": {4, "us-east-1", func(w *world, m *Mover) {
			w.cut, m.Tell = true, func(string, ...any) {
				_ = w.side(w.old, "", nil).update(t.Context(), "SET #region = :v", "us-east-1", "eu-central-1")
			}
		}, "is not us-east-1 any more: somebody else has moved it"},
		"nothing arrives": {4, "us-east-1", func(w *world, _ *Mover) { w.cut = true }, "has not arrived within 15 minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			m := w.mover(c.epoch)
			if c.make != nil {
				c.make(w, m)
			}
			must.Fail(t, m.Move(t.Context(), c.from), c.want)
			if home, err := w.side(w.new, "eu-west-1", nil).Home(t.Context()); err != nil || home != "us-east-1" {
				t.Errorf("the home is %q, %v", home, err)
			}
		})
	}
}

// Of a mapping that somebody switched off without a mark, nobody knows for how long it has been
// off.
func TestMoveAfterAnUnmarkedPause(t *testing.T) {
	w := newWorld(t)
	w.newLambda.at = time.Time{}
	must.Succeed(t, w.mover(4).Move(t.Context(), "us-east-1"))
	if waited := w.now.Sub(start); waited < 5*time.Minute {
		t.Errorf("waited %s", waited)
	}
}

// If the old Region is lost, the new stack alone is looked at.
func TestMoveFromALostRegion(t *testing.T) {
	w := newWorld(t)
	m := w.mover(4)
	m.From, w.cut = nil, true
	must.Succeed(t, m.Move(t.Context(), "us-east-1"))
	must.Succeed(t, w.starts(w.new, "eu-west-1", 4))
}
