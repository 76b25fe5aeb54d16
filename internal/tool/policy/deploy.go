package policy

import "strings"

// Others lists what people and programs need that run no command of the tool: those who deploy the
// template with the SAM CLI, and a producer.
var Others = map[string]func(ARNs) []Statement{
	"deploy":   deployer,
	"producer": func(r ARNs) []Statement { return []Statement{allow("Send", "sqs:SendMessage", r.queue)} },
}

// deployer lists what CloudFormation and the SAM CLI do for somebody who creates and updates a
// stack of template.yaml. They name what they make after the stack, except for the secret of hmac.
func deployer(r ARNs) []Statement {
	_, place, _ := strings.Cut(r.stack, "arn:aws:cloudformation:") // region:account:stack/NAME/*
	place, name, _ := strings.Cut(place, "stack/")
	_, account, _ := strings.Cut(place, ":")
	name = strings.TrimSuffix(name, "/*")
	own := func(service, kind string) string { return "arn:aws:" + service + ":" + place + kind + name + "-*" }
	buckets := "arn:aws:s3:::" + strings.ToLower(name) + "-*"
	if name == "STACK" {
		buckets = "arn:aws:s3:::STACK-IN-LOWER-CASE-*"
	}
	return []Statement{
		allow("Stacks", "cloudformation:CreateChangeSet cloudformation:DescribeChangeSet cloudformation:ExecuteChangeSet "+
			"cloudformation:DeleteChangeSet cloudformation:DescribeStacks cloudformation:DescribeStackEvents "+
			"cloudformation:DescribeStackResources cloudformation:ListStackResources cloudformation:GetTemplate "+
			"cloudformation:GetTemplateSummary",
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
			"s3:PutBucketOwnershipControls s3:PutBucketTagging", buckets),
		allow("Roles", "iam:CreateRole iam:GetRole iam:UpdateRole iam:UpdateAssumeRolePolicy iam:DeleteRole iam:PutRolePolicy "+
			"iam:GetRolePolicy iam:DeleteRolePolicy iam:TagRole iam:UntagRole", "arn:aws:iam::"+account+"role/"+name+"-*"),
		{Sid: "GiveRolesToFunctions", Effect: "Allow", Action: []string{"iam:PassRole"},
			Resource:  []string{"arn:aws:iam::" + account + "role/" + name + "-*"},
			Condition: map[string]map[string]any{"StringEquals": {"iam:PassedToService": "lambda.amazonaws.com"}}},
		allow("Functions", "lambda:CreateFunction lambda:UpdateFunctionCode lambda:UpdateFunctionConfiguration lambda:GetFunction "+
			"lambda:GetFunctionConfiguration lambda:GetFunctionCodeSigningConfig lambda:DeleteFunction lambda:TagResource "+
			"lambda:UntagResource lambda:ListTags lambda:PutFunctionConcurrency lambda:DeleteFunctionConcurrency",
			own("lambda", "function:")),
		allow("Mappings", "lambda:CreateEventSourceMapping lambda:UpdateEventSourceMapping lambda:GetEventSourceMapping "+
			"lambda:DeleteEventSourceMapping lambda:ListEventSourceMappings", "*"),
		allow("Logs", "logs:CreateLogGroup logs:DeleteLogGroup logs:PutRetentionPolicy logs:DeleteRetentionPolicy logs:AssociateKmsKey "+
			"logs:DisassociateKmsKey logs:TagResource logs:UntagResource logs:ListTagsForResource", own("logs", "log-group:"),
			own("logs", "log-group:")+":*"),
		allow("SeeLogGroups", "logs:DescribeLogGroups", "*"),
		allow("Alarms", "cloudwatch:PutMetricAlarm cloudwatch:DescribeAlarms cloudwatch:DeleteAlarms cloudwatch:TagResource "+
			"cloudwatch:ListTagsForResource", own("cloudwatch", "alarm:")),
		allow("Dashboard", "cloudwatch:PutDashboard cloudwatch:GetDashboard cloudwatch:DeleteDashboards",
			"arn:aws:cloudwatch::"+account+"dashboard/"+name+"-*"),
		allow("SecretForHMAC", "secretsmanager:CreateSecret secretsmanager:UpdateSecret secretsmanager:DescribeSecret "+
			"secretsmanager:GetSecretValue secretsmanager:DeleteSecret secretsmanager:TagResource", "arn:aws:secretsmanager:"+place+
			"secret:PiiKey-*"),
		allow("MakeSecret", "secretsmanager:GetRandomPassword", "*"),
	}
}
