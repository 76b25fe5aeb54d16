package policy_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// templates are all templates of this repository.
var templates = []string{"template.yaml", "cmd/migrate/template.yaml", "cmd/publish/template.yaml", "cmd/worker/template.yaml"}

// deploying are the policies about a stack.
var deploying = []string{"deploy", "deploy-bounded", "boundary"}

func madeBy(t *testing.T, name string) *policy.Template {
	t.Helper()
	made, err := policy.ReadTemplate(must.Read(t, "../../../"+name))
	must.Succeed(t, err)
	return made
}

func stackIn(region, name string) policy.ARNs {
	return policy.ARNsOf(&target.Target{Kind: target.KindStack, Name: name, Region: region, Account: "111122223333"})
}

// physical are the ARNs of the resources of a stack, as CloudFormation names them: %[1]s is the
// stack and %[2]s the logical id, and %[3]s and %[4]s are the same in lower case. A mapping and the
// policy of a queue or bucket have no ARN of their own.
var physical = map[string]string{
	"AWS::CloudWatch::Alarm":          "arn:aws:cloudwatch:eu-central-1:111122223333:alarm:%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::CloudWatch::CompositeAlarm": "arn:aws:cloudwatch:eu-central-1:111122223333:alarm:%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::CloudWatch::Dashboard":      "arn:aws:cloudwatch::111122223333:dashboard/%[1]s-eu-central-1",
	"AWS::DynamoDB::Table":            "arn:aws:dynamodb:eu-central-1:111122223333:table/%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::IAM::Role":                  "arn:aws:iam::111122223333:role/%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::Lambda::EventSourceMapping": "",
	"AWS::Logs::LogGroup":             "arn:aws:logs:eu-central-1:111122223333:log-group:%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::S3::Bucket":                 "arn:aws:s3:::%[3]s-%[4]s-1a2b3c4d5e6f",
	"AWS::S3::BucketPolicy":           "",
	"AWS::SQS::Queue":                 "arn:aws:sqs:eu-central-1:111122223333:%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::SQS::QueuePolicy":           "",
	"AWS::SecretsManager::Secret":     "arn:aws:secretsmanager:eu-central-1:111122223333:secret:%[2]s-1A2B3C4D5E6F-7G8H9I",
	"AWS::Scheduler::Schedule":        "arn:aws:scheduler:eu-central-1:111122223333:schedule/default/%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::Serverless::Function":       "arn:aws:lambda:eu-central-1:111122223333:function:%[1]s-%[2]s-1A2B3C4D5E6F",
	"AWS::Serverless::StateMachine":   "arn:aws:states:eu-central-1:111122223333:stateMachine:%[1]s-verify",
}

// made is a resource of a stack.
type made struct{ kind, arn, stack string }

func resourcesOf(t *testing.T, name, stack string) (list []made) {
	t.Helper()
	root, err := template.Read(must.Read(t, "../../../"+name))
	must.Succeed(t, err)
	for _, m := range root.Member("Resources").Value.Members {
		kind := m.Value.Member("Type").Value.Text
		format, known := physical[kind]
		if !known {
			t.Fatalf("%s: how is a %s named?", name, kind)
		}
		arn := ""
		if format != "" {
			arn = fmt.Sprintf(format, stack, m.Name, strings.ToLower(stack), strings.ToLower(m.Name))
		}
		list = append(list, made{kind, arn, stack})
	}
	return list
}

// like reports whether a pattern of IAM matches a text.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	if last == 0 {
		return text == parts[0]
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// does reports whether a statement allows an action. The case of an action does not count (IAM User
// Guide, "IAM JSON policy elements: Action").
func does(s policy.Statement, action string) bool {
	return slices.ContainsFunc(s.Action, func(pattern string) bool { return like(strings.ToLower(pattern), strings.ToLower(action)) })
}

func anyLike(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return like(pattern, text) })
}

// covers reports whether a statement is about a resource: by its name, and by the conditions that
// say whose it is.
func covers(s policy.Statement, r made) bool {
	if stack, ok := s.Condition["StringEqualsIfExists"]["aws:ResourceTag/aws:cloudformation:stack-name"]; ok && stack != r.stack {
		return false
	}
	return anyLike(s.Resource, r.arn)
}

