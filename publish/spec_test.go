package publish_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
)

func load(t *testing.T, text string) (*publish.Plan, error) {
	t.Helper()
	files := fstest.MapFS{"pipeline.yaml": {Data: []byte(declared)}, "publish.yaml": {Data: []byte(text)}}
	p, err := pipeline.Load(files, "pipeline.yaml")
	must.Succeed(t, err)
	return publish.Load(files, "publish.yaml", p)
}

// Each mistake is named with what to write, and what is written so is accepted.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ was, is, says, write string }{
		{"publish: 1", "publish: 2", "publish: 2 is not a format", "publish: 1"},
		{"publish: 1\n", "", "publish", "publish: 1"},
		{"source: shop", `source: "a b"`, `"a b" is not a source of 1 to 200`, "source: shop"},
		{"source: shop", "source: aws.events", "EventBridge keeps sources that begin with aws.", "source: shop"},
		{"from: [order, report]", "from: [oder]", "no event type oder", "from: [order]"},
		{"from: [order, report]", "from: []", "no event type; write [order], or other event types of the pipeline", "from: [order]"},
		{"removed]", "expired]", `"expired" is nothing that happens to an event`, "removed]"},
		{"arn:aws:sqs:eu-west-1:000000000000:next.fifo", "https://sqs", `"https://sqs" is not the ARN of`, "${PUBLISH_TO}"},
		{"arn:aws:sqs:eu-west-1:000000000000:next.fifo", "arn:aws:events:eu-west-1:000000000000:rule/x", "is not the ARN of",
			"${PUBLISH_TO}"},
		{"orders:", "Orders:", `"Orders" is not a name`, "orders:"},
		{"source", "sauce", "sauce", "source"},
		{"from: [order, report]", "from: [order], when: 'changes(note)'", "publish.yaml:4:34: changes is not a function; write changed(PA",
			"from: [order], when: changed(note)"},
		{"from: [order, report]", "from: [order], when: 'before.n = 1'", "write before(n)", "from: [order], when: 'before(n) = 1'"},
		{"from: [order, report]", "from: [order], when: 'note > '", "the condition needs a number", "from: [order], when: 'note > 1'"},
		{"from: [order, report]", "from: [order, report], when: changed(note)", "no version of report takes the place of another",
			"from: [order], when: changed(note)"},
		{"from: [order, report]", "from: [report], before: true", "no version of report takes", "from: [report], when: note = 1"},
		{"[stored, changed, removed]", "[removed], when: note = 1", "what is removed is sent whatever it was, because",
			"[stored, removed], when: note = 1"},
		{"[order, report], on: [stored, changed, removed]", "[order], on: [stored], before: true", "only what is changed had a payload",
			"[order], on: [stored, changed], before: true"},
	} {
		if !strings.Contains(publishing, c.was) {
			t.Fatalf("the file has no %q", c.was)
		}
		_, err := load(t, strings.Replace(publishing, c.was, c.is, 1))
		must.Fail(t, err, c.says, "publish.yaml:")
		if _, err := load(t, strings.Replace(publishing, c.was, c.write, 1)); err != nil && c.was != "publish: 1\n" {
			t.Errorf("%s is proposed, and refused: %v", c.write, err)
		}
	}
	_, err := load(t, "publish: 1\nsource: shop\npublications: {}\n")
	must.Fail(t, err, "nothing is published; write {orders: {from: [order], to: ")
}

// A bus takes a type of at most 128 characters, with the ending of a removal.
func TestTypesTooLongForABus(t *testing.T) {
	const bus, queue = "arn:aws:events:eu-west-1:000000000000:event-bus/b", "arn:aws:sqs:eu-west-1:000000000000:q"
	for _, c := range []struct {
		length int
		on, to string
		fits   bool
	}{{128, "stored", bus, true}, {129, "stored", bus, false}, {121, "removed", bus, false}, {256, "removed", queue, true}} {
		typ := strings.Repeat("x", c.length)
		p := written.Pipeline(t, strings.Replace(declared, "order:", typ+":", 1))
		for _, to := range []string{c.to, "${TO}"} {
			text := "publish: 1\nsource: s\npublications: {a: {from: [" + typ + "], on: [" + c.on + `], to: "` + to + `"}}`
			plan, err := publish.Load(fstest.MapFS{"p": {Data: []byte(text)}}, "p", p)
			if err == nil {
				_, err = plan.Resolved(func(string) string { return c.to })
			}
			if (err == nil) != c.fits || err != nil && !strings.Contains(err.Error(), "EventBridge takes a type of at most 128") {
				t.Errorf("%d characters, %s to %s: %v", c.length, c.on, to, err)
			}
		}
	}
}

// A FIFO target would take one of two messages about the same change, so only one may have more.
func TestOneWithThePayloadBefore(t *testing.T) {
	first, other := asking("order", "when: changed(note)"), strings.Replace(asking("order", "before: true"), "some", "then", 1)
	_, other, _ = strings.Cut(other, "publications:\n")
	for _, c := range []struct{ text, says string }{
		{other, "some sends order to the same FIFO target, which takes one of the two messages"},
		{strings.Replace(other, "next.fifo", "more.fifo", 1), ""},
		{strings.Replace(other, ":next.fifo", ":next", 1), ""},
		{strings.Replace(other, "before: true", "when: note = 1", 1), ""},
	} {
		text := first + c.text
		for _, text := range []string{text, strings.ReplaceAll(text, "arn:aws:sqs:eu-west-1:000000000000:next.fifo", "${TO}")} {
			plan, err := load(t, text)
			if err == nil {
				_, err = plan.Resolved(func(string) string { return "arn:aws:sqs:eu-west-1:000000000000:next.fifo" })
			}
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// The rows of a migration change, so an event that comes from one has versions.
func TestVersionsOfAMigration(t *testing.T) {
	p := written.Pipeline(t, strings.Replace(declared, "report: {", "report: {migrated: old, ", 1))
	_, err := publish.Load(fstest.MapFS{"p": {Data: []byte(asking("report", "before: true, when: changed(note)"))}}, "p", p)
	must.Succeed(t, err)
}

func TestVariables(t *testing.T) {
	plan, err := load(t, strings.NewReplacer("source: shop", `source: "${STAGE}"`, "arn:aws:sqs:eu-west-1:000000000000:next.fifo", "${TO}").
		Replace(publishing))
	must.Succeed(t, err)
	for name, c := range map[string]struct {
		env  map[string]string
		says string
	}{
		"both":      {map[string]string{"STAGE": "test", "TO": "arn:aws:events:eu-west-1:000000000000:event-bus/default"}, ""},
		"no source": {map[string]string{"TO": "arn:aws:sns:eu-west-1:000000000000:t"}, "takes its source from STAGE"},
		"no target": {map[string]string{"STAGE": "test"}, `sends orders to TO, which is ""`},
		"a URL":     {map[string]string{"STAGE": "test", "TO": "https://x"}, `sends orders to TO, which is "https://x"`},
	} {
		resolved, err := plan.Resolved(func(name string) string { return c.env[name] })
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && resolved.Publications[0].To != c.env["TO"] {
			t.Errorf("%s: %+v", name, resolved.Publications)
		}
	}
	must.Equal(t, plan.Publications[0].To, "${TO}")
}
