package docs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/tables"
)

// The files of the page are those of the example, and fit together.
func TestPublishingOfThePage(t *testing.T) {
	for name, info := range map[string]string{"publish.yaml": "yaml publish", "next.yaml": "yaml pipeline"} {
		for _, b := range blocksOf(t, "docs/publishing.md", info) {
			must.Say(t, publishing(t, name), b.text)
		}
	}
	file := func(name string) *textfile.File { return named(name, publishing(t, name)) }
	r := checked(t, check.Input{Pipeline: *file("pipeline.yaml"), Publish: file("publish.yaml"), Next: file("next.yaml")})
	must.Equal(t, len(r.Findings), 0, r)
}

// publishing returns a file of the example.
func publishing(t *testing.T, name string) string { return read(t, "examples/publish/"+name) }

// The message of the page is what is sent of its event, but for most of the id. A second Ingot
// stores what the first has stored.
func TestMessageOfThePage(t *testing.T) {
	p, next := written.Pipeline(t, publishing(t, "pipeline.yaml")), written.Pipeline(t, publishing(t, "next.yaml"))
	const payload = `{"order_id":"o-1","placed_at":"2031-05-05T06:00:00Z","type":"order.placed"}`
	item, err := p.Plan(envelope.Message{Body: payload})
	must.Succeed(t, err)
	plan, err := publish.Load(os.DirFS(root), "examples/publish/publish.yaml", p)
	must.Succeed(t, err)
	plan, err = plan.Resolved(func(string) string { return "arn:aws:sqs:eu-west-1:111122223333:q" })
	must.Succeed(t, err)
	var sent publish.Message
	publisher, err := publish.New(plan, tables.Config{Client: &dynamodb.Client{}, Events: "events"}, func(arn string) publish.Target {
		return publish.Target{ARN: arn, Largest: 1 << 20, Send: func(_ context.Context, list []publish.Message) []error {
			sent = list[0]
			return make([]error, len(list))
		}}
	})
	must.Succeed(t, err)
	quoted, err := json.Marshal(payload)
	must.Succeed(t, err)
	keys := fmt.Sprintf(`"PK":{"S":%q},"SK":{"S":%q}`, item.Key.PK, item.Key.SK)
	_, err = publisher.Handle(t.Context(), json.RawMessage(`{"Records":[{"eventSourceARN":"arn","eventName":"INSERT","dynamodb":{`+
		`"SequenceNumber":"100000000000000000000001","ApproximateCreationDateTime":1935900000,"Keys":{`+keys+`},"NewImage":{`+keys+
		`,"type":{"S":"order.placed"},"id":{"S":"o-1"},"at":{"S":"2031-05-05T06:00:00.000000000Z"},"epoch":{"N":"1"},"digest":{"B":"`+
		base64.StdEncoding.EncodeToString(item.Digest[:])+`"},"data":{"S":`+string(quoted)+`}}}}]}`))
	must.Succeed(t, err)
	shown := blocksOf(t, "docs/publishing.md", "json message")
	if want := strings.Replace(sent.Body, sent.ID, sent.ID[:4]+"…", 1); len(shown) != 1 || strings.TrimSpace(shown[0].text) != want {
		t.Errorf("the message is\n%s\nand the page shows\n%v", want, shown)
	}
	stored, err := next.Plan(envelope.Message{Body: sent.Body})
	if err != nil || stored.Key != item.Key || stored.Type != item.Type || stored.Data != payload {
		t.Errorf("the second stores %+v, %v", stored, err)
	}
}

// The conditions of the page hold or not as it says, of the payloads that it names.
func TestWhenOfThePage(t *testing.T) {
	of := regexp.MustCompile("where `(.*)` replaces `(.*)` \\|").FindStringSubmatch(read(t, "docs/publishing.md"))
	now, before := parsed(t, of[1]), parsed(t, of[2])
	for _, row := range table(t, "docs/publishing.md", "when") {
		w, bad := where.ParseWhen(code(row[0]))
		if bad != nil || !strings.HasPrefix(row[1], fmt.Sprint(w.Holds(now.Root(), before.Root(), true))) {
			t.Errorf("%v: %v", row, bad)
		}
	}
}
