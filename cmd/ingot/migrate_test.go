package main

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// oldTable is the one that examples/migrate moves: its sort key begins with a time.
var oldTable = stack.Table{Name: "quakes-v1", Keys: [2]string{"pk", "sk"}, Stream: true}

// quakesMove is a deployment of examples/migrate beside the old table with two rows. It is the
// working directory.
func quakesMove(t *testing.T) (*living, env.Env) {
	t.Helper()
	dir := t.TempDir()
	for name, from := range map[string]string{"pipeline.yaml": "pipeline.yaml", "migration.yaml": "back.yaml"} {
		text, err := examples.Files.ReadFile(path.Join("migrate", from))
		must.Succeed(t, err)
		write(t, filepath.Join(dir, name), string(text))
	}
	write(t, filepath.Join(dir, "row.json"), `{"Item": {"pk": {"S": "DAY#2018-02-01"}, "sk": {"S": "1517446923000#us1"}, "net": {"S": "us"},
  "ms": {"N": "1517446923000"}, "mag": {"N": "4.50"}}}`)
	write(t, filepath.Join(dir, "bad.json"), `{"pk": {"S": "DAY#2018-02-01"}, "sk": {"S": "no id"}}`)
	change(t, filepath.Join(dir, "pipeline.yaml"), `pk: "NET#{net}"`, `pk: "NET#{net | hmac}"`)
	clock := quickClock()
	w := lives(t, dir, clock.Now)
	t.Chdir(dir)
	_, err := oldTable.Create(t.Context(), w.Engine().DynamoDB())
	must.Succeed(t, err)
	return w, clock
}

func (w *living) quake(t *testing.T, day, sk string, more ...string) {
	t.Helper()
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	row := map[string]types.AttributeValue{"pk": text("DAY#" + day), "sk": text(sk), "net": text("us"),
		"ms": &types.AttributeValueMemberN{Value: "1517446923000"}, "mag": &types.AttributeValueMemberN{Value: "4.5"}, "memo": text("x")}
	for _, name := range more {
		delete(row, name)
	}
	_, err := w.Engine().DynamoDB().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(oldTable.Name), Item: row})
	must.Succeed(t, err)
}

// The commands move a table to its turn, back, and to its end. They tell what stands
// in the way, and send no request that their policy does not allow.
func TestMigrate(t *testing.T) {
	w, clock := quakesMove(t)
	w.quake(t, "2018-02-01", "1517446923000#us1")
	w.quake(t, "2018-02-01", "1517446923000#us2")
	w.lapse(t)
	migrate := func(ctx context.Context, line string) ran {
		return toolIn(ctx, appOf(cli.IO{Clock: clock}), "migrate "+line+" --stack shop")
	}
	move := func(code int, line string, parts ...string) {
		t.Helper()
		o := migrate(t.Context(), line)
		must.Equal(t, o.code, code, line)
		must.Say(t, o.out+o.errors, parts...)
	}
	compared := func(code int) func() bool {
		return func() bool { return migrate(t.Context(), "compare").code == code }
	}
	move(0, "status", "passes begun 0", "not compared", "missing: migration quakes has no control item",
		"table quakes-v1: 2 rows; 2 of them were read", "2 become quake", "2 have memo, which no template takes", "backfill")
	move(exitUsage, "backfill", "write --yes")
	move(0, "backfill --yes", "backfill reads about 2 rows of table quakes-v1: 1 read unit, 0.0000 dollars", "capture has not begun",
		"pass 1 has ended: 2 rows read, 2 inserted")
	move(0, "compare", "compare reads about 2 rows of table quakes-v1: 1 read unit, ", "2 rows, 2 copies", "not taken  2 rows")
	waits := clock.Sleep
	over, end := context.WithCancel(t.Context())
	end()
	clock.Sleep = func(_ context.Context, d time.Duration) error { // nothing will come
		_ = waits(over, d)
		return nil
	}
	move(exitRefused, "turn --yes", "it has noted nothing there: is it on")
	clock.Sleep = waits
	capture, stop := context.WithCancel(t.Context())
	ended := make(chan ran)
	go func() { ended <- migrate(capture, "capture --yes") }()
	w.quake(t, "2018-02-02", "1517446923000#us1") // the same earthquake under another day
	w.quake(t, "2018-02-02", "no id")
	until(t, "the collision is compared", compared(exitDifference))
	row := func(day, sk string) string { return `{"pk":{"S":"DAY#` + day + `"},"sk":{"S":"` + sk + `"}}` }
	both := "collision  QUAKE#us1 / QUAKE: " + row("2018-02-01", "1517446923000#us1") + ", " + row("2018-02-02", "1517446923000#us1") + "\n"
	move(exitDifference, "compare", both, "refused  "+row("2018-02-02", "no id")+": Poison (missing-field)", "collision  1 keys",
		"refused  1 rows: Poison (missing-field)")
	move(0, "status --rows 0", both, "refused  "+row("2018-02-02", "no id"), "1 meet another row on one key")
	move(exitRefused, "turn --yes", "1 collisions, 1 refused rows")
	for sk, day := range map[string]string{"1517446923000#us1": "2018-02-02", "no id": "2018-02-02", "1517446923000#us2": "2018-02-01"} {
		_, err := w.Engine().DynamoDB().DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(oldTable.Name),
			Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "DAY#" + day},
				"sk": &types.AttributeValueMemberS{Value: sk}}})
		must.Succeed(t, err)
	}
	until(t, "the rows are equal", compared(exitFine))
	w.cloud.Mappings = mappings.New(mappings.Mapping{UUID: "u-3", Function: "other", Source: "arn:stream"},
		mappings.Mapping{UUID: "u-4", Function: "copier", Source: w.oldStream(t)})
	move(exitRefused, "compare --function other", "function other does not read the stream")
	move(0, "compare --function copier", "equal: each row has its copy")
	move(0, "compare", "equal: each row has its copy")
	move(0, "compare --segments 3 --memory 1 --work "+t.TempDir(), "equal: each row has its copy")
	move(exitUsage, "compare --large arn:x --work dir", "the workers need a place for sums: write --work s3://BUCKET/PREFIX")
	move(0, "status --quiet 0", "capture has not been proven to go on since the last comparison")
	move(0, "turn --yes --quiet 0", "the new table is the source", "next: ingot rebuild network_day")
	w.complete(t)
	_, err := w.Engine().SQS().SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(w.Local().QueueURL),
		MessageBody: aws.String(`{"id":"us7","net":"us","time":1517446923001,"mag":5}`)})
	must.Succeed(t, err)
	w.quake(t, "2018-02-09", "1#nobody") // by a forgotten job
	until(t, "the event is a row", func() bool { return w.rowsOfOld(t) == "1517446923000#us1 1517446923001#us7" })
	move(exitUsage, "back", "write --yes")
	until(t, "the rows are equal", compared(exitFine))
	move(0, "back --yes --quiet 0", "messages wait in quarantine")
	until(t, "the old table is the source again", func() bool {
		return strings.Contains(migrate(t.Context(), "back --yes --quiet 0").out, "the old table is the source again")
	})
	until(t, "the rows are equal", compared(exitFine))
	move(0, "turn --yes --quiet 0", "the new table is the source")
	stop()
	if o := <-ended; o.code != 0 && o.code != exitInterrupted ||
		!strings.Contains(o.errors, "some changes have no place on the other side") ||
		!strings.Contains(o.errors, "as one more reader: a shard has room for two") {
		t.Errorf("capture: exit code %d: %s", o.code, o.errors)
	}
	move(exitUsage, "retire", "write --yes")
	move(exitRefused, "retire --yes", "retire later")
	w.complete(t)
	again := migrate(t.Context(), "turn --yes --quiet 0").says(t, 0)
	again.prints(t, "messages that have come before the turn and still wait").lacks(t, "ingot rebuild")
	_ = clock.Sleep(t.Context(), time.Hour)
	migrate(t.Context(), "retire --yes").says(t, 0).prints(t, "1 tombstones were deleted", "--table-name quakes-v1")
	w.used(t, "migrate")
	w.quake(t, "2018-02-05", "1517446923000#us5") // something still writes
	migrate(t.Context(), "retire --yes").says(t, exitRefused,
		"written 1 rows of table quakes-v1 since capture was over", "or write --unwatched")
	toolIn(t.Context(), appOf(cli.IO{Clock: clock}), "verify --stack shop").lacks(t, "left out")
}

