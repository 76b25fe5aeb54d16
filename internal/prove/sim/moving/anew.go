package moving

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// Emptied is the promise that a source that was created anew does not empty its copy.
const Emptied stage.Check = "emptied" // a copy is gone, and only because the table of its source is

// DescribeTable gives each table an id. One that was created anew has another.
func (c client) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	return stage.Request(c.World, ctx, "DescribeTable", false, nil, func() (*dynamodb.DescribeTableOutput, error) {
		id := "1"
		if *in.TableName == c.w.anew {
			id = "2"
		}
		return &dynamodb.DescribeTableOutput{Table: &types.TableDescription{TableId: aws.String(id)}}, nil
	})
}

// createAnew deletes the source and creates it anew, empty, while capture and a pass are at work on
// what was changed last. Nothing can go on after it.
func (w *world) createAnew() {
	w.Calm = w.still
	source, copied := w.old.Table, stack.Events
	if w.backward {
		source, copied = copied, source
	}
	was := w.live(copied)
	for account := range accounts {
		if w.backward && w.Chance(0.5) {
			w.People(func() { w.produce(account) })
		}
	}
	if !w.backward {
		w.write(3)
	}
	w.People(func() {
		w.SleepUpTo(30)
		if pass, err := w.sync().BeginPass(context.Background()); err == nil {
			pass.Run(context.Background(), nil)
		}
	})
	w.People(func() {
		w.SleepUpTo(60)
		keep := w.sourceOf(source)
		w.anew = source
		w.Sleep(10 * time.Minute)
		is := w.live(copied)
		for key, row := range was {
			if keep[key] == row && is[key] == "" {
				w.Fail(Emptied, "%s was deleted and created anew, and %s is no longer in %s", source, key, copied)
			}
		}
	})
	w.run(func() bool { return w.Working == 0 })
}

// live returns what a table holds, beside tombstones and bars: by key, the row that it belongs to.
func (w *world) live(table string) map[string]string {
	keys := map[string]string{}
	for _, img := range w.all(table) {
		switch {
		case table == oldTable:
			keys[rowText(img)] = rowText(img)
		case img["type"] != nil && img["i:barred"] == nil:
			keys[keyText(img)] = rowKey(text(img["data"]))
		}
	}
	return keys
}

// sourceOf returns what a source gives its copy: by key, the row that it belongs to. Of two rows
// with one key, the copy may be of either, so there is none.
func (w *world) sourceOf(source string) map[string]string {
	keys := map[string]string{}
	if source != oldTable {
		for _, row := range w.live(source) {
			keys[row] = row
		}
		return keys
	}
	for _, row := range w.all(source) {
		for _, item := range w.items(row) {
			key := item.Key.PK + " " + item.Key.SK
			if _, twice := keys[key]; twice {
				keys[key] = ""
				continue
			}
			keys[key] = rowText(row)
		}
	}
	return keys
}
