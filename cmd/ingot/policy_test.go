package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// policyOf runs ingot policy on a file.
func policyOf(t *testing.T, file string, args ...string) (code int, doc policy.Document, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), append([]string{"policy", "--pipeline", file}, args...), func(string) (string, bool) {
		return "", false
	}, strings.NewReader(""), &out, &errs)
	if code == exitFine {
		must.Succeed(t, json.Unmarshal(out.Bytes(), &doc))
	}
	return code, doc, out.String(), errs.String()
}

func TestPolicy(t *testing.T) {
	shop := "../../" + sampleshop.Pipeline
	const table = "arn:aws:dynamodb:REGION:ACCOUNT:table/"
	for _, c := range []struct{ pattern, actions, resource string }{
		{"order_story", "dynamodb:Query", table + "EVENTS"},
		{"customer_orders", "dynamodb:Query", table + "EVENTS/index/GSI1"},
		{"merchants_day", "dynamodb:GetItem dynamodb:Query", table + "AGGREGATES"},
	} {
		_, doc, _, stderr := policyOf(t, shop, c.pattern)
		if len(doc.Statement) != 1 || strings.Join(doc.Statement[0].Action, " ") != c.actions ||
			!slices.Equal(doc.Statement[0].Resource, []string{c.resource}) || doc.Statement[0].Condition != nil {
			t.Errorf("%s: %+v %s", c.pattern, doc, stderr)
		}
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{nil, "say which patterns; the pipeline has customer_orders"},
		{[]string{"order_stroy"}, "the nearest is order_story"},
		{[]string{"--for", "quer"}, "--for quer: write one of archive, check, console, erase"},
		{[]string{"order_story", "--for", "query"}, "--for prints what a command needs"},
		{[]string{"customer_orders", "--principal-tag", "customer"}, "{customer_id|hmac} is stored as a hash, which IAM does not compute"},
		{[]string{"orders_of_day", "--principal-tag", "x"}, "the partition key has a time, {at|day}"},
		{[]string{"order_story", "--principal-tag", "x"}, "the partition key has two parameters, merchant_id and order_id"},
		{[]string{"merchants_day", "--principal-tag", "x"}, "merchants_day reads totals"},
	} {
		if code, _, stdout, stderr := policyOf(t, shop, c.args...); code != exitUsage || !strings.Contains(stderr, c.says) || stdout != "" {
			t.Errorf("%v: exit %d: %s%s", c.args, code, stdout, stderr)
		}
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
		_, doc, _, stderr := policyOf(t, file, pattern, "--principal-tag", "tenant")
		if len(doc.Statement) != 1 {
			t.Fatalf("%s: %s", pattern, stderr)
		}
		if got, _ := json.Marshal(doc.Statement[0].Condition); string(got) != want {
			t.Errorf("%s: %s", pattern, got)
		}
	}
	if code, _, _, stderr := policyOf(t, file, "lower", "--principal-tag", "tenant"); code != exitUsage ||
		!strings.Contains(stderr, "two principals could have one key") {
		t.Errorf("lower: exit %d: %s", code, stderr)
	}
}

// The policy for deploying covers each type of resource that the template has, and a stack's own
// resources alone.
func TestPolicyForDeploying(t *testing.T) {
	template := must.Read(t, "../../"+sampleshop.Template)
	creates := map[string]string{"CloudWatch::Alarm": "cloudwatch:PutMetricAlarm",
		"CloudWatch::CompositeAlarm": "cloudwatch:PutCompositeAlarm",
		"CloudWatch::Dashboard":      "cloudwatch:PutDashboard", "DynamoDB::Table": "dynamodb:CreateTable",
		"IAM::Role":      "iam:CreateRole",
		"Logs::LogGroup": "logs:CreateLogGroup", "S3::Bucket": "s3:CreateBucket", "S3::BucketPolicy": "s3:PutBucketPolicy",
		"SQS::Queue":       "sqs:CreateQueue",
		"SQS::QueuePolicy": "sqs:SetQueueAttributes", "SecretsManager::Secret": "secretsmanager:CreateSecret",
		"Serverless::Function": "lambda:CreateFunction"}
	_, doc, _, stderr := policyOf(t, "../../"+sampleshop.Pipeline, "--for", "deploy")
	types := regexp.MustCompile(`Type: AWS::(\S+)`).FindAllStringSubmatch(string(template), -1)
	if len(types) < 30 {
		t.Fatalf("%d resources, %s", len(types), stderr)
	}
	for _, match := range types {
		action := creates[match[1]]
		if action == "" || !slices.ContainsFunc(doc.Statement, func(s policy.Statement) bool { return slices.Contains(s.Action, action) }) {
			t.Errorf("nothing allows to create AWS::%s (%q)", match[1], action)
		}
	}
	for _, s := range doc.Statement {
		must.Equal(t, slices.Contains(s.Resource, "*"), slices.Contains([]string{"ValidateTemplate", "Mappings", "SeeLogGroups",
			"MakeSecret"}, s.Sid), s.Sid, s.Resource)
	}
	allowed := func(who, action string) (conditions map[string]map[string]any, ok bool) {
		for _, s := range policy.Others[who](policy.ARNsOf(nil)) {
			if slices.Contains(s.Action, action) {
				return s.Condition, true
			}
		}
		return nil, false
	}
	// What the roles of the template do is within the boundary, and no role is made without it.
	_, roles, _ := strings.Cut(string(template), "\n  StreamsRole:")
	for _, action := range regexp.MustCompile(`"((?:dynamodb|s3|sqs|logs|xray|kms):[A-Z]\w+)"[],]`).FindAllStringSubmatch(roles, -1) {
		if _, ok := allowed("boundary", action[1]); !ok {
			t.Errorf("the boundary does not allow %s", action[1])
		}
	}
	actions := "CreateRole PutRolePolicy DeleteRolePolicy ListRolePolicies ListAttachedRolePolicies DeleteRole"
	for action := range strings.FieldsSeq(actions) {
		at, ok := allowed("deploy-bounded", "iam:"+action)
		_, unbounded := allowed("deploy", "iam:"+action)
		if sees := strings.HasPrefix(action, "List") || action == "DeleteRole"; (at == nil) != sees || !ok || !unbounded {
			t.Errorf("%s: %v", action, at)
		}
	}
	if named := policy.Others["deploy"](policy.ARNsOf(&target.Target{Kind: target.KindStack, Name: "Shop", Region: "eu-central-1",
		Account: "111122223333"})); !slices.ContainsFunc(named, func(s policy.Statement) bool {
		return s.Sid == "Tables" && slices.Equal(s.Resource, []string{"arn:aws:dynamodb:eu-central-1:111122223333:table/Shop-*"})
	}) || !slices.ContainsFunc(named, func(s policy.Statement) bool {
		return s.Sid == "Roles" && slices.Equal(s.Resource, []string{"arn:aws:iam::111122223333:role/Shop-*"})
	}) || !slices.ContainsFunc(named, func(s policy.Statement) bool {
		return s.Sid == "Buckets" && slices.Equal(s.Resource, []string{"arn:aws:s3:::shop-*"})
	}) {
		t.Errorf("%+v", named)
	}
	if _, doc, _, _ := policyOf(t, "../../"+sampleshop.Pipeline, "--for", "producer"); len(doc.Statement) != 1 ||
		!slices.Equal(doc.Statement[0].Action, []string{"sqs:SendMessage"}) ||
		!slices.Equal(doc.Statement[0].Resource, []string{"arn:aws:sqs:REGION:ACCOUNT:QUEUE"}) {
		t.Errorf("%+v", doc)
	}
}