// rowsOfOld lists the sort keys of the old table.
func (w *living) rowsOfOld(t *testing.T) string {
	t.Helper()
	out, err := w.Engine().DynamoDB().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(oldTable.Name)})
	must.Succeed(t, err)
	var list []string
	for _, row := range out.Items {
		list = append(list, rows.TextOf(row["sk"]))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// complete says of the total that it is complete, as a rebuild does.
func (w *living) complete(t *testing.T) {
	t.Helper()
	def, _ := w.Pipeline().Definition("network_day")
	head := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: lanes.HeadKey(def).PK},
		"SK": &types.AttributeValueMemberS{Value: lanes.HeadKey(def).SK}}
	in := &dynamodb.UpdateItemInput{TableName: aws.String(stack.Aggregates), Key: head, UpdateExpression: aws.String("REMOVE building")}
	_, err := w.Engine().DynamoDB().UpdateItem(t.Context(), in)
	must.Succeed(t, err)
}

// oldStream returns the ARN of the stream of the old table.
func (w *living) oldStream(t *testing.T) string {
	t.Helper()
	in := &dynamodb.DescribeTableInput{TableName: aws.String(oldTable.Name)}
	out, err := w.Engine().DynamoDB().DescribeTable(t.Context(), in)
	must.Succeed(t, err)
	return *out.Table.LatestStreamArn
}

// A row is explained without a stack.
func TestMigrateExplain(t *testing.T) {
	quakesMove(t)
	explain := func(line string) ran { return tool(t, "explain --migration migration.yaml "+line) }
	explain("row.json").says(t, 0).prints(t, "rows[1] takes the row", `"id":"us1"`, "QUAKE#us1", "GSI1")
	explain("bad.json").says(t, exitDifference).prints(t, "too few pieces")
	tool(t, "explain row.json --migration none.yaml").says(t, exitUsage, "there is no none.yaml")
	explain("row.json --reveal").says(t, exitUsage, "leave --reveal out")
	must.Succeed(t, os.WriteFile("migration.yaml", []byte("migration: 1\n"), 0o600))
	explain("row.json").says(t, exitUsage, "name is missing")
	explain("nothing.json").says(t, exitUsage)
}
