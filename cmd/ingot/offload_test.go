package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/cmd/ingot/read"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target"
)

const postSpec = `ingot: 1
epoch: 1
type: "{type}"
events:
  post:
    id: "{id}"
    at: "{at}"
    key: {pk: "POST#{id}", sk: "AUTHOR#{author | hmac}"}
    offload: {over: 1KB, keep: [title]}
patterns:
  post: {read: [post]}
aggregates:
  posts: {since: 1, from: {post: {values: {posts: count, words: sum words}}}}
`

func post(id string, words int) string {
	return fmt.Sprintf(
		`{"type":"post","id":%q,"at":"2026-03-01T10:00:00Z","author":"jane@example.com","title":"On gold","words":%d,"likes":3,"text":"%s"}`, id, words, strings.Repeat("lorem ipsum ", 200))
}

// objects returns the names of what is in the payload bucket.
func (w *devWorld) objects() []string {
	w.t.Helper()
	return w.bucket(stack.Payloads)
}

// A payload that is in the payload bucket is shown as far as the item keeps it, and whole if
// somebody asks. Personal values are masked in both. Erasing deletes it.
func TestOffloadedPayloads(t *testing.T) {
	w := newDevWorldOf(t, postSpec)
	w.send(0, post("1", 400), post("2", 10))
	w.send(1, post("1", 401)) // a conflict, which leaves an object of its own
	if n := len(w.objects()); n != 3 {
		t.Fatalf("%d objects", n)
	}
	id := w.pull()[0]

	got := w.run(0, "get post id=1 author=jane@example.com --local").prints(t, "PAYLOAD  in the payload bucket: s3://payloads/post/",
		"--payload shows all of it", `"title":"On gold"`, `"words":400`)
	got.lacks(t, "lorem", "jane@")
	whole := w.run(0, "get post id=1 author=jane@example.com --local --payload")
	whole.prints(t, "lorem ipsum").lacks(t, "shows all of it", "jane@")
	var item read.GotItem
	got = w.run(0, "get post id=1 author=jane@example.com --local --payload --reveal --output json")
	got.reads(t, &item)
	if item.Payload != post("1", 400) || item.Object == nil || item.Object.Bucket != stack.Payloads ||
		!strings.HasPrefix(item.Object.Name, "post/") {
		t.Errorf("as JSON: %+v", item)
	}

	w.run(0, "query post id=1 author=jane@example.com --local").prints(t, "1 payload is in the payload bucket").lacks(t, "lorem")
	w.run(0, "query post id=1 author=jane@example.com --local --output json").prints(t, `"elsewhere": true`)
	write(t, "post.json", post("9", 1))
	w.run(0, "explain post.json").prints(t,
		"which go to the payload bucket (one PUT request for each delivery); the item keeps {", "On gold")
	w.run(exitDifference, "quarantine show letters --local", id).prints(t, "words", "in the item").lacks(t, "jane@")
	until(t, "the posts are counted", func() bool { // send waits until the events are stored, and they are counted after that
		out, err := w.dev.Engine().DynamoDB().Scan(t.Context(),
			&dynamodb.ScanInput{TableName: aws.String(stack.Aggregates), FilterExpression: aws.String("begins_with(PK, :p) AND n = :n"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":p": &types.AttributeValueMemberS{Value: "A#posts#"},
					":n": &types.AttributeValueMemberN{Value: "2"}}})
		return err == nil && out.Count == 1
	})
	w.run(0, "verify --local").prints(t, "no difference")

	dry := w.run(0, "erase post id=1 author=jane@example.com --dry-run --local")
	must.Equal(t, strings.Count(dry.out, "which erasing deletes"), 2)
	must.Equal(t, len(w.objects()), 3)
	w.run(0, "erase post id=1 author=jane@example.com --yes --local").lacks(t, "payload ")
	left := w.objects()
	if len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	// What is lost is said, and where it should be.
	_, err := w.dev.Engine().S3().DeleteObject(t.Context(),
		&s3.DeleteObjectInput{Bucket: aws.String(stack.Payloads), Key: &left[0]})
	must.Succeed(t, err)
	must.Say(t, w.run(1, "get post id=2 author=jane@example.com --local --payload").errors, "the payload is lost", left[0])
	w.run(0, "get post id=2 author=jane@example.com --local")
}

