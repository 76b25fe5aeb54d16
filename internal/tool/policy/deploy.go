package policy

import (
	"slices"
	"strings"
)

// Others lists what people and programs need that run no command of the tool: those who deploy the
// template with the SAM CLI, and a producer.
var Others = map[string]func(ARNs) []Statement{
	"deploy":   deployer,
	"boundary": boundary,
	"deploy-bounded": func(r ARNs) []Statement {
		list := deployer(r)
		list[slices.IndexFunc(list, func(s Statement) bool { return s.Sid == "Roles" })].Action = strings.Fields(seesRoles)
		bounded := allow("RolesWithBoundary", boundedRoles, "arn:aws:iam::"+r.named().account+"role/"+r.named().name+"-*")
		bounded.Condition = map[string]map[string]any{"StringEquals": {
			"iam:PermissionsBoundary": "arn:aws:iam::" + r.named().account + "policy/BOUNDARY"}}
		return append(list, bounded)
	},
	"producer": func(r ARNs) []Statement { return []Statement{allow("Send", "sqs:SendMessage", r.queue)} },
}

// These are what CloudFormation's handlers of roles need to create, change, roll back and delete
// one. Somebody with boundedRoles could give a role everything, and IAM knows the condition
// iam:PermissionsBoundary for them alone (Service Authorization Reference, "Actions, resources, and
// condition keys for AWS Identity and Access Management").
const (
	boundedRoles = "iam:CreateRole iam:PutRolePolicy iam:DeleteRolePolicy iam:PutRolePermissionsBoundary"
	seesRoles    = "iam:GetRole iam:UpdateRole iam:UpdateRoleDescription iam:UpdateAssumeRolePolicy iam:DeleteRole iam:GetRolePolicy " +
		"iam:ListRolePolicies iam:ListAttachedRolePolicies iam:TagRole iam:UntagRole"
)

// boundary lists the most that the roles of the template may ever do.
func boundary(r ARNs) []Statement {
	n := r.named()
	return []Statement{
		allow("Tables", "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:GetItem "+
			"dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:PutItem dynamodb:UpdateItem dynamodb:PartiQLInsert "+
			"dynamodb:PartiQLUpdate", n.own("dynamodb", "table/")),
		allow("Streams", "dynamodb:ListStreams", "*"),
		allow("Queues", "sqs:ReceiveMessage sqs:DeleteMessage sqs:GetQueueAttributes sqs:SendMessage", n.own("sqs", "")),
		allow("Buckets", "s3:GetObject s3:PutObject s3:DeleteObject s3:ListBucket", n.buckets, "arn:aws:s3:::EXISTING-PAYLOAD-BUCKET",
			"arn:aws:s3:::EXISTING-PAYLOAD-BUCKET/*"),
		allow("Pointers", "s3:GetObject", "arn:aws:s3:::POINTER-BUCKET/*"),
		allow("Logs", "logs:CreateLogStream logs:PutLogEvents", n.own("logs", "log-group:")+":*"),
		allow("Traces", "xray:PutTraceSegments xray:PutTelemetryRecords", "*"),
		allow("OwnKey", "kms:Decrypt kms:GenerateDataKey", "arn:aws:kms:"+n.place+"key/KEY"),
	}
}

// named are the parts of the names of what a stack makes.
type named struct{ name, place, account, buckets string } // place is region:account: and account is account:

// own returns the ARN of what CloudFormation names after the stack.
func (n named) own(service, kind string) string {
	return "arn:aws:" + service + ":" + n.place + kind + n.name + "-*"
}

func (r ARNs) named() (n named) {
	_, n.place, _ = strings.Cut(r.stack, "arn:aws:cloudformation:") // region:account:stack/NAME/*
	n.place, n.name, _ = strings.Cut(n.place, "stack/")
	_, n.account, _ = strings.Cut(n.place, ":")
	n.name = strings.TrimSuffix(n.name, "/*")
	n.buckets = "arn:aws:s3:::" + strings.ToLower(n.name) + "-*"
	if n.name == "STACK" {
		n.buckets = "arn:aws:s3:::STACK-IN-LOWER-CASE-*"
	}
	return n
}