// A policy covers each resource of its stack, and none of a stack whose name begins with the same
// letters.
func TestPoliciesAreOfOneStack(t *testing.T) {
	for _, name := range templates {
		for own, other := range map[string]string{"shop": "shop-dev", "shop-dev": "shop", "Shop": "Shop-Orders"} {
			what, mine, others := madeBy(t, name), resourcesOf(t, name, own), resourcesOf(t, name, other)
			for _, which := range deploying {
				list := policy.Others[which](stackIn("eu-central-1", own), what)
				for _, s := range list {
					if slices.Equal(s.Resource, []string{"*"}) {
						continue // see TestWhatKnowsNoResources
					}
					for _, r := range others {
						if r.arn != "" && covers(s, r) {
							t.Errorf("%s: %s of %s, for %s: %v covers %s", name, which, s.Sid, own, s.Resource, r.arn)
						}
					}
				}
				for _, r := range mine {
					if which != "boundary" && r.arn != "" &&
						!slices.ContainsFunc(list, func(s policy.Statement) bool { return covers(s, r) }) {
						t.Errorf("%s: %s for %s covers no %s", name, which, own, r.arn)
					}
				}
			}
		}
	}
}

// What a policy allows on all resources knows no others, or has a condition that names the stack.
func TestWhatKnowsNoResources(t *testing.T) {
	for which, want := range map[string][]string{
		"deploy": {"cloudformation:ValidateTemplate", "cloudwatch:DescribeAlarms", "cloudwatch:PutCompositeAlarm",
			"lambda:GetEventSourceMapping", "lambda:ListEventSourceMappings", "logs:DescribeLogGroups",
			"secretsmanager:GetRandomPassword"},
		"boundary": {"dynamodb:ListStreams", "xray:PutTelemetryRecords", "xray:PutTraceSegments"},
	} {
		var all []string
		for _, s := range policy.Others[which](stackIn("eu-central-1", "shop"), madeBy(t, "template.yaml")) {
			if !slices.Contains(s.Resource, "*") {
				continue
			}
			if functions, ok := s.Condition["StringLike"]["lambda:FunctionArn"]; ok {
				must.Match(t, functions.([]string), []string{"arn:aws:lambda:eu-central-1:111122223333:function:shop-StreamsFunction-*",
					"arn:aws:lambda:eu-central-1:111122223333:function:shop-IngestFunction-*"})
				continue
			}
			all = append(all, s.Action...)
		}
		slices.Sort(all)
		must.Match(t, all, want)
	}
}

// All ARNs have the partition of the stack's Region.
func TestPartitions(t *testing.T) {
	for region, partition := range map[string]string{"eu-central-1": "aws", "cn-north-1": "aws-cn", "us-gov-west-1": "aws-us-gov",
		"": "aws"} {
		r := policy.ARNsOf(&target.Target{Kind: target.KindStack, Name: "shop", Region: region, PayloadBucket: "payloads"})
		all := map[string][]policy.Statement{}
		for name, statements := range policy.Commands {
			all[name] = statements(r)
		}
		for name, statements := range policy.Others {
			all[name] = statements(r, madeBy(t, "template.yaml"))
		}
		text, err := json.Marshal(all)
		must.Succeed(t, err)
		arns := regexp.MustCompile(`"arn:([^:]*):`).FindAllStringSubmatch(string(text), -1)
		if len(arns) < 100 {
			t.Errorf("%d ARNs", len(arns))
		}
		for _, arn := range arns {
			must.Equal(t, arn[1], partition, region)
		}
	}
}

// A managed policy has at most 6,144 characters (IAM User Guide, "IAM and AWS STS quotas").
func TestPoliciesFit(t *testing.T) {
	for _, name := range templates {
		what := madeBy(t, name)
		for _, region := range []string{"ap-southeast-1", "cn-northwest-1", "us-gov-west-1"} {
			for _, which := range deploying {
				text, err := json.Marshal(policy.Document{Version: "2012-10-17",
					Statement: policy.Others[which](stackIn(region, strings.Repeat("n", 15)), what)})
				must.Succeed(t, err)
				if len(text) > 6144 {
					t.Errorf("%s: %s in %s has %d characters", name, which, region, len(text))
				}
			}
		}
	}
}

// handled are the types that CloudFormation makes of a type, and that testdata/handlers.json has.
var handled = map[string][]string{
	"AWS::Serverless::Function":     {"AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"},
	"AWS::Serverless::StateMachine": {"AWS::StepFunctions::StateMachine"},
}

