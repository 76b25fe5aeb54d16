package check

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// offloads makes a type of the sample offload its payloads. Its events expire after 90 days.
var offloads = [2]string{"\n  order.placed:\n", "\n  order.placed:\n    offload: {over: 64KB}\n"}

// keeps is the parameter with which template.yaml has a payload bucket, and lifecycleRules is where
// its lifecycle begins.
var (
	keeps          = map[string]string{"Payloads": "keep"}
	lifecycleRules = "        Rules: # and for each type with offload and retain a rule of its own: https://github.com/ingot-events/ingot/blob/main/docs/deploy.md#the-payload-bucket\n"
)

// guided returns the rule that docs/deploy.md has for a type that is kept for 90 days.
func guided(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`(?m)^- \{Id: order.placed, .*\}$`).FindString(string(page))
	if rule == "" {
		t.Fatal("the guide has no rule for order.placed")
	}
	return rule
}

// The template of a pipeline with offload needs a bucket, and the rights to use it. What the
// findings say to write is accepted, and what docs/deploy.md says to add is enough.
func TestPayloadBucket(t *testing.T) {
	rule := guided(t)
	with := func(list ...string) [2]string { // these rules
		return [2]string{lifecycleRules, lifecycleRules + "          " + strings.Join(list, "\n          ") + "\n"}
	}
	output := [2]string{"  PayloadBucketName: {Condition: KeepsPayloads, ", "  OtherName: {Condition: KeepsPayloads, "}
	const (
		streams = `{Effect: Allow, Action: ["s3:GetObject", "s3:ListBucket"], Resource: [!GetAtt PayloadBucket.Arn, !Sub "${PayloadBucket.Arn}/*"]}`
		ingest  = `{Effect: Allow, Action: ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:ListBucket"], Resource: [!GetAtt PayloadBucket.Arn, !Sub "${PayloadBucket.Arn}/*"]}`
		none    = "{Effect: Deny, Action: \"s3:PutObject\", Resource: \"*\"}"
	)
	for name, c := range map[string]struct {
		parameters map[string]string
		template   [][2]string
		want       []string
	}{
		"all of it":          {keeps, [][2]string{with(rule)}, nil},
		"an existing bucket": {map[string]string{"Payloads": "keep", "ExistingPayloadBucket": "old-payloads"}, nil, nil},
		"no output": {keeps, [][2]string{with(rule), output},
			[]string{"no output PayloadBucketName: the commands of ingot find the parts of a stack by these"}},
		"no bucket": {nil, nil, []string{
			"pipeline.yaml has event types with offload, and StreamsFunction has no variable INGOT_PAYLOAD_BUCKET: it would not start; " +
				"write Payloads=keep among the parameter_overrides of samconfig.toml",
			"pipeline.yaml has event types with offload, and IngestFunction has no variable INGOT_PAYLOAD_BUCKET: it would not start"}},
		"no parameter": {nil, [][2]string{{"    AllowedValues: [none, keep]\n", "    AllowedValues: [none]\n"}}, []string{
			"StreamsFunction has no variable INGOT_PAYLOAD_BUCKET: it would not start; write INGOT_PAYLOAD_BUCKET: !Ref the payload " +
				"bucket",
			"IngestFunction has no variable INGOT_PAYLOAD_BUCKET: it would not start; write INGOT_PAYLOAD_BUCKET: !Ref the payload " +
				"bucket"}},
		"no rights": {keeps, [][2]string{with(rule), {"!If [NewPayloads, " + streams, "!If [NewPayloads, " + none},
			{"!If [NewPayloads, " + ingest, "!If [NewPayloads, " + none}}, []string{
			"StreamsRole does not allow s3:GetObject, s3:ListBucket on PayloadBucket: expired events could not be archived with their " +
				"payloads, and their shard would wait; write " + streams + " among the statements of StreamsRole",
			"IngestRole does not allow s3:PutObject, s3:GetObject, s3:DeleteObject, s3:ListBucket on PayloadBucket: events with large " +
				"payloads could not be stored, and would end in the dead-letter queue; write " + ingest + " among"}},
		"too few days": {keeps, [][2]string{with(strings.Replace(rule, "150", "149", 1))},
			[]string{"PayloadBucket removes the payloads of order.placed after 149 days: its events expire 90d after their time, which " +
				"may be 30 days ahead, and may be there for 30 days more; write 150 or more"}},
		"of everything": {keeps, [][2]string{with("- {Id: all, Status: Enabled, ExpirationInDays: 30}")},
			[]string{"PayloadBucket removes the payloads of order.placed after 30 days"}},
		"of some of them": {keeps, [][2]string{with(rule, "- {Id: a, Status: Enabled, Prefix: order.placed/a, ExpirationInDays: 1}")},
			[]string{"PayloadBucket removes the payloads of order.placed after 1 days"}},
		"of others":    {keeps, [][2]string{with(rule, "- {Id: a, Status: Enabled, Prefix: order/, ExpirationInDays: 1}")}, nil},
		"switched off": {keeps, [][2]string{with(rule, "- {Id: a, Status: Disabled, ExpirationInDays: 1}")}, nil},
		"for ever": {keeps, nil, []string{"warning: PayloadBucket keeps the payloads of order.placed for ever, and the events " +
			"expire; write {Status: Enabled, Prefix: order.placed/, ExpirationInDays: 150} among its LifecycleConfiguration's " +
			"Rules"}},
		"on a certain day": {keeps, [][2]string{with(strings.Replace(rule, "ExpirationInDays: 150", "ExpirationDate: 2030-01-01", 1))},
			[]string{"PayloadBucket removes payloads of order.placed on a certain day"}},
		"to a slow class": {keeps, [][2]string{with(rule, "- {Id: a, Status: Enabled, Transitions: [{StorageClass: STANDARD_IA, "+
			"TransitionInDays: 30}, {StorageClass: DEEP_ARCHIVE, TransitionInDays: 60}]}")}, []string{
			"PayloadBucket moves the payloads of order.placed to the storage class DEEP_ARCHIVE, and S3 refuses to read them there: a " +
				"shard of the stream would wait for one until it is restored; write GLACIER_IR"}},
		"to a slow one, alone": {keeps,
			[][2]string{with(strings.Replace(rule, "ExpirationInDays: 150",
				"ExpirationInDays: 150, Transition: {StorageClass: GLACIER, TransitionInDays: 60}", 1))}, []string{
				"PayloadBucket moves the payloads of order.placed to the storage class GLACIER"}},
		"to a cheap class": {keeps,
			[][2]string{with(rule, "- {Id: a, Status: Enabled, Transitions: [{StorageClass: GLACIER_IR, TransitionInDays: 30}]}",
				"- {Id: b, Status: Enabled, Prefix: other/, Transition: {StorageClass: GLACIER, TransitionInDays: 30}}")}, nil},
		"another bucket": {keeps,
			[][2]string{with(rule), {"INGOT_ARCHIVE_BUCKET: !If", "INGOT_PAYLOAD_BUCKET: !Ref ArchiveBucket, INGOT_ARCHIVE_BUCKET: !If"}},
			[]string{
				"the two functions have different payload buckets, ArchiveBucket and PayloadBucket: what one puts, the other would not " +
					"find; write the same INGOT_PAYLOAD_BUCKET"}},
	} {
		o := own{pipeline: [][2]string{offloads}, template: c.template, parameters: c.parameters}
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
	for _, parameters := range []map[string]string{nil, keeps} {
		if r := run(t, own{parameters: parameters}.input(t)); len(r.Findings) > 0 {
			t.Errorf("without offload, %v: %v", parameters, r.Findings)
		}
	}
}

// If the events never expire, their payloads must not.
func TestPayloadsThatNeverExpire(t *testing.T) {
	o := own{pipeline: [][2]string{offloads}, parameters: keeps,
		template: [][2]string{{lifecycleRules, lifecycleRules + "          " + guided(t) + "\n"}}}
	in := o.input(t)
	in.Pipeline.Text = regexp.MustCompile(`(?m)^    retain: .*\n`).ReplaceAll(in.Pipeline.Text, nil)
	found := false
	for _, f := range run(t, in).Findings {
		found = found || strings.Contains(f.String(), "PayloadBucket removes the payloads of order.placed after 150 days, and its events "+
			"never expire; write no rule for order.placed/")
	}
	if !found {
		t.Errorf("%v", run(t, in).Findings)
	}
}

// The payloads of the events that live longest are what the rule must leave, whatever shorter lives
// there were before.
func TestPayloadsOfALongerLife(t *testing.T) {
	for _, c := range []struct{ retain, want string }{
		{"    retain: 180d\n", "PayloadBucket removes the payloads of order.placed after 150 days: its events expire 180d after their " +
			"time, which may be 30 days ahead, and may be there for 30 days more; write 240 or more"},
		{"", "PayloadBucket removes the payloads of order.placed after 150 days, and its events never expire; write no rule for " +
			"order.placed/"},
	} {
		o := own{pipeline: [][2]string{offloads}, parameters: keeps,
			template: [][2]string{{lifecycleRules, lifecycleRules + "          " + guided(t) + "\n"}}}
		in := o.input(t)
		retain := regexp.MustCompile(`(?m)^    retain: 90d.*\n`)
		in.Pipeline.Text = retain.ReplaceAll(in.Pipeline.Text, []byte(c.retain+"    was: [{retain: 90d, before: 2026-03-03T00:00:00Z}]\n"))
		if c.retain == "" { // totals must outlive what they count
			in.Pipeline.Text = regexp.MustCompile(`(?m)^    retain: 400d.*\n`).ReplaceAll(in.Pipeline.Text, nil)
		}
		var got []string
		for _, f := range run(t, in).Findings {
			got = append(got, f.String())
		}
		if !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%q:\n%s", c.retain, strings.Join(got, "\n"))
		}
	}
}
