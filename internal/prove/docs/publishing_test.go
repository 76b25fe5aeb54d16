package docs

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/where"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/tables"
)

// The files of the page are those of the example, and fit together.
func TestPublishingOfThePage(t *testing.T) {
	files := fstest.MapFS{}
	for name, info := range map[string]string{"pipeline.yaml": "", "publish.yaml": "yaml publish", "next.yaml": "yaml pipeline"} {
		text, err := examples.Files.ReadFile("publish/" + name)
		must.Succeed(t, err)
		files[name] = &fstest.MapFile{Data: text}
		if info == "" {
			continue
		}
		for _, b := range blocksOf(t, "docs/publishing.md", info) {
			must.Say(t, string(text), b.text)
		}
	}
	file := func(name string) *textfile.File { return &textfile.File{Name: name, Text: files[name].Data} }
	r, err := check.Run(check.Input{Pipeline: *file("pipeline.yaml"), Publish: file("publish.yaml"), Next: file("next.yaml")})
	if err != nil || len(r.Findings) > 0 {
		t.Errorf("%+v, %v", r.Findings, err)
	}
}

// The message of the page is what is sent of its event, but for most of the id. A second Ingot
// stores what the first has stored.
func TestMessageOfThePage(t *testing.T) {
	load := func(name string) *pipeline.Pipeline {
		t.Helper()
		text, err := examples.Files.ReadFile("publish/" + name)
		must.Succeed(t, err)
		p, err := pipeline.Load(fstest.MapFS{name: {Data: text}}, name)
		must.Succeed(t, err)
		return p
	}
	p, next := load("pipeline.yaml"), load("next.yaml")
	const payload = `{"order_id":"o-1","placed_at":"2031-05-05T06:00:00Z","type":"order.placed"}`
	item, err := p.Plan(envelope.Message{Body: payload})
	must.Succeed(t, err)
	text, err := examples.Files.ReadFile(path.Join("publish", "publish.yaml"))
	must.Succeed(t, err)
	plan, err := publish.Load(fstest.MapFS{"publish.yaml": {Data: text}}, "publish.yaml", p)
	if err == nil {
		plan, err = plan.Resolved(func(string) string { return "arn:aws:sqs:eu-west-1:111122223333:q" })
	}
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
	now, err := event.ParseDocument(of[1])
	must.Succeed(t, err)
	before, err := event.ParseDocument(of[2])
	must.Succeed(t, err)
	for _, row := range table(t, "docs/publishing.md", "when") {
		w, bad := where.ParseWhen(code(row[0]))
		if bad != nil || !strings.HasPrefix(row[1], fmt.Sprint(w.Holds(now.Root(), before.Root(), true))) {
			t.Errorf("%v: %v", row, bad)
		}
	}
}
