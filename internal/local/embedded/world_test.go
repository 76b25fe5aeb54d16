package embedded_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// clock is an engine clock that moves only when told to.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

// world is an engine with one table (PK, SK, index GSI1, stream, TTL on expiresAt).
type world struct {
	*testing.T
	clock *clock
	e     *embedded.Engine
	db    *embedded.DynamoDB
	arn   string // of the stream
}

var background = context.Background()

func newWorld(t *testing.T, change ...func(*embedded.Config)) *world {
	t.Helper()
	w := &world{T: t, clock: &clock{must.Time("2030-01-02T03:04:05.6Z")}}
	cfg := embedded.Config{Now: w.clock.now, Seed: 1}
	for _, f := range change {
		f(&cfg)
	}
	w.e = embedded.New(cfg)
	w.db = w.e.DynamoDB()
	w.arn = w.createTable("events")
	return w
}

func (w *world) createTable(name string) (streamARN string) {
	w.Helper()
	streamARN, err := eventsTable(name).Create(background, w.db)
	held(w, err)
	return streamARN
}

func eventsTable(name string) stack.Table { return stack.EventsTable(name, "GSI1") }

type attrs = map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
func b(v string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(v)} }

func key(pk, sk string) attrs { return attrs{"PK": s(pk), "SK": s(sk)} }

func item(pk, sk string, more attrs) attrs {
	m := key(pk, sk)
	for k, v := range more {
		m[k] = v
	}
	return m
}

func (w *world) put(it attrs) {
	w.Helper()
	_, err := w.db.PutItem(background, &dynamodb.PutItemInput{TableName: aws.String("events"), Item: it})
	held(w, err)
}

func (w *world) get(pk, sk string) attrs {
	w.Helper()
	out, err := w.db.GetItem(background, &dynamodb.GetItemInput{TableName: aws.String("events"), Key: key(pk, sk),
		ConsistentRead: aws.Bool(true)})
	held(w, err)
	return out.Item
}
