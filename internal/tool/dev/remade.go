package dev

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// makesTable reports whether a request makes a table, or may add a stream to one.
func makesTable(r *http.Request) bool {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return strings.HasPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_") &&
		slices.Contains([]string{"CreateTable", "RestoreTableFromBackup", "UpdateTable"}, operation)
}

// goOn lets both functions go on after somebody may have deleted tables and made them again. What
// the functions know about the old tables is wrong then, and a new events table has a new stream.
// Until goOn succeeds, nothing is read. It runs between two polls of the stream.
func (d *Dev) goOn(ctx context.Context) error {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	out, err := d.engine.DynamoDB().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(stack.Events)})
	if err != nil {
		return err
	}
	stream := aws.ToString(out.Table.LatestStreamArn)
	if stream == "" {
		return errors.New("the events table has no stream: give it one with new and old images, as template.yaml does")
	}
	was := d.stack.StreamARN
	if d.stack.StreamARN = stream; stream != was {
		if err = d.mapStream(); err != nil {
			return err
		}
		d.switches.Map(target.DevStreams, stream)
	}
	if err := d.deploy(ctx, d.Pipeline(), d.text, d.publishText); err != nil {
		return err
	}
	if stream != was {
		d.kept.position(keptPosition, d.stream.Checkpoint(), d.clock.Now())
		d.kept.position(keptPublished, d.publishing.Load().Checkpoint(), d.clock.Now())
		d.cfg.Tell(fmt.Sprintf("the table %s was made again; both functions go on with it and with its stream", stack.Events))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.troubles, "streams") // if the error comes again, it is reported again
	return nil
}
