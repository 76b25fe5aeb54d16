package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventbridgetypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// ways leads from a bus, a topic and the queue itself to the queue of a stack. It returns the ARN
// of each.
func ways(t *testing.T, url string, to *deployed) (arns []string) {
	t.Helper()
	c := aws.Config{Region: endpoint.Region, BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	buses, topics := eventbridge.NewFromConfig(c), sns.NewFromConfig(c)
	fail := func(err error) {
		t.Helper()
		must.Succeed(t, err)
	}
	out, err := to.clients.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &to.queueURL,
		AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn}})
	fail(err)
	queue := out.Attributes["QueueArn"]
	bus, err := buses.CreateEventBus(ctx, &eventbridge.CreateEventBusInput{Name: aws.String(to.stack + "-bus")})
	fail(err)
	rule := to.stack + "-rule"
	_, err = buses.PutRule(ctx, &eventbridge.PutRuleInput{Name: &rule, EventBusName: aws.String(to.stack + "-bus"),
		EventPattern: aws.String(`{"source": ["shop"], "detail-type": [{"prefix": "order."}]}`)})
	fail(err)
	targets, err := buses.PutTargets(ctx, &eventbridge.PutTargetsInput{Rule: &rule, EventBusName: aws.String(to.stack + "-bus"),
		Targets: []eventbridgetypes.Target{{Id: aws.String("1"), Arn: &queue}}})
	fail(err)
	if targets.FailedEntryCount > 0 {
		t.Fatal(targets.FailedEntries)
	}
	topic, err := topics.CreateTopic(ctx, &sns.CreateTopicInput{Name: aws.String(to.stack + "-topic")})
	fail(err)
	_, err = topics.Subscribe(ctx, &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: &queue,
		Attributes: map[string]string{"FilterPolicy": `{"type": [{"prefix": "order."}]}`}})
	fail(err)
	t.Cleanup(func() { // the endpoint may be somebody's own
		_, _ = buses.RemoveTargets(ctx, &eventbridge.RemoveTargetsInput{Rule: &rule, EventBusName: aws.String(to.stack + "-bus"),
			Ids: []string{"1"}})
		_, _ = buses.DeleteRule(ctx, &eventbridge.DeleteRuleInput{Name: &rule, EventBusName: aws.String(to.stack + "-bus")})
		_, _ = buses.DeleteEventBus(ctx, &eventbridge.DeleteEventBusInput{Name: aws.String(to.stack + "-bus")})
		_, _ = topics.DeleteTopic(ctx, &sns.DeleteTopicInput{TopicArn: topic.TopicArn})
	})
	return []string{*bus.EventBusArn, *topic.TopicArn, queue}
}

// TestPublished is a chain of two deployed Ingots. The built publish function sends each event
// three ways: over a bus, a topic, and straight into the queue of the second, which stores and
// counts it once. A fourth publication sends a status there only if it has changed, which the
// second version of it has not. Then the tool publishes everything again, and nothing changes.
func TestPublished(t *testing.T) {
	e, _ := open(t)
	text := func(name string) string {
		text, err := examples.Files.ReadFile("publish/" + name)
		must.Succeed(t, err)
		return string(text)
	}
	parameters := map[string]string{"Counting": "receipts", "EndpointUrl": e.URL}
	binaries := functions(t)
	first := deploy(t, deployment{dir: layered(t, text("pipeline.yaml")), binaries: binaries, parameters: parameters})
	t.Run("next", func(t *testing.T) {
		second := deploy(t, deployment{dir: layered(t, text("next.yaml")), binaries: binaries, parameters: parameters})
		w := first.tool(e.URL, "..")
		declared := "publish: 1\nsource: shop\npublications:\n"
		for i, arn := range ways(t, e.URL, second) {
			declared += fmt.Sprintf("  way%d: {from: [order.placed, order.status], to: %q}\n", i+1, arn)
			if i == 2 {
				declared += fmt.Sprintf("  statuses: {from: [order.status], when: changed(status), before: true, to: %q}\n", arn)
			}
		}
		for name, text := range map[string]string{"pipeline.yaml": text("pipeline.yaml"), "publish.yaml": declared} {
			must.Write(t, filepath.Join(w.dir, name), text)
		}
		var said output
		publishing := publisher(t, first, w, e.URL, &said)
		var bodies []string
		for n := range 12 {
			bodies = append(bodies, fmt.Sprintf(`{"type":"order.placed","order_id":"o-%d","placed_at":"2099-03-01T09:00:00Z"}`, n))
		}
		first.send(append(bodies, `{"type":"order.status","order_id":"o-1","changed_at":"2099-03-01T09:00:00Z","version":1,"status":"open"}`)...)
		first.send(`{"type":"order.status","order_id":"o-1","changed_at":"2099-03-01T10:00:00Z","version":2,"status":"open"}`)
		deliver := func() error {
			if _, err := publishing.Poll(t.Context()); err != nil {
				return err
			}
			_, err := second.queue.Poll(t.Context())
			return err
		}
		sums := func() [3]float64 {
			s := &second.ingestSaid
			return [3]float64{s.sum("Inserted"), s.sum("Updated"), s.sum("Duplicate") + s.sum("Stale")}
		}
		// Version 1 may come after version 2 on another way.
		second.until("each event has come three ways", deliver, func() bool {
			s := sums()
			return s[0]+s[1]+s[2] == 3*14+1
		})
		if s := sums(); s[0] != 13 || s[1] > 1 || second.ingestSaid.sum("Poison")+second.ingestSaid.sum("Conflict") != 0 {
			t.Errorf("of 13 keys, 14 versions and 43 messages: inserted, updated and repeated are %v", s)
		}
		must.Equal(t, said.sum("MessagesSent"), 3*14+1)
		stored := map[string]string{}
		for item, err := range second.store.Items(t.Context()) {
			must.Succeed(t, err)
			stored[item.Key.PK+" "+item.Key.SK] = item.Data
		}
		if len(stored) != 13 || !strings.Contains(stored["ORDER#o-1 STATUS"], `"version":2`) {
			t.Errorf("the second stores %v", stored)
		}
		stdout, stderr, code := w.run(t.Context(), "publish again --since 2099-03-01")
		if code != 0 || stdout != fmt.Sprintf("%d messages are sent\n", 3*13+1) {
			t.Errorf("publish again: %d, %s%s", code, stdout, stderr)
		}
		second.until("everything has come again", deliver, func() bool { s := sums(); return s[0]+s[1]+s[2] == 3*14+1+3*13+1 })
		if s := sums(); s[0] != 13 {
			t.Errorf("published again, %v are inserted", s[0])
		}
	})
}

// publisher starts the built publish function, with the files of the tool, and its mapping.
func publisher(t *testing.T, d *deployed, w tool, url string, said *output) *esm.Stream {
	t.Helper()
	binary, err := build("publish")
	must.Succeed(t, err)
	p := d.start(binary, d.beside(w, url,
		map[string]string{"INGOT_QUARANTINE_URL": d.quarantine, "INGOT_PUBLISH_PATIENCE": "12h"}), said)
	stream, err := esm.NewStream(esm.StreamConfig{Client: d.clients.Streams, ARN: d.streamARN, BatchSize: 100,
		ReportBatchItemFailures: true, Function: invoked(p)})
	must.Succeed(t, err)
	return stream
}
