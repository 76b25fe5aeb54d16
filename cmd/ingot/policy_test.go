package main

import (
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target/targettest"
)

// policyOf runs ingot policy on a file, and returns the policy if there is one.
func policyOf(t *testing.T, file, line string) (o ran, doc policy.Document) {
	t.Helper()
	if o = tool(t, "policy --pipeline "+file+" "+line); o.code == exitFine {
		o.reads(t, &doc)
	}
	return o, doc
}

func TestPolicy(t *testing.T) {
	shop := "../../" + sampleshop.Pipeline
	const table = "arn:aws:dynamodb:REGION:ACCOUNT:table/"
	for _, c := range []struct{ pattern, actions, resource string }{
		{"order_story", "dynamodb:Query", table + "EVENTS"},
		{"customer_orders", "dynamodb:Query", table + "EVENTS/index/GSI1"},
		{"merchants_day", "dynamodb:GetItem dynamodb:Query", table + "AGGREGATES"},
	} {
		o, doc := policyOf(t, shop, c.pattern)
		if len(doc.Statement) != 1 || strings.Join(doc.Statement[0].Action, " ") != c.actions ||
			!slices.Equal(doc.Statement[0].Resource, []string{c.resource}) || doc.Statement[0].Condition != nil {
			t.Errorf("%s: %+v %s", c.pattern, doc, o.errors)
		}
	}
	for _, c := range []struct{ line, says string }{
		{"", "say which patterns; the pipeline has customer_orders"},
		{"order_stroy", "the nearest is order_story"},
		{"--for quer", "--for quer: write one of archive, check, console, erase"},
		{"order_story --for query", "--for prints what a command needs"},
		{"customer_orders --principal-tag customer", "{customer_id|hmac} is stored as a hash, which IAM does not compute"},
		{"orders_of_day --principal-tag x", "the partition key has a time, {at|day}"},
		{"order_story --principal-tag x", "the partition key has two parameters, merchant_id and order_id"},
		{"merchants_day --principal-tag x", "merchants_day reads totals"},
	} {
		o, _ := policyOf(t, shop, c.line)
		o.says(t, exitUsage, c.says)
		must.Equal(t, o.out, "", c.line)
	}
}

// TestPolicyOfOnePrincipal shows the condition with each shard. Null refuses a request without
// keys, which ForAllValues alone would allow.
func TestPolicyOfOnePrincipal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	text := `{ingot: 1, epoch: 1, type: "{type}", events: {item: {id: "{tenant}#{id}", at: "{at}", key: {pk: "T#{tenant}", sk: "{id}"},
  indexes: {GSI1: {pk: "T#{tenant}#{@id | shard:3 | pad:2}", sk: "{id}"}, GSI2: {pk: "T#{tenant | lower}", sk: "{id}"}}}},
  patterns: {own: {read: [item]}, sharded: {read: [item], index: GSI1}, lower: {read: [item], index: GSI2}}}`
	write(t, file, text)
	for pattern, want := range map[string]string{
		"own":     `{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["T#${aws:PrincipalTag/tenant}"]},"Null":{"dynamodb:LeadingKeys":"false"}}`,
		"sharded": `{"ForAllValues:StringEquals":{"dynamodb:LeadingKeys":["T#${aws:PrincipalTag/tenant}#00","T#${aws:PrincipalTag/tenant}#01","T#${aws:PrincipalTag/tenant}#02"]},"Null":{"dynamodb:LeadingKeys":"false"}}`,
	} {
		o, doc := policyOf(t, file, pattern+" --principal-tag tenant")
		if len(doc.Statement) != 1 {
			t.Fatalf("%s: %s", pattern, o.errors)
		}
		if got, _ := json.Marshal(doc.Statement[0].Condition); string(got) != want {
			t.Errorf("%s: %s", pattern, got)
		}
	}
	o, _ := policyOf(t, file, "lower --principal-tag tenant")
	o.says(t, exitUsage, "two principals could have one key")
}

// What the roles of the template do is within the boundary.
func TestRolesAreWithinTheBoundary(t *testing.T) {
	o, doc := policyOf(t, "../../"+sampleshop.Pipeline, "--for boundary")
	_, roles, _ := strings.Cut(content(t, "../../"+sampleshop.Template), "\n  StreamsRole:")
	actions := regexp.MustCompile(`"((?:dynamodb|s3|sqs|logs|xray|kms):[A-Z]\w+)"[],]`).FindAllStringSubmatch(roles, -1)
	if len(actions) < 30 {
		t.Errorf("%d actions, %s", len(actions), o.errors)
	}
	for _, action := range actions {
		if !slices.ContainsFunc(doc.Statement, func(s policy.Statement) bool { return slices.Contains(s.Action, action[1]) }) {
			t.Errorf("the boundary does not allow %s", action[1])
		}
	}
}

func TestPolicyOfAProducer(t *testing.T) {
	o, doc := policyOf(t, "../../"+sampleshop.Pipeline, "--for producer")
	if len(doc.Statement) != 1 || !slices.Equal(doc.Statement[0].Action, []string{"sqs:SendMessage"}) ||
		!slices.Equal(doc.Statement[0].Resource, []string{"arn:aws:sqs:REGION:ACCOUNT:QUEUE"}) {
		t.Errorf("%+v %s", doc, o.errors)
	}
}

// The policies for deploying name a stack that need not exist yet, with the resources of the
// template.yaml in this folder, or else of Ingot's.
func TestPolicyForDeploying(t *testing.T) {
	server := httptest.NewServer(&targettest.Cloud{Engine: embedded.New(embedded.Config{}), Account: "123456789012"})
	t.Cleanup(server.Close)
	setenv(t, map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"})
	publishes := content(t, "../publish/template.yaml")
	t.Chdir(t.TempDir())
	functions := func(which, says string) []string {
		t.Helper()
		o, doc := policyOf(t, "pipeline.yaml", "--stack shop-new --region cn-north-1 --for "+which)
		must.Say(t, o.errors, says)
		for _, s := range doc.Statement {
			if s.Sid == "Functions" {
				return s.Resource
			}
		}
		return nil
	}
	const region = "cn-north-1:123456789012:"
	for _, which := range []string{"deploy", "deploy-bounded"} {
		must.Match(t, functions(which, ""), []string{
			"arn:aws-cn:logs:" + region + "log-group:shop-new-StreamsLogs-*", "arn:aws-cn:lambda:" + region +
				"function:shop-new-StreamsFunction-*", "arn:aws-cn:logs:" + region + "log-group:shop-new-IngestLogs-*",
			"arn:aws-cn:lambda:" + region + "function:shop-new-IngestFunction-*"})
	}
	write(t, "template.yaml", strings.Replace(publishes, "\nResources:\n", "\nResources:\n  Topic: {Type: AWS::SNS::Topic}\n", 1))
	must.Match(t, functions("deploy", "the policy has nothing for Topic (AWS::SNS::Topic)"), []string{
		"arn:aws-cn:logs:" + region + "log-group:shop-new-PublishLogs-*", "arn:aws-cn:lambda:" + region +
			"function:shop-new-PublishFunction-*"})
	write(t, "template.yaml", "{")
	o, _ := policyOf(t, "pipeline.yaml", "--for deploy")
	o.says(t, exitUsage, "template.yaml: ")
}
