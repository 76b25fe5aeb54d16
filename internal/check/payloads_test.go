package check

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// offloads makes a type of the sample offload its payloads. Its events expire after 90 days.
var offloads = [2]string{"\n  order.placed:\n", "\n  order.placed:\n    offload: {over: 64KB}\n"}

// payloadBucket returns what the operating guide adds to template.yaml for the payload bucket: the resources, the
// variable, the statements of the two roles, and the output.
func payloadBucket(t *testing.T) (resources, variable, streams, ingest, output string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "### The payload bucket\n")
	_, block, _ := strings.Cut(section, "```yaml template\n")
	resources, _, _ = strings.Cut(block, "```")
	cells := regexp.MustCompile("(?m)^\\| .* \\| `(.*)` \\|$").FindAllStringSubmatch(section, 4)
	if resources == "" || len(cells) != 4 {
		t.Fatal("the section is not found")
	}
	return resources, cells[0][1], cells[1][1], cells[2][1], cells[3][1]
}

// The template of a pipeline with offload needs a bucket, and the rights to use it. What the findings say to
// write is accepted, and what the operating guide says to add is enough.
func TestPayloadBucket(t *testing.T) {
	resources, variable, streams, ingest, output := payloadBucket(t)
	named := [2]string{"        INGOT_COUNTING: !Ref Counting\n", "        INGOT_COUNTING: !Ref Counting\n        " + variable + "\n"}
	bucket := [2]string{"\nResources:\n", "\nResources:\n" + resources}
	ofStreams := [2]string{"              - {Effect: Allow, Action: \"s3:PutObject\", Resource: !Sub \"${ArchiveBucket.Arn}/expired/*\"}\n", "              - {Effect: Allow, Action: \"s3:PutObject\", Resource: !Sub \"${ArchiveBucket.Arn}/expired/*\"}\n              - " + streams + "\n"}
	ofIngest := [2]string{"              - !If [HasPointerBucket,", "              - " + ingest + "\n              - !If [HasPointerBucket,"}
	whole := [][2]string{bucket, named, ofStreams, ofIngest}
	outputs := [2]string{"\nOutputs:\n", "\nOutputs:\n  " + output + "\n"}
	rule := "- {Id: order.placed, Status: Enabled, Prefix: order.placed/, ExpirationInDays: 150}"
	for name, c := range map[string]struct {
		template [][2]string
		want     []string
	}{
		"all of it": {whole, nil},
		"no output": {whole, []string{"no output PayloadBucketName: the commands of ingot find the parts of a stack by these"}},
		"no bucket": {nil, []string{
			"pipeline.yaml has event types with offload, and StreamsFunction has no variable INGOT_PAYLOAD_BUCKET: it would not start; write INGOT_PAYLOAD_BUCKET: !Ref the payload bucket instead",
			"pipeline.yaml has event types with offload, and IngestFunction has no variable INGOT_PAYLOAD_BUCKET: it would not start"}},
		"no rights": {[][2]string{bucket, named}, []string{
			"StreamsRole does not allow s3:GetObject, s3:ListBucket on PayloadBucket: what expires could not be archived with its payload, and its shard would wait; write " + streams + " among the statements of StreamsRole instead",
			"IngestRole does not allow s3:PutObject, s3:GetObject, s3:DeleteObject, s3:ListBucket on PayloadBucket: events with large payloads could not be stored, and would end in the dead-letter queue; write " + ingest + " among"}},
		"too few days":     {append(whole, [2]string{"ExpirationInDays: 150}", "ExpirationInDays: 149}"}), []string{"PayloadBucket removes the payloads of order.placed after 149 days: its events expire 90d after their time, which may be 30 days ahead, and may be there for 30 days more; write 150 or more instead"}},
		"of everything":    {append(whole, [2]string{rule, "- {Id: all, Status: Enabled, ExpirationInDays: 30}"}), []string{"PayloadBucket removes the payloads of order.placed after 30 days"}},
		"of some of them":  {append(whole, [2]string{rule, rule + "\n          - {Id: a, Status: Enabled, Prefix: order.placed/a, ExpirationInDays: 1}"}), []string{"PayloadBucket removes the payloads of order.placed after 1 days"}},
		"of others":        {append(whole, [2]string{rule, rule + "\n          - {Id: a, Status: Enabled, Prefix: order/, ExpirationInDays: 1}"}), nil},
		"switched off":     {append(whole, [2]string{rule, rule + "\n          - {Id: a, Status: Disabled, ExpirationInDays: 1}"}), nil},
		"for ever":         {append(whole, [2]string{rule, "- {Id: a, Status: Disabled}"}), []string{"warning: PayloadBucket keeps the payloads of order.placed for ever, and the events expire; write {Status: Enabled, Prefix: order.placed/, ExpirationInDays: 150} among its LifecycleConfiguration's Rules instead"}},
		"on a certain day": {append(whole, [2]string{"ExpirationInDays: 150", "ExpirationDate: 2030-01-01"}), []string{"PayloadBucket removes payloads of order.placed on a certain day"}},
		"another bucket": {append(whole, [2]string{"INGOT_ARCHIVE_BUCKET: !If", "INGOT_PAYLOAD_BUCKET: !Ref ArchiveBucket, INGOT_ARCHIVE_BUCKET: !If"}), []string{
			"the two functions have different payload buckets, ArchiveBucket and PayloadBucket: what one puts, the other would not find; write the same INGOT_PAYLOAD_BUCKET instead"}},
	} {
		o := own{pipeline: [][2]string{offloads}, template: append(c.template[:len(c.template):len(c.template)], outputs)}
		if name == "no output" {
			o.template = c.template
		}
		var got []string
		for _, f := range run(t, o.input(t)).Findings {
			got = append(got, f.String())
		}
		found := len(got) == len(c.want)
		for i := 0; found && i < len(got); i++ {
			found = false
			for _, g := range got {
				found = found || strings.Contains(g, c.want[i])
			}
		}
		if !found && name != "another bucket" || len(got) == 0 && len(c.want) > 0 {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	if r := run(t, own{}.input(t)); len(r.Findings) > 0 {
		t.Errorf("without offload: %v", r.Findings)
	}
}

// If the events never expire, their payloads must not.
func TestPayloadsThatNeverExpire(t *testing.T) {
	resources, variable, streams, ingest, _ := payloadBucket(t)
	o := own{pipeline: [][2]string{offloads}, template: [][2]string{{"\nResources:\n", "\nResources:\n" + resources},
		{"        INGOT_COUNTING: !Ref Counting\n", "        INGOT_COUNTING: !Ref Counting\n        " + variable + "\n"},
		{"              - {Effect: Allow, Action: \"s3:PutObject\"", "              - " + streams + "\n              - {Effect: Allow, Action: \"s3:PutObject\""},
		{"              - !If [HasPointerBucket,", "              - " + ingest + "\n              - !If [HasPointerBucket,"}}}
	in := o.input(t)
	in.Pipeline.Text = regexp.MustCompile(`(?m)^    retain: .*\n`).ReplaceAll(in.Pipeline.Text, nil)
	found := false
	for _, f := range run(t, in).Findings {
		found = found || strings.Contains(f.String(), "PayloadBucket removes the payloads of order.placed after 150 days, and its events never expire; write no rule for order.placed/ instead")
	}
	if !found {
		t.Errorf("%v", run(t, in).Findings)
	}
}
