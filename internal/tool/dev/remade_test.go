package dev

import (
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// Tables that are deleted and made again are another beginning: of the heads, and of the stream.
// Events are stored, counted and published in them, also after the next start.
func TestTablesThatAreMadeAgain(t *testing.T) {
	cfg := Config{File: folder(t, orders), Data: t.TempDir()}
	must.Write(t, filepath.Join(filepath.Dir(cfg.File), "publish.yaml"), publishing)
	d, err := Start(t.Context(), cfg)
	must.Succeed(t, err)
	t.Cleanup(func() { must.Succeed(t, d.Close()) })
	again := func(table stack.Table) {
		_, tables := clients(t, d)
		_, err := tables.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table.Name})
		must.Succeed(t, err)
		_, err = table.Create(t.Context(), tables)
		must.Succeed(t, err)
	}
	send(t, d, order(1, 100))
	until(t, d, counted(1))
	proven(t, d, 1, 1)
	must.Say(t, taken(t, d), `"order_id":"o-1"`)
	again(stack.EventsTable(stack.Events))
	again(stack.AggregatesTable(stack.Aggregates))
	send(t, d, order(1, 100), order(2, 100))
	until(t, d, counted(1+2))
	proven(t, d, 2, 1)
	must.Succeed(t, d.Close())
	d, err = Start(t.Context(), cfg)
	must.Succeed(t, err)
	send(t, d, order(3, 100))
	until(t, d, counted(1))
	proven(t, d, 3, 1)
	must.Say(t, taken(t, d)+taken(t, d)+taken(t, d), `"order_id":"o-1"`, `"order_id":"o-2"`, `"order_id":"o-3"`)
}
