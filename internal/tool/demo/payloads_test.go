package demo

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/cost"
)

const posts = 240

// TestPosts shows that the posts of the feed need what its pipeline.yaml has for them: essays are
// in the payload bucket, stories are compressed, notes are as they are, and what is not a post
// breaks the schema. It holds the page of the example to what it says of their cost.
func TestPosts(t *testing.T) {
	c := example(t, "feed", seed, aggregate.Marks)
	essays, stories, notes := 0, 0, 0
	for line, err := range c.Data.Lines() {
		must.Succeed(t, err)
		if !strings.Contains(line.Body, `"post.written"`) {
			continue
		}
		item, err := c.Plan.Plan(line.Message)
		must.Succeed(t, err)
		switch units := itemform.WriteUnits(item.Size()); {
		case item.Payload != nil:
			if essays++; units != 1 || strings.Contains(item.Data, `"text"`) || !strings.Contains(item.Data, `"title":"Post `) {
				t.Errorf("line %d: an essay takes %d units and keeps %s", line.Number, units, item.Data)
			}
		case len(item.Packed) > 0:
			stories++
		default:
			notes++
		}
	}
	if essays != posts/10 || stories < posts/10 || notes < posts/2 {
		t.Errorf("%d essays, %d stories, %d notes of %d posts", essays, stories, notes, posts)
	}
	for body, rule := range map[string]string{
		`{"type":"post.written","post_id":"p","author":"a","words":1,"text":"x","at":"2024-06-01T00:00:00Z"}`:             "no title",
		`{"type":"post.written","post_id":"p","author":"a","title":"x","words":0,"text":"x","at":"2024-06-01T00:00:00Z"}`: "words is below 1",
	} {
		var refusal *event.Refusal
		if _, err := c.Plan.Plan(envelope.Message{Body: body}); !errors.As(err, &refusal) || refusal.Reason != event.BreaksSchema ||
			!strings.Contains(refusal.Detail, rule) {
			t.Errorf("%s: %v, want a refusal that says %q", body, err, rule)
		}
	}
	text, err := fs.ReadFile(ingot.Deployment(), "prices/us-east-1.yaml")
	must.Succeed(t, err)
	prices, err := cost.ReadPrices("prices/us-east-1.yaml", text)
	must.Succeed(t, err)
	put, known := prices.Dollars(cost.S3Puts, 1)
	unit, known2 := prices.Dollars(cost.WriteUnits, 1)
	if !known || !known2 || math.Abs(put/unit-8) > 0.01 {
		t.Errorf("a PUT request costs as much as %.2f write units, and the page says 8", put/unit)
	}
}

// TestPayloadsSeesTampering shows that the check finds a payload that is lost, and nothing without
// a reason.
func TestPayloadsSeesTampering(t *testing.T) {
	c := example(t, "feed", seed, aggregate.Marks)
	c.Calm = true
	c.Tamper = func(ctx context.Context, e *embedded.Engine) error {
		out, err := e.S3().ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(stack.Payloads)})
		if err != nil {
			return err
		}
		if _, err = e.S3().DeleteObject(ctx,
			&s3.DeleteObjectInput{Bucket: aws.String(stack.Payloads), Key: out.Contents[0].Key}); err != nil {
			return err
		}
		_, err = e.S3().PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(stack.Payloads), Key: out.Contents[1].Key,
			Body: strings.NewReader("{}")})
		return err
	}
	s := mustRun(t, c)
	found := checks(s)["payloads"]
	if s.Same || len(found.Differences) != 2 || found.Compared != posts/10 ||
		!strings.Contains(strings.Join(found.Differences, "\n"), "POST#") {
		t.Errorf("%+v", found)
	}
	if d := checks(s)["verify"].Differences; len(d) > 0 {
		t.Errorf("verify reads the bucket: %v", d)
	}
}
