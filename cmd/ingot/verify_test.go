package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/cmd/ingot/rebuild"
	"github.com/ingot-events/ingot/cmd/ingot/verify"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/nearby"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/dev"
)

func (w *devWorld) sales(n int) {
	w.t.Helper()
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"type":"sale","id":"s%d","cents":%d,"customer":{"email":"a@b.example"},"at":"2030-03-01T09:00:00Z"}`, i,
			10*i)
	}
	w.send(0, bodies...)
	w.counted(n)
}

// counted waits until so many events are in the total.
func (w *devWorld) counted(n int) {
	w.t.Helper()
	until(w.t, "the sales are counted", func() bool {
		out, err := w.dev.Engine().DynamoDB().GetItem(context.Background(),
			&dynamodb.GetItemInput{TableName: &[]string{stack.Aggregates}[0], Key: salesKey()})
		must.Succeed(w.t, err)
		v, _ := out.Item["n"].(*types.AttributeValueMemberN)
		return v != nil && v.Value == fmt.Sprint(n)
	})
}

func salesKey() map[string]types.AttributeValue {
	return testworld.Key("A#sales#1#0", "-")
}

func (w *devWorld) alter(expression, value string) {
	w.t.Helper()
	table := stack.Aggregates
	_, err := w.dev.Engine().DynamoDB().UpdateItem(context.Background(),
		&dynamodb.UpdateItemInput{TableName: &table, Key: salesKey(), UpdateExpression: &expression,
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberN{Value: value}}})
	must.Succeed(w.t, err)
}

func TestVerify(t *testing.T) {
	w := newDevWorld(t)
	w.sales(5)
	got := w.run(exitFine, "verify --local")
	must.Say(t, got.errors, "verify reads about 5 items of the events table and ", "dollars at the prices of us-east-1")
	must.Equal(t, got.out, "5 items, 1 total: no difference\n")
	must.Equal(t, w.run(exitFine, "verify --local --dry-run").out, "")
	w.alter("ADD cents :v", "1")
	got = w.run(exitDifference, "verify --local")
	must.Equal(t, got.out, "sales since 1: cents is 101, and its items add up to 100\n5 items, 1 total: 1 difference\n")
	got = w.run(exitDifference, "verify --local --twice --work", filepath.Join(t.TempDir(), "work"))
	if !strings.HasPrefix(got.out, "damaged: sales since 1: cents is 101") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	var out verify.Verified
	got = w.run(exitDifference, "verify --local --output json")
	got.reads(t, &out)
	if out.Equal || len(out.Differences) != 1 || out.Differences[0].What != "cents" || out.Differences[0].Damaged != nil {
		t.Errorf("%s", got.out)
	}
}

// Without a lag, nothing is called damaged.
func TestVerifyCannotTell(t *testing.T) {
	w := newDevWorld(t)
	w.sales(2)
	w.alter("ADD fp :v", "1")
	w.env["INGOT_TABLE"], w.env["INGOT_AGGREGATES_TABLE"] = stack.Events, stack.Aggregates
	t.Setenv("AWS_ACCESS_KEY_ID", "x")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "x")
	got := w.run(exitUnsure, "verify --twice --region us-east-1 --endpoint-url", w.dev.Local().Endpoint)
	got.prints(t, "unsure: sales since 1: fp is ")
	must.Say(t, got.errors, "nothing can be called damaged: nobody can tell how far the streams function is: only the tables are known")
}

// In a bucket, a pass that has compared everything leaves only an empty manifest of each segment:
// so a process that was given up cannot write its own.
func TestVerifyInABucket(t *testing.T) {
	w := newDevWorld(t)
	w.sales(5)
	client, bucket := w.dev.Engine().S3(), "my-bucket"
	must.Succeed(t, stack.CreateArchive(t.Context(), client, bucket))
	must.Equal(t, w.run(exitFine, "verify --local --memory 1 --work s3://my-bucket/w").out, "5 items, 1 total: no difference\n")
	left, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket})
	if err != nil || len(left.Contents) == 0 {
		t.Fatalf("%d objects are left, %v", len(left.Contents), err)
	}
	for _, o := range left.Contents {
		if !strings.HasSuffix(*o.Key, ".manifest") || *o.Size > 300 {
			t.Errorf("%s is left, with %d bytes", *o.Key, *o.Size)
		}
	}
	must.Say(t, w.run(exitFailed, "verify --local --work s3://no-bucket/w").errors, "no-bucket")
	for _, words := range []string{"--work=", "--work s3://bucket", "--rate -1", "--memory 0", "--segments -1", "more"} {
		w.run(exitUsage, "verify --local "+words)
	}
}

// An aggregate that was added is brought up to date with one command.
func TestRebuild(t *testing.T) {
	w := newDevWorld(t)
	w.sales(6)
	got := w.run(exitFine, "rebuild --all --local")
	must.Say(t, got.errors, "every aggregate is recorded as complete", "To prove it, run ingot verify")
	must.Equal(t, got.out, "")
	more := strings.Replace(letterSpec, "epoch: 1", "epoch: 2", 1) +
		"  again: {since: 2, onExpire: keep, from: {sale: {values: {sales: count}}}}\n"
	write(t, "pipeline.yaml", more)
	w.dev.Reload(t.Context())
	got = w.run(exitFine, "verify --local").prints(t, "building: again since 2; ingot rebuild completes it")
	got = w.run(exitFine, "rebuild again --local --dry-run")
	must.Say(t, got.errors, "only during a pause")
	must.Equal(t, got.out, "")
	var planned pass.Price
	w.run(exitFine, "rebuild again --local --dry-run --output json").reads(t, &planned)
	must.Equal(t, planned.Writes, 6)
	got = w.run(exitFine, "rebuild again --local --segments 3 --rate 1000 --work folder")
	must.Say(t, got.errors, "touched 6 of 6 items")
	must.Equal(t, got.out, "complete: again since 2\n")
	must.Equal(t, w.run(exitFine, "verify --local").out, "6 items, 2 totals: no difference\n")
	var did rebuild.Rebuilt
	w.run(exitFine, "rebuild again --local --output json").reads(t, &did)
	if did.Scanned != 6 || did.Touched != 0 || did.WriteUnits != 0 || did.ReadUnits < 2 {
		t.Errorf("%+v", did)
	}
	for _, line := range []string{"", "again --rate -1", "again --segments -2", "again --all", "nobody"} {
		w.run(exitUsage, "rebuild "+line+" --local")
	}
}

// How far an ingot dev has counted is proven by no clock: this one is two hours ahead.
func TestLagOfDev(t *testing.T) {
	w := newDevWorldAt(t, func() time.Time { return time.Now().Add(2 * time.Hour) }, map[string]string{"pipeline.yaml": letterSpec})
	w.run(exitFine, "pause --local").prints(t, "the stream is read to its end")
}

// A total that newer events have made anew is there, so the sample does not show the loss. Verify
// does.
func TestRebuildDoesNotProve(t *testing.T) {
	w := newDevWorld(t)
	w.sales(6)
	w.loseTotals()
	w.send(0, `{"type":"sale","id":"new","cents":1,"customer":{"email":"a@b.example"},"at":"2030-03-01T09:00:00Z"}`)
	w.counted(1)
	must.Say(t, w.run(exitFine, "rebuild --all --local").errors, "To prove it, run ingot verify")
	w.run(exitDifference, "verify --local").prints(t, "7 items")
}

// An aggregates table that was lost and made anew does not know what it lacks. The events do.
func TestRebuildAfterALoss(t *testing.T) {
	w := newDevWorld(t)
	w.sales(6)
	w.loseTotals()
	got := w.run(exitDifference, "rebuild --all --local")
	want := "not complete: sales since 1: totals of stored events are missing, as in an aggregates table that was created again. Raise epoch to 2, give the aggregate since: 2, deploy, and run the same command again\n"
	if got.out != want {
		t.Fatalf("%s%s", got.out, got.errors)
	}
	// The way out is the same with more spread, for a total that has outgrown its item.
	next := strings.NewReplacer("epoch: 1", "epoch: 2", "since: 1", "since: 2, spread: 4").Replace(letterSpec)
	write(t, "pipeline.yaml", next)
	w.dev.Reload(t.Context())
	must.Equal(t, w.run(exitFine, "rebuild --all --local").out, "complete: sales since 2\n")
	must.Equal(t, w.run(exitFine, "verify --local").out, "6 items, 1 total: no difference\n")

	// The new table may also begin with the new file. Then nothing is missing that the file knows
	// of, but the events are older than it.
	w.loseTotals()
	next = strings.NewReplacer("epoch: 2", "epoch: 3", "since: 2", "since: 3").Replace(next)
	write(t, "pipeline.yaml", next)
	w.dev.Reload(t.Context())
	must.Equal(t, w.run(exitFine, "rebuild --all --local").out, "complete: sales since 3\n")
}

// loseTotals deletes the table of the totals, and makes an empty one, as a client of AWS does. It
// returns when the functions go on.
func (w *devWorld) loseTotals() {
	w.t.Helper()
	client := nearby.Client()
	defer client.CloseIdleConnections()
	db := dynamodb.New(dynamodb.Options{Region: dev.Region, BaseEndpoint: aws.String(w.dev.Local().Endpoint), HTTPClient: client,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
	table := stack.Aggregates
	_, err := db.DeleteTable(w.t.Context(), &dynamodb.DeleteTableInput{TableName: &table})
	must.Succeed(w.t, err)
	_, err = stack.AggregatesTable(table).Create(w.t.Context(), db)
	must.Succeed(w.t, err)
	until(w.t, "the deployed file is there", func() bool {
		out, err := db.Scan(w.t.Context(), &dynamodb.ScanInput{TableName: &table})
		return err == nil && slices.ContainsFunc(out.Items, func(item map[string]types.AttributeValue) bool { // the file comes last
			pk, _ := item["PK"].(*types.AttributeValueMemberS)
			return pk != nil && strings.HasPrefix(pk.Value, "F#")
		})
	})
}
