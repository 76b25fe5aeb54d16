package dev

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/local/stack"
)

// Tables that are deleted and made again are another beginning: of the heads, and of the stream.
// Events are stored and counted in them, also after the next start.
func TestTablesThatAreMadeAgain(t *testing.T) {
	cfg := Config{File: folder(t, orders), Data: t.TempDir()}
	d, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	send := func(n int) {
		queue, _ := clients(t, d)
		if _, err := queue.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(d.Local().QueueURL),
			MessageBody: aws.String(order(n, 100))}); err != nil {
			t.Fatal(err)
		}
	}
	again := func(table stack.Table) {
		_, tables := clients(t, d)
		if _, err := tables.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table.Name}); err != nil {
			t.Fatal(err)
		}
		if _, err := table.Create(t.Context(), tables); err != nil {
			t.Fatal(err)
		}
	}
	send(1)
	until(t, d, counted(1))
	proven(t, d, 1, 1)
	again(stack.EventsTable(stack.Events))
	again(stack.AggregatesTable(stack.Aggregates))
	send(1)
	send(2)
	until(t, d, counted(1+2))
	proven(t, d, 2, 1)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = Start(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	send(3)
	until(t, d, counted(1))
	proven(t, d, 3, 1)
}
