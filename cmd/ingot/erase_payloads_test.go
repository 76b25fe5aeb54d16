package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/erase/stray"
)

// longAgo is the clock of a machine, in the eyes of a tool on another one.
func longAgo() time.Time { return time.Now().Add(-26 * time.Hour) }

// by runs the tool by a clock that waiting does not set ahead.
func (w *devWorld) by(now func() time.Time, code int, line string) ran {
	w.t.Helper()
	clock := quickClock()
	clock.Now = now
	got := toolIn(w.t.Context(), appOf(cli.IO{Clock: clock}), line)
	if got.code != code {
		w.t.Fatalf("ingot %s: exit code %d, want %d\n%s%s", line, got.code, code, got.out, got.errors)
	}
	return got
}

// Objects of the payload bucket that belong to no event are listed, and deleted while nothing is
// being stored. All others stay.
func TestErasePayloads(t *testing.T) {
	w := newDevWorldAt(t, longAgo, map[string]string{"pipeline.yaml": postSpec})
	w.send(0, post("1", 400), post("2", 10))
	owned := w.objects()
	w.send(0, strings.Replace(post("1", 400), "400", "400.0", 1)) // a copy in another spelling
	w.send(1, post("2", 11))                                      // a conflict
	w.send(1, post("3", 1))
	for _, key := range w.kept() { // nobody knows what the object of an item is that cannot be read
		if strings.HasPrefix(key, "POST#3|") {
			w.sets(key, "digest", &types.AttributeValueMemberS{Value: "x"})
		}
	}
	foreign := "notes/of/somebody.json"
	_, err := w.dev.Engine().S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(stack.Payloads), Key: &foreign,
		Body: strings.NewReader("{}")})
	must.Succeed(t, err)
	all := w.objects()
	var strays []string
	for _, name := range all {
		if strings.Contains(name, "/"+w.hash("POST#1")+"/") || strings.Contains(name, "/"+w.hash("POST#2")+"/") {
			if !slices.Contains(owned, name) {
				strays = append(strays, name)
			}
		}
	}
	if len(all) != 6 || len(strays) != 2 {
		t.Fatalf("%v", all)
	}

	dayAfter := func() time.Time { return longAgo().Add(24 * time.Hour) } // a stream still has the records
	w.by(dayAfter, 0, "erase --payloads --dry-run --local").prints(t, "0 objects of no event\n2 others of the last 25 hours left alone\n")
	dry := w.run(0, "erase --payloads --dry-run --local")
	for _, name := range strays {
		dry.prints(t, "payload       s3://payloads/"+name+", 20")
	}
	dry.prints(t, "\n2 objects of no event\n")
	must.Equal(t, len(w.objects()), 6)
	must.Say(t, w.run(5, "erase --payloads --yes --local").errors, "ingest is not paused")
	must.Equal(t, len(w.objects()), 6)
	w.run(0, "pause --local")
	w.by(longAgo, 0, "erase --payloads --yes --local").prints(t, "0 objects of no event: deleted\n2 others of the last 25 hours")
	must.Equal(t, len(w.objects()), 6)
	var out stray.Found
	w.by(time.Now, 0, "erase --payloads --yes --local --output json").reads(t, &out)
	if len(out.Payloads) != 2 || out.Young != 0 || *out.Deleted != 2 || out.Payloads[0].Bucket != stack.Payloads ||
		out.Payloads[0].Name != strays[0] {
		t.Errorf("%+v", out)
	}
	must.Match(t, w.objects(), slices.DeleteFunc(all, func(name string) bool { return slices.Contains(strays, name) }))
	w.run(0, "resume --local")
	w.run(0, "get post id=1 author=jane@example.com --local --payload").prints(t, "lorem ipsum")

	// Of an erased event nothing is left anyway. A pipeline without offload has no such bucket.
	w.run(0, "erase --payloads --dry-run --local").prints(t, "0 objects of no event\n").lacks(t, "left alone")
}

// Until a migration is over, the objects of its types stay: of copies, which are not events yet,
// and those that capture may be putting again for a row that has come back.
func TestErasePayloadsOfCopies(t *testing.T) {
	moving := strings.Replace(postSpec, "    offload", "    migrated: old\n    offload", 1)
	w := newDevWorldAt(t, longAgo, map[string]string{"pipeline.yaml": moving})
	control := &dynamodb.PutItemInput{TableName: aws.String(stack.Aggregates), Item: rows.KeyImage(rows.ControlKey("old"))}
	control.Item["state:post"] = rows.Text(rows.New)
	db := w.dev.Engine().DynamoDB()
	_, err := db.PutItem(t.Context(), control)
	must.Succeed(t, err)
	w.send(0, post("1", 400))
	w.sets(w.kept()[0], "epoch", rows.Integer(0))
	_, err = db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: control.TableName,
		Key: rows.KeyImage(rows.ControlKey("old"))})
	must.Succeed(t, err)
	stray := strings.Replace(w.objects()[0], w.hash("POST#1"), event.Key{PK: "POST#2"}.Hash(), 1)
	_, err = w.dev.Engine().S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(stack.Payloads), Key: &stray,
		Body: strings.NewReader("{}")})
	must.Succeed(t, err)
	w.run(0, "pause --local")
	got := w.by(time.Now, 0, "erase --payloads --yes --local")
	got.prints(t, "0 objects of no event: deleted\n1 other of types that a migration moves left alone")
	must.Equal(t, len(w.objects()), 2)
}

// What the archive still has to read stays: an event that has expired, and whose removal the stream
// has not delivered yet.
func TestErasePayloadsWaitsForTheArchive(t *testing.T) {
	w := newDevWorldAt(t, longAgo, map[string]string{"pipeline.yaml": postSpec})
	w.send(0, post("1", 400))
	w.run(0, "pause streams --yes --local")
	w.run(exitUnsure, "pause --local")
	w.sets(w.kept()[0], "expiresAt", &types.AttributeValueMemberN{Value: "1700000000"})
	w.dev.Engine().Sweep(1000)
	must.Say(t, w.run(5, "erase --payloads --yes --local").errors, "may not be archived yet")
	must.Equal(t, len(w.objects()), 1)
	w.run(0, "resume streams --local")
	until(t, "the event is archived", func() bool { return len(w.bucket(stack.Bucket)) == 1 })
	w.by(time.Now, 0, "erase --payloads --yes --local")
	if left := w.objects(); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	out, err := w.dev.Engine().S3().GetObject(t.Context(),
		&s3.GetObjectInput{Bucket: aws.String(stack.Bucket), Key: &w.bucket(stack.Bucket)[0]})
	must.Succeed(t, err)
	var image bytes.Buffer
	if _, err := image.ReadFrom(out.Body); err != nil || !strings.Contains(image.String(), "lorem ipsum") {
		t.Errorf("%v: %s", err, image.String())
	}
}

// hash returns the hash of the key of the only item of a partition.
func (w *devWorld) hash(partition string) string {
	w.t.Helper()
	for _, key := range w.kept() {
		if pk, sk, _ := strings.Cut(key, "|"); pk == partition {
			return event.Key{PK: pk, SK: sk}.Hash()
		}
	}
	w.t.Fatalf("nothing is stored under %s", partition)
	return ""
}
