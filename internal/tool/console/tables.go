package console

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// DynamoDB is the part of the DynamoDB client that the console needs.
type DynamoDB interface {
	tables.Client
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// SQS is the part of the SQS client that the console needs.
type SQS interface {
	quarantine.Client
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
}

// Resources holds the clients and the names of the tables, queues and buckets of a pipeline. [Live]
// and [Remote] both read with it.
type Resources struct {
	Name  string // what is shown, such as the name of the stack
	Place string // account, region and endpoint, for people

	DynamoDB                                DynamoDB
	SQS                                     SQS
	Events, Aggregates                      string // names of the tables
	Objects                                 tables.Objects
	PayloadBucket                           string // empty: not known, or payloads are in their items
	QueueURL, QuarantineURL, DeadLettersURL string // empty: not known

	// Pipeline returns the pipeline that runs now.
	Pipeline func() *pipeline.Pipeline
	Counting aggregate.Counting
	Now      func() time.Time // nil: time.Now
	// Reveal shows personal values. A value is personal if pipeline.yaml applies hmac to its field.
	Reveal bool

	letters letters
}

// personal returns what must be masked.
func (t *Resources) personal() show.Personal { return show.Masks(t.Pipeline(), t.Reveal) }

func (t *Resources) now() time.Time {
	if t.Now == nil {
		return time.Now()
	}
	return t.Now()
}

// store opens the tables for reading with the pipeline that runs now.
func (t *Resources) store() (*store.Store, *pipeline.Pipeline, error) {
	p := t.Pipeline()
	st, err := store.New(tables.Config{Client: t.DynamoDB, Pipeline: p, Events: t.Events, Aggregates: t.Aggregates, Counting: t.Counting,
		Objects: t.Objects, PayloadBucket: t.PayloadBucket, Env: env.Env{Now: t.now}})
	return st, p, err
}

// about describes what is shown.
func (t *Resources) about(live bool) *About {
	p := t.Pipeline()
	out := &About{Name: t.Name, Place: t.Place, Live: live, Aggregates: []Aggregate{}, Verdicts: verdicts()}
	spec := p.Describe().Spec
	out.Types = []Type{}
	for _, name := range slices.Sorted(maps.Keys(spec.Events)) {
		out.Types = append(out.Types, Type{name, keyFields(spec.Events[name]), p.IsPart(name)})
	}
	for _, def := range p.Definitions() {
		a := Aggregate{Name: def.Name, Since: def.Since, By: append([]string{}, def.By...), ByPut: def.MovedBy == aggregate.Put}
		if def.Window > 0 {
			a.Window = window(def)
		}
		for _, v := range declared(p.Text(), def) {
			value := Value{Name: v.Name, Op: v.Op.String()}
			for _, b := range def.Bounds {
				if def.Values[b.Value].Name == v.Name {
					value.Bounds = append(value.Bounds, fmt.Sprintf("%s of %s", b.Beyond(), b.Limit))
				}
			}
			a.Values = append(a.Values, value)
		}
		out.Aggregates = append(out.Aggregates, a)
	}
	return out
}

// queues reads how full the queues are. It leaves out a queue that cannot be read, and returns the
// reason.
func (t *Resources) queues(ctx context.Context) (list []Queue, missing string) {
	list = []Queue{}
	for _, q := range [][2]string{{"queue", t.QueueURL}, {"quarantine", t.QuarantineURL}, {"dead letters", t.DeadLettersURL}} {
		if q[1] == "" {
			continue
		}
		ready, hidden, err := t.depth(ctx, q[1])
		if err != nil {
			missing = fmt.Sprintf("the %s cannot be read: %v", q[0], err)
			continue
		}
		list = append(list, Queue{q[0], ready, hidden})
	}
	return list, missing
}

// depth returns how many messages of a queue wait, and how many are in work.
func (t *Resources) depth(ctx context.Context, url string) (ready, hidden int, err error) {
	out, err := t.SQS.GetQueueAttributes(ctx,
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{
			"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}})
	if err != nil {
		return 0, 0, err
	}
	ready, _ = strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
	hidden, _ = strconv.Atoi(out.Attributes["ApproximateNumberOfMessagesNotVisible"])
	return ready, hidden, nil
}

// judge says what an event would become if it were delivered now.
func (t *Resources) judge(ctx context.Context, item *event.Item) (tables.Result, error) {
	st, _, err := t.store()
	if err != nil {
		return tables.Result{}, err
	}
	result, _, err := repair.Of(st).Judge(ctx, item)
	return result, err
}