// A replaced event is kept whole in the folder, because nothing else has it then.
func TestReplacingAnOffloadedEvent(t *testing.T) {
	w := newDevWorldOf(t, postSpec)
	w.send(0, post("1", 400))
	w.send(1, post("1", 401))
	id := w.pull()[0]
	w.run(exitDifference, "quarantine show letters --local", id)
	w.run(0, "quarantine resend letters --replace --yes --local", id)
	w.send(0)
	text, err := os.ReadFile("letters/" + id + ".json")
	if err != nil || !strings.Contains(string(text), `\"words\":400`) || strings.Count(string(text), "lorem ipsum") < 400 {
		t.Errorf("the folder has %d bytes, %v", len(text), err)
	}
	w.run(0, "get post id=1 author=jane@example.com --local --payload").prints(t, `"words":401`)
}

// A new aggregate over a field that the items do not keep is exact after a rebuild. A payload that
// is lost keeps it from being complete, until the object is back.
func TestRebuildOfOffloadedEvents(t *testing.T) {
	w := newDevWorldOf(t, postSpec)
	w.send(0, post("1", 400), post("2", 10))
	var names []string
	var bodies []string
	for _, name := range w.objects() {
		out, err := w.dev.Engine().S3().GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(stack.Payloads), Key: &name})
		must.Succeed(t, err)
		var b strings.Builder
		buf := make([]byte, *out.ContentLength)
		n, _ := out.Body.Read(buf)
		b.Write(buf[:n])
		names, bodies = append(names, name), append(bodies, b.String())
	}
	_, err := w.dev.Engine().S3().DeleteObject(t.Context(),
		&s3.DeleteObjectInput{Bucket: aws.String(stack.Payloads), Key: &names[0]})
	must.Succeed(t, err)
	next := strings.Replace(postSpec, "epoch: 1", "epoch: 2", 1) + "  likes: {since: 2, from: {post: {values: {likes: sum likes}}}}\n"
	write(t, "pipeline.yaml", next)
	until(t, "the next epoch is deployed", func() bool { return w.dev.Pipeline().Epoch() == 2 })
	must.Say(t, w.run(0, "rebuild likes --local --dry-run").errors,
		"one GET from S3 for each touched item whose payload is in the payload bucket")
	must.Say(t, w.run(1, "rebuild likes --local --yes").errors, "1 of the items could not be updated", names[0], "bring back")
	w.run(0, "totals likes --local --output json").prints(t, `"building": true`)
	_, err = w.dev.Engine().S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(stack.Payloads), Key: &names[0],
		Body: strings.NewReader(bodies[0])})
	must.Succeed(t, err)
	w.run(0, "rebuild likes --local --yes").prints(t, "complete: likes")
	w.run(0, "totals likes --local").prints(t, "6")
	w.run(0, "verify --local")
}

// Commands that work on payloads need rights for the payload bucket, where there is one.
func TestNeedsOfPayloads(t *testing.T) {
	for command, want := range map[string]string{"get": "s3:GetObject s3:ListBucket", "quarantine": "s3:GetObject s3:ListBucket",
		"rebuild": "s3:GetObject s3:ListBucket s3:PutObject", "erase": "s3:GetObject s3:ListBucket s3:DeleteObject s3:ListBucketVersions",
		"query": ""} {
		got := ""
		for _, s := range policy.Commands[command](policy.ARNsOf(&target.Target{PayloadBucket: "my-payloads"})) {
			if slices.Contains(s.Resource, "arn:aws:s3:::my-payloads/*") && slices.Contains(s.Resource, "arn:aws:s3:::my-payloads") {
				got = strings.Join(s.Action, " ")
			}
		}
		must.Equal(t, got, want, command)
		for _, s := range policy.Commands[command](policy.ARNsOf(&target.Target{})) {
			if s.Sid == "UsePayloads" {
				t.Errorf("%s needs rights for a bucket that does not exist", command)
			}
		}
	}
}