// withoutHandlers are the types of which testdata/handlers.json has none, with what makes, shows
// and removes them.
var withoutHandlers = map[string]string{
	"AWS::CloudWatch::Alarm":     "cloudwatch:PutMetricAlarm cloudwatch:DescribeAlarms cloudwatch:DeleteAlarms",
	"AWS::CloudWatch::Dashboard": "cloudwatch:PutDashboard cloudwatch:GetDashboard cloudwatch:DeleteDashboards",
	"AWS::S3::BucketPolicy":      "s3:PutBucketPolicy s3:GetBucketPolicy s3:DeleteBucketPolicy",
}

// unused are the actions that handlers ask for and that no policy for deploying allows, by the
// reason.
var unused = map[string]string{
	"docs/deploy.md lists what a key of one's own takes":   "kms:CreateGrant kms:Decrypt kms:Describe* kms:Encrypt kms:GenerateDataKey",
	"a key's grants are left to its owner and to DynamoDB": "kms:Get* kms:List* kms:RevokeGrant",
	"no table is imported": "dynamodb:ImportTable logs:CreateLogStream logs:DescribeLogStreams " +
		"logs:PutLogEvents",
	"no table streams to Kinesis": "dynamodb:DisableKinesisStreamingDestination dynamodb:EnableKinesisStreamingDestination " +
		"kinesis:DescribeStream kinesis:PutRecords",
	"no role has a managed policy": "iam:AttachRolePolicy iam:DetachRolePolicy",
	"no function is in a VPC": "ec2:DescribeNetworkInterfaces ec2:DescribeSecurityGroups ec2:DescribeSubnets ec2:DescribeVpcs " +
		"elasticfilesystem:DescribeMountTargets",
	"no code is signed": "lambda:DeleteFunctionCodeSigningConfig lambda:GetCodeSigningConfig " +
		"lambda:PutFunctionCodeSigningConfig",
	"no function has that": "lambda:GetLayerVersion lambda:PassCapacityProvider lambda:PublishVersion " +
		"lambda:PutFunctionScalingConfig",
	"AWS's defaults stay":                       "lambda:PutFunctionRecursionConfig lambda:PutRuntimeManagementConfig",
	"no log group has a data protection policy": "logs:PutDataProtectionPolicy logs:DeleteDataProtectionPolicy",
	"no log group delivers elsewhere": "firehose:TagDeliveryStream logs:CreateLogDelivery logs:DescribeResourcePolicies " +
		"logs:PutResourcePolicy s3:REST.PUT.OBJECT",
	"no secret is replicated": "secretsmanager:RemoveRegionsFromReplication secretsmanager:ReplicateSecretToRegions",
	"no bucket has that": "s3:PutAccelerateConfiguration s3:PutAnalyticsConfiguration s3:PutIntelligentTieringConfiguration " +
		"s3:PutInventoryConfiguration s3:PutMetricsConfiguration s3:PutObjectLockConfiguration s3:PutReplicationConfiguration " +
		"s3:PutObjectAcl",
	"only metadata tables delete objects": "s3:DeleteObject",
	"no bucket has metadata tables": "s3tables:CreateNamespace s3tables:CreateTable s3tables:CreateTableBucket s3tables:GetTable " +
		"s3tables:GetTableMetadataLocation s3tables:PutTableBucketPolicy s3tables:PutTableEncryption s3tables:PutTablePolicy " +
		"s3tables:UpdateTableMetadataLocation",
}

// bounds are actions that deploy-bounded leaves out in addition.
const bounds = "iam:DeleteRolePermissionsBoundary"

// What CloudFormation's handlers ask for is allowed on the resources of the stack, or is on the
// list of what no template uses.
func TestWhatHandlersAskFor(t *testing.T) {
	var schemas struct {
		Source string
		Types  map[string]map[string][]string
	}
	must.Succeed(t, json.Unmarshal(must.Read(t, "testdata/handlers.json"), &schemas))
	for _, which := range []string{"deploy", "deploy-bounded"} {
		exempt := map[string]bool{}
		for action := range strings.FieldsSeq(strings.Join(slices.Collect(maps.Values(unused)), " ")) {
			exempt[action] = false
		}
		if which == "deploy-bounded" {
			exempt[bounds] = false
		}
		for _, name := range templates {
			list := policy.Others[which](stackIn("eu-central-1", "shop"), madeBy(t, name))
			for _, r := range resourcesOf(t, name, "shop") {
				kinds := handled[r.kind]
				if kinds == nil {
					kinds = []string{r.kind}
				}
				for _, kind := range kinds {
					actions := strings.Fields(withoutHandlers[kind])
					for _, handler := range schemas.Types[kind] {
						actions = append(actions, handler...)
					}
					if len(actions) == 0 {
						t.Fatalf("testdata/handlers.json does not have %s", kind)
					}
					for _, action := range actions {
						ok := allowedOn(list, action, r)
						if _, listed := exempt[action]; listed {
							exempt[action] = true
						} else if !ok {
							t.Errorf("%s: %s does not allow %s on a %s", name, which, action, r.kind)
						}
					}
				}
			}
			for action := range exempt {
				if slices.ContainsFunc(list, func(s policy.Statement) bool { return does(s, action) }) {
					t.Errorf("%s: %s allows %s, which is on the list of what no template uses", name, which, action)
				}
			}
		}
		for action, asked := range exempt {
			if !asked {
				t.Errorf("no handler asks for %s", action)
			}
		}
	}
}

