package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

const readings = `ingot: 1
epoch: 1
type: reading
events:
  reading: {id: "{id}", at: "{at}", key: {pk: "SENSOR#{sensor}", sk: "{@id}"}}
aggregates:
  hourly: {since: 1, by: {sensor: "{sensor}"}, window: 1h, from: {reading: {values: {warmth: sum celsius}}}}
`

// TestDemoFindsDifferences checks that data which was altered behind Ingot's back gives exit code
// 3, each time.
func TestDemoFindsDifferences(t *testing.T) {
	var events strings.Builder
	for i := range 40 {
		fmt.Fprintf(&events, `{"id":%d,"at":"2024-05-01T10:%d:00Z","sensor":"roof","celsius":%d}`+"\n", i, 10+i, i/4)
	}
	dir := t.TempDir()
	flags := demoFlags{file: filepath.Join(dir, "events.ndjson"), pipeline: filepath.Join(dir, "pipeline.yaml"), repeat: 1, seed: 1,
		counting: "marks"}
	must.Succeed(t, os.WriteFile(flags.file, []byte(events.String()), 0o600))
	must.Succeed(t, os.WriteFile(flags.pipeline, []byte(readings), 0o600))
	key := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "A#hourly#1#0#roof"},
		"SK": &types.AttributeValueMemberS{Value: "2024-05-01T10:00:00Z"}}
	table := aws.String("totals")
	alter := func(attribute string) func(context.Context, *embedded.Engine) error {
		return func(ctx context.Context, e *embedded.Engine) error {
			_, err := e.DynamoDB().UpdateItem(ctx,
				&dynamodb.UpdateItemInput{TableName: table, Key: key, UpdateExpression: aws.String("ADD #a :one"),
					ConditionExpression: aws.String("attribute_exists(PK)"), ExpressionAttributeNames: map[string]string{"#a": attribute},
					ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}})
			return err
		}
	}
	for name, tamper := range map[string]func(context.Context, *embedded.Engine) error{
		"a value altered": alter("warmth"),
		"an fp altered":   alter("fp"),
		"a total deleted": func(ctx context.Context, e *embedded.Engine) error {
			_, err := e.DynamoDB().DeleteItem(ctx,
				&dynamodb.DeleteItemInput{TableName: table, Key: key, ConditionExpression: aws.String("attribute_exists(PK)")})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			a := &app{&command.App{IO: cli.IO{Env: func(string) (string, bool) { return "", false },
				Stdout: &out, Stderr: &errs}}}
			config, err := a.demoConfig(flags, flags.file)
			must.Succeed(t, err)
			config.Tamper = tamper
			var exit *cli.ExitError
			if err := a.checked(t.Context(), config, 3); !errors.As(err, &exit) || exit.Code != cli.Different {
				t.Errorf("it ends with %v", err)
			}
			if missed := strings.Contains(out.String(),
				"40 events, made before the trouble   1  no difference"); missed != (name == "an fp altered") {
				t.Errorf("the list's check (missed: %v):\n%s", missed, out.String())
			}
			if !strings.Contains(out.String(), "DIFFERENCE") ||
				!strings.Contains(out.String(), "hourly since 1 by roof at 2024-05-01T10:00:00Z") ||
				strings.Contains(errs.String(), "exit code") {
				t.Errorf("stdout:\n%s\nstderr:\n%s", out.String(), errs.String())
			}
		})
	}
}
