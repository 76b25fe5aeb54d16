package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const (
	movedRows     = 20_000
	rowBytes      = 500 // about
	insertedBatch = 1000
	capturedRows  = 5_000
	capturedBatch = 100 // records, as in cmd/migrate/template.yaml
)

// moved is a table that moves, on the engine with the delay for each request.
type moved struct {
	engine  *embedded.Engine
	slow    bool
	config  tables.Config
	mapping *rowmap.Mapping
	sync    *migrate.Migration
	count   int
}

// row is one of the rows.
func (m *moved) row(i int) migrate.Row {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	return migrate.Row{"pk": text(fmt.Sprint("DAY#", i%100)), "sk": text(fmt.Sprintf("00:00:00.000#q%d", i)), "net": text("us"),
		"place": text(strings.Repeat("x", rowBytes-120)), "mag": &types.AttributeValueMemberN{Value: "4.5"},
		"ms": &types.AttributeValueMemberN{Value: fmt.Sprint(1_900_000_000_000 + i)}}
}

// migrate measures how fast a table moves, beside an insert of the same events.
func (b *bench) migrate(ctx context.Context) error {
	b.head("Migration: %d rows of about %d bytes, %s for each request", movedRows, rowBytes, delay)
	_, inserted, err := b.copied(ctx, "our batched insert", movedRows, true, (*moved).insert)
	if err != nil {
		return err
	}
	m, passed, err := b.copied(ctx, "the first pass", movedRows, true, (*moved).pass)
	if err != nil {
		return err
	}
	b.atLeast("rows a second of the first pass, times those of our batched insert", passed/inserted, 0.9)
	return b.captures(ctx, m)
}

// copied copies so many rows of a new table, and returns how many a second that were.
func (b *bench) copied(ctx context.Context, name string, count int, slow bool,
	do func(*moved, context.Context) error) (m *moved, rate float64, err error) {
	if m, err = newMoved(ctx, count); err != nil {
		return nil, 0, err
	}
	took, units, err := m.timed(slow, func() error { return do(m, ctx) })
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	rate = float64(count) / took.Seconds()
	b.note("%s: %s rows a second, %.2f write units a row", name, short(rate), units/float64(count))
	return m, rate, nil
}

// moves measures the first pass with as many rows as the large run has events, and without a delay:
// what a row takes must not depend on how many there are.
func (b *bench) moves(ctx context.Context) error {
	var first [2]float64
	for i, count := range []int{min(movedRows, b.events/2), b.events} {
		b.head("Migration: %d rows of about %d bytes, no delay", count, rowBytes)
		m, rate, err := b.copied(ctx, "the first pass", count, false, (*moved).pass)
		if err != nil {
			return err
		}
		first[i] = rate
		if err := b.compares(ctx, m, false); err != nil {
			return err
		}
	}
	b.atLeast("rows a second of the first pass over all rows, times those over few", first[1]/first[0], 0.7)
	return nil
}

// newMoved makes the tables and fills the old one.
func newMoved(ctx context.Context, count int) (*moved, error) {
	m := &moved{count: count}
	m.engine = embedded.New(embedded.Config{Intercept: slowed(&m.slow)})
	files, err := fs.Sub(examples.Files, "migrate")
	if err != nil {
		return nil, err
	}
	p, err := pipeline.Load(files, "pipeline.yaml")
	if err != nil {
		return nil, err
	}
	if m.mapping, err = rowmap.Load(files, "migration.yaml", p); err != nil {
		return nil, err
	}
	if _, err := stack.New(ctx, m.engine, stack.Config{Indexes: p.Indexes()}); err != nil {
		return nil, err
	}
	old := stack.Table{Name: "quakes-v1", Keys: [2]string{"pk", "sk"}, Stream: true}
	if _, err := old.Create(ctx, m.engine.DynamoDB()); err != nil {
		return nil, err
	}
	for i := range count {
		if _, err := m.engine.DynamoDB().PutItem(ctx, &dynamodb.PutItemInput{TableName: &old.Name, Item: m.row(i)}); err != nil {
			return nil, err
		}
	}
	found, err := migrate.Find(ctx, m.engine.DynamoDB(), m.engine.DynamoDB(), old.Name, stack.Events)
	if err != nil {
		return nil, err
	}
	m.config = tables.Config{Client: m.engine.DynamoDB(), Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates}
	m.sync, err = migrate.NewMigration(m.mapping, found.Source, m.config)
	return m, err
}