// allowedOn reports whether an action is allowed on a resource, or, if the action is of another
// service, on anything.
func allowedOn(list []policy.Statement, action string, r made) bool {
	service, _, _ := strings.Cut(action, ":")
	return slices.ContainsFunc(list, func(s policy.Statement) bool {
		own := strings.Contains(r.arn, ":"+service+":")
		return does(s, action) && (!own || slices.Contains(s.Resource, "*") || covers(s, r))
	})
}

// Each service that a role of the template trusts may be given that role, and no other.
func TestRolesGoToTheirServices(t *testing.T) {
	for _, name := range templates {
		trusted := map[string]bool{}
		for _, found := range regexp.MustCompile(`Principal: \{Service: ([a-z.]+)\}`).FindAllSubmatch(must.Read(t, "../../../"+name), -1) {
			trusted[string(found[1])] = true
		}
		for _, s := range policy.Others["deploy"](stackIn("eu-central-1", "shop"), madeBy(t, name)) {
			if does(s, "iam:PassRole") {
				given := s.Condition["StringEqualsIfExists"]["iam:PassedToService"]
				text, err := json.Marshal(given)
				must.Succeed(t, err)
				for service := range trusted {
					must.Say(t, string(text), service)
				}
				must.Equal(t, strings.Count(string(text), "amazonaws.com"), len(trusted), name, string(text))
			}
		}
	}
}

// A role gets no right and loses no boundary without the condition that it has the boundary.
func TestRolesAreBounded(t *testing.T) {
	const boundary = "arn:aws:iam::111122223333:policy/BOUNDARY"
	for _, name := range templates {
		for action := range strings.FieldsSeq("CreateRole PutRolePolicy DeleteRolePolicy PutRolePermissionsBoundary AttachRolePolicy " +
			bounds[len("iam:"):]) {
			for _, s := range policy.Others["deploy-bounded"](stackIn("eu-central-1", "shop"), madeBy(t, name)) {
				if does(s, "iam:"+action) {
					must.Equal(t, s.Condition["StringEquals"]["iam:PermissionsBoundary"], any(boundary), action)
				}
			}
		}
	}
}

// A name that a template gives is taken as it is. One that depends on more than the stack is left
// to the reader, and so are types of which Ingot's templates have none.
func TestNamesOfTemplates(t *testing.T) {
	own, err := policy.ReadTemplate([]byte(`Resources:
  Orders: {Type: AWS::SQS::Queue, Properties: {QueueName: !Sub "${AWS::StackName}-orders"}}
  Old: {Type: AWS::DynamoDB::Table, Properties: {TableName: old-events}}
  Mine: {Type: AWS::S3::Bucket, Properties: {BucketName: !Ref Bucket}}
  Topic: {Type: AWS::SNS::Topic}
`))
	must.Succeed(t, err)
	must.Match(t, own.Unknown(), []string{"Topic (AWS::SNS::Topic)"})
	for _, s := range policy.Others["deploy"](stackIn("eu-central-1", "shop"), own) {
		if s.Sid == "Stores" {
			must.Match(t, s.Resource, []string{"arn:aws:sqs:eu-central-1:111122223333:shop-orders",
				"arn:aws:dynamodb:eu-central-1:111122223333:table/old-events", "arn:aws:s3:::NAME-OF-Mine"})
		}
		if len(s.Resource) == 0 {
			t.Errorf("%s is about nothing", s.Sid)
		}
		must.Equal(t, s.Sid == "Mappings", false, "it has no function")
	}
}