// deployer lists what CloudFormation and the SAM CLI do for somebody who creates and updates a
// stack of template.yaml. They name what they make after the stack, except for the secret of hmac.
func deployer(r ARNs) []Statement {
	n := r.named()
	name, place, account, buckets, own := n.name, n.place, n.account, n.buckets, n.own
	return []Statement{
		allow("Stacks", "cloudformation:CreateChangeSet cloudformation:DescribeChangeSet cloudformation:ExecuteChangeSet "+
			"cloudformation:DeleteChangeSet cloudformation:DescribeStacks cloudformation:DescribeStackEvents "+
			"cloudformation:DescribeStackResources cloudformation:ListStackResources cloudformation:GetTemplate "+
			"cloudformation:GetTemplateSummary cloudformation:DeleteStack cloudformation:RollbackStack "+
			"cloudformation:ContinueUpdateRollback",
			r.stack, "arn:aws:cloudformation:"+place+"stack/aws-sam-cli-managed-default/*",
			"arn:aws:cloudformation:*:aws:transform/Serverless-2016-10-31"),
		allow("ValidateTemplate", "cloudformation:ValidateTemplate", "*"),
		allow("UploadBuild", "s3:CreateBucket s3:GetBucketLocation s3:ListBucket s3:GetObject s3:PutObject s3:PutBucketPolicy "+
			"s3:GetBucketPolicy s3:PutBucketVersioning s3:PutBucketTagging s3:PutEncryptionConfiguration s3:PutBucketPublicAccessBlock",
			"arn:aws:s3:::aws-sam-cli-managed-default-*"),
		allow("Tables", "dynamodb:CreateTable dynamodb:UpdateTable dynamodb:DeleteTable dynamodb:DescribeTable dynamodb:UpdateTimeToLive "+
			"dynamodb:DescribeTimeToLive dynamodb:UpdateContinuousBackups dynamodb:DescribeContinuousBackups "+
			"dynamodb:DescribeContributorInsights dynamodb:UpdateContributorInsights "+
			"dynamodb:DescribeKinesisStreamingDestination dynamodb:GetResourcePolicy "+
			"dynamodb:TagResource dynamodb:UntagResource dynamodb:ListTagsOfResource",
			own("dynamodb", "table/")),
		allow("Queues", "sqs:CreateQueue sqs:SetQueueAttributes sqs:GetQueueAttributes sqs:GetQueueUrl sqs:DeleteQueue sqs:TagQueue "+
			"sqs:UntagQueue sqs:ListQueueTags", own("sqs", "")),
		allow("Buckets", "s3:CreateBucket s3:DeleteBucket s3:PutBucketPolicy s3:GetBucketPolicy s3:DeleteBucketPolicy "+
			"s3:PutLifecycleConfiguration s3:PutEncryptionConfiguration s3:PutBucketPublicAccessBlock s3:PutBucketVersioning "+
			"s3:PutBucketOwnershipControls s3:PutBucketTagging s3:ListBucket s3:GetLifecycleConfiguration "+
			"s3:GetEncryptionConfiguration s3:GetBucketPublicAccessBlock s3:GetBucketVersioning s3:GetBucketOwnershipControls "+
			"s3:GetBucketTagging", buckets),
		allow("Roles", boundedRoles+" "+seesRoles, "arn:aws:iam::"+account+"role/"+name+"-*"),
		{Sid: "GiveRolesToFunctions", Effect: "Allow", Action: []string{"iam:PassRole"},
			Resource:  []string{"arn:aws:iam::" + account + "role/" + name + "-*"},
			Condition: map[string]map[string]any{"StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}},
		allow("Functions", "lambda:CreateFunction lambda:UpdateFunctionCode lambda:UpdateFunctionConfiguration lambda:GetFunction "+
			"lambda:GetFunctionConfiguration lambda:GetFunctionCodeSigningConfig lambda:DeleteFunction lambda:TagResource "+
			"lambda:UntagResource lambda:ListTags lambda:GetRuntimeManagementConfig "+
			"lambda:GetFunctionRecursionConfig lambda:PutFunctionConcurrency lambda:DeleteFunctionConcurrency",
			own("lambda", "function:")),
		allow("Mappings", "lambda:CreateEventSourceMapping lambda:UpdateEventSourceMapping lambda:GetEventSourceMapping "+
			"lambda:DeleteEventSourceMapping lambda:ListEventSourceMappings", "*"),
		allow("Logs", "logs:CreateLogGroup logs:DeleteLogGroup logs:PutRetentionPolicy logs:DeleteRetentionPolicy logs:AssociateKmsKey "+
			"logs:DisassociateKmsKey logs:TagResource logs:UntagResource logs:ListTagsForResource", own("logs", "log-group:"),
			own("logs", "log-group:")+":*"),
		allow("SeeLogGroups", "logs:DescribeLogGroups", "*"),
		allow("Alarms", "cloudwatch:PutMetricAlarm cloudwatch:PutCompositeAlarm cloudwatch:DescribeAlarms "+
			"cloudwatch:DeleteAlarms cloudwatch:TagResource cloudwatch:ListTagsForResource", own("cloudwatch", "alarm:")),
		allow("Dashboard", "cloudwatch:PutDashboard cloudwatch:GetDashboard cloudwatch:DeleteDashboards",
			"arn:aws:cloudwatch::"+account+"dashboard/"+name+"-*"),
		allow("SecretForHMAC", "secretsmanager:CreateSecret secretsmanager:UpdateSecret secretsmanager:DescribeSecret "+
			"secretsmanager:GetSecretValue secretsmanager:DeleteSecret secretsmanager:TagResource "+
			"secretsmanager:UntagResource", "arn:aws:secretsmanager:"+place+
			"secret:PiiKey-*"),
		allow("MakeSecret", "secretsmanager:GetRandomPassword", "*"),
	}
}
