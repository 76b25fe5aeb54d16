package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/check"
	"github.com/ingot-events/ingot/internal/check/template"
	"github.com/ingot-events/ingot/internal/sampleshop"
)

var reference = regexp.MustCompile(`!(?:Ref|GetAtt) (\w+)`)

// What the operating guide says to add to template.yaml can be added: it is read, refers to resources that are there, and
// `ingot check` has nothing against it.
func TestAdditionsToTheTemplate(t *testing.T) {
	for _, b := range blocksOf(t, operatingPage, "yaml template") {
		text := strings.Replace(without(read(t, sampleshop.Template), b.text), "\nResources:\n", "\nResources:\n"+b.text, 1)
		tpl, err := template.Open([]byte(text), nil)
		if err != nil {
			t.Errorf("line %d: %v", b.line, err)
			continue
		}
		for _, name := range reference.FindAllStringSubmatch(b.text, -1) {
			if tpl.Resource(name[1]) == nil {
				t.Errorf("line %d: there is no resource %s", b.line, name[1])
			}
		}
		report, err := check.Run(check.Input{Pipeline: check.File{Name: "pipeline.yaml", Text: []byte(read(t, sampleshop.Pipeline))},
			Template: &check.File{Name: "template.yaml", Text: []byte(text)}, Partitions: 1})
		if err != nil || len(report.Findings) > 0 {
			t.Errorf("line %d: %v, %v", b.line, err, report)
		}
	}
}

// without is the template without the resource that a snippet writes anew, if it has it.
func without(text, snippet string) string {
	name, _, _ := strings.Cut(snippet, "\n")
	before, rest, found := strings.Cut(text, "\n"+name+"\n")
	if !found {
		return text
	}
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "   ") {
			break
		}
		rest = rest[len(line):]
	}
	return before + "\n" + rest
}

// Each queue has one policy, and it refuses whatever does not come by TLS.
func TestQueuesTakeTLSAlone(t *testing.T) {
	tpl, err := template.Open([]byte(read(t, sampleshop.Template)), nil)
	if err != nil {
		t.Fatal(err)
	}
	policies := map[string]int{}
	queues := 0
	for _, r := range tpl.Resources() {
		switch r.Type {
		case "AWS::SQS::Queue":
			queues++
		case "AWS::SQS::QueuePolicy":
			for _, queue := range tpl.Property(r, "Queues").Items {
				policies[tpl.Resolve(queue).Name]++
			}
			deny := tpl.Property(r, "PolicyDocument", "Statement").Items[0]
			if tpl.Get(deny, "Effect").Text != "Deny" || tpl.Get(deny, "Principal").Text != "*" || tpl.Get(deny, "Action").Text != "sqs:*" ||
				tpl.Get(deny, "Condition", "Bool", "aws:SecureTransport").Text != "false" {
				t.Errorf("%s does not refuse what comes without TLS", r.Name)
			}
		}
	}
	if queues != 3 || len(policies) != queues {
		t.Errorf("%d queues, policies %v", queues, policies)
	}
	for queue, n := range policies {
		if n != 1 {
			t.Errorf("%s has %d policies", queue, n)
		}
	}
}

// The parameters that docs/erasing.md names do what it says.
func TestArchiveParameters(t *testing.T) {
	for _, c := range []struct {
		given        map[string]string
		bucket, days string
		rules        int
	}{
		{nil, "ArchiveBucket", "", 1},
		{map[string]string{"ArchiveDays": "90"}, "ArchiveBucket", "90", 2},
		{map[string]string{"Archive": "none", "ArchiveDays": "7"}, "", "7", 2},
	} {
		tpl, err := template.Open([]byte(read(t, sampleshop.Template)), c.given)
		if err != nil {
			t.Fatal(err)
		}
		bucket := tpl.Property(tpl.Resource("StreamsFunction"), "Environment", "Variables", "INGOT_ARCHIVE_BUCKET")
		if bucket.Name != c.bucket || bucket.Text != "" {
			t.Errorf("%v: the variable is %+v", c.given, bucket)
		}
		days, rules := "", 0
		for _, item := range tpl.Property(tpl.Resource("ArchiveBucket"), "LifecycleConfiguration", "Rules").Items {
			if rule := tpl.Resolve(item); rule != nil && rule.Kind == template.Map {
				if rules++; rule.Member("ExpirationInDays") != nil {
					days = tpl.Get(rule, "ExpirationInDays").Text
				}
			}
		}
		if days != c.days || rules != c.rules {
			t.Errorf("%v: %d rules, of which one ends after %q days", c.given, rules, days)
		}
	}
}
