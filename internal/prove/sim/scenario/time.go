package scenario

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// pass runs the clock command.
func (w *world) pass(a *arguments, out *report) error {
	d, err := span(a.word())
	if err != nil {
		return err
	}
	if d <= 0 {
		return errors.New("time goes forward")
	}
	w.Clock.Pass(d)
	out.linef("%s", w.Clock.Now().Format("Monday 2006-01-02 15:04"))
	return nil
}

// sweep lets time to live do its work, and says what is gone.
func (w *world) sweep(_ *arguments, out *report) error {
	before, err := w.present()
	if err != nil {
		return err
	}
	w.Engine.SweepExpired()
	after, err := w.present()
	for _, name := range before {
		if !slices.Contains(after, name) {
			out.linef("%s is removed", name)
		}
	}
	return err
}

// present names the items of both tables.
func (w *world) present() (list []string, err error) {
	for _, table := range []string{eventsTable, totals} {
		items, err := w.scan(table)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			list = append(list, w.names.address(text(item["PK"]), text(item["SK"])))
		}
	}
	slices.Sort(list)
	return list, nil
}

// roll continues every open shard with a new one.
func (w *world) roll(_ *arguments, out *report) error {
	ctx := context.Background()
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &w.names.arn}
	if _, err := (observed{w}).DescribeStream(ctx, in); err != nil {
		return err
	}
	if err := w.Engine.RollShards(eventsTable); err != nil {
		return err
	}
	known := len(w.names.shards)
	listed, err := (observed{w}).DescribeStream(ctx, in)
	if err != nil {
		return err
	}
	var steps []string
	for _, shard := range listed.StreamDescription.Shards {
		if shard.ParentShardId != nil && w.names.shard(*shard.ShardId) >= string(rune('A'+known)) {
			steps = append(steps, w.names.shard(*shard.ParentShardId)+" is closed, "+w.names.shard(*shard.ShardId)+" follows it")
		}
	}
	out.linef("shard %s", strings.Join(steps, "; shard "))
	return nil
}