// timed returns how long do takes, if slow while requests have their delay, and its write units.
func (m *moved) timed(slow bool, do func() error) (time.Duration, float64, error) {
	m.slow = slow
	defer func() { m.slow = false }()
	before := m.engine.Usage()
	r, err := measure(do)
	return r.took, m.engine.Usage().Sub(before).WriteUnits(), err
}

// insert puts the same events as the ingest function would, if their type were not migrated.
func (m *moved) insert(ctx context.Context) error {
	files, err := fs.Sub(examples.Files, "migrate")
	if err != nil {
		return err
	}
	text, err := fs.ReadFile(files, "pipeline.yaml")
	if err != nil {
		return err
	}
	plain := strings.Replace(string(text), "    migrated: quakes", "    # ", 1)
	c := m.config
	if c.Pipeline, err = pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(plain)}}, "p.yaml"); err != nil {
		return err
	}
	st, err := store.New(c)
	if err != nil {
		return err
	}
	for at := 0; at < m.count; at += insertedBatch {
		bodies := make([]string, min(insertedBatch, m.count-at))
		for i := range bodies {
			bodies[i] = string(m.mapping.Map(m.row(at + i)).Payload)
		}
		if err := puts(ctx, st, bodies, event.Inserted); err != nil {
			return err
		}
	}
	return nil
}

// pass is the first pass of a backfill.
func (m *moved) pass(ctx context.Context) error {
	pass, err := m.sync.BeginPass(ctx)
	if err != nil {
		return err
	}
	done, err := pass.Run(ctx, nil)
	if err == nil && done.Inserted != m.count {
		err = fmt.Errorf("%d of %d rows were inserted", done.Inserted, m.count)
	}
	return err
}

// captures measures capture on one shard, after the first pass, and a comparison.
func (b *bench) captures(ctx context.Context, m *moved) error {
	capture := &migrate.Capture{Migration: m.sync}
	took, units, err := m.timed(true, func() error {
		for n := range capturedRows / capturedBatch {
			out, err := capture.Handle(ctx, m.batch(n))
			if err != nil || len(out.BatchItemFailures) > 0 {
				return fmt.Errorf("capture: %+v, %w", out, err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	rate := capturedRows / took.Seconds()
	b.note("capture, batches of %d from one shard: %s rows a second, %.2f write units a row", capturedBatch, short(rate), units/capturedRows)
	b.atLeast("rows a second of capture, one shard", rate, 1000)
	return b.compares(ctx, m, true)
}

// compares measures a comparison that finds the one attribute that is altered.
func (b *bench) compares(ctx context.Context, m *moved, slow bool) error {
	altered := migrate.Row{"PK": &types.AttributeValueMemberS{Value: "QUAKE#q7"}, "SK": &types.AttributeValueMemberS{Value: "QUAKE"}}
	if _, err := m.engine.DynamoDB().UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String(stack.Events), Key: altered,
		UpdateExpression:          aws.String("SET GSI1PK = :x"),
		ExpressionAttributeValues: migrate.Row{":x": &types.AttributeValueMemberS{Value: "NET#xx"}}}); err != nil {
		return err
	}
	before := m.engine.Usage()
	var c *migrate.Compared
	took, _, err := m.timed(slow, func() (err error) {
		c, err = m.sync.Compare(ctx, now{})
		return err
	})
	if err != nil {
		return err
	}
	used := m.engine.Usage().Sub(before)
	b.note("a comparison of %d rows: %s s, %.3f read units a row", m.count, short(took.Seconds()), used.ReadUnits()/float64(m.count))
	b.atLeast("differences that a comparison finds of one that was planted", float64(len(c.Differences)), 1)
	return nil
}

// batch is what Lambda hands to capture for a part of the rows.
func (m *moved) batch(n int) json.RawMessage {
	var records []string
	for i := range capturedBatch {
		row := m.row(n*capturedBatch + i)
		records = append(records, fmt.Sprintf(`{"dynamodb":{"SequenceNumber":"%d","Keys":{"pk":{"S":%q},"sk":{"S":%q}}}}`, i+1,
			row["pk"].(*types.AttributeValueMemberS).Value, row["sk"].(*types.AttributeValueMemberS).Value))
	}
	return json.RawMessage(`{"Records":[` + strings.Join(records, ",") + `]}`)
}

// now is a capture that is never behind.
type now struct{}

func (now) Counted(context.Context) (time.Time, error) { return time.Now(), nil }
