package policy

import "slices"

// Others lists what people and programs need that run no command of the tool: those who deploy a
// template with the SAM CLI, and a producer.
var Others = map[string]func(ARNs, *Template) []Statement{
	"deploy": func(r ARNs, t *Template) []Statement {
		d := deployment{r, t}
		return covering(d.deployer(allow("Roles", boundedRoles+" iam:DeleteRolePermissionsBoundary "+seesRoles, d.of(roles)...)))
	},
	"deploy-bounded": func(r ARNs, t *Template) []Statement {
		d := deployment{r, t}
		bounded := allow("RolesWithBoundary", boundedRoles, d.of(roles)...)
		bounded.Condition = conditionOn("StringEquals", "iam:PermissionsBoundary", d.global("iam", "policy/BOUNDARY"))
		return covering(d.deployer(allow("Roles", seesRoles, d.of(roles)...), bounded))
	},
	"boundary": func(r ARNs, t *Template) []Statement { return covering(deployment{r, t}.boundary()) },
	"producer": func(r ARNs, _ *Template) []Statement { return []Statement{allow("Send", "sqs:SendMessage", r.queue)} },
}

// These are types of resources.
const (
	tables     = "AWS::DynamoDB::Table"
	queues     = "AWS::SQS::Queue"
	buckets    = "AWS::S3::Bucket"
	roles      = "AWS::IAM::Role"
	functions  = "AWS::Serverless::Function"
	logGroups  = "AWS::Logs::LogGroup"
	alarms     = "AWS::CloudWatch::Alarm"
	composites = "AWS::CloudWatch::CompositeAlarm"
	dashboards = "AWS::CloudWatch::Dashboard"
	secrets    = "AWS::SecretsManager::Secret"
	machines   = "AWS::Serverless::StateMachine"
	schedules  = "AWS::Scheduler::Schedule"
)

// These are what CloudFormation's handlers of roles need to create, change, roll back and delete
// one. Somebody with boundedRoles could give a role everything, and IAM knows the condition
// iam:PermissionsBoundary for them alone (Service Authorization Reference, "Actions, resources, and
// condition keys for AWS Identity and Access Management").
const (
	boundedRoles = "iam:CreateRole iam:PutRolePolicy iam:DeleteRolePolicy iam:PutRolePermissionsBoundary"
	seesRoles    = "iam:GetRole* iam:UpdateRole* iam:UpdateAssumeRolePolicy iam:DeleteRole " +
		"iam:ListRolePolicies iam:ListAttachedRolePolicies iam:TagRole iam:UntagRole"
)

// boundary lists the most that the roles of Ingot's template may ever do.
func (d deployment) boundary() []Statement {
	return []Statement{
		allow("Tables", "dynamodb:DescribeStream dynamodb:GetRecords dynamodb:GetShardIterator dynamodb:GetItem "+
			"dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:PutItem dynamodb:UpdateItem dynamodb:PartiQLInsert "+
			"dynamodb:PartiQLUpdate", d.of(tables)...),
		allow("Streams", "dynamodb:ListStreams", "*"),
		allow("Queues", "sqs:ReceiveMessage sqs:DeleteMessage sqs:GetQueueAttributes sqs:SendMessage", d.of(queues)...),
		allow("Buckets", "s3:GetObject s3:PutObject s3:DeleteObject s3:ListBucket", append(d.of(buckets),
			d.bucket("EXISTING-PAYLOAD-BUCKET"), d.bucket("EXISTING-PAYLOAD-BUCKET/*"))...),
		allow("Pointers", "s3:GetObject", d.bucket("POINTER-BUCKET/*")),
		allow("Logs", "logs:CreateLogStream logs:PutLogEvents", d.of(logGroups)...),
		allow("Traces", "xray:PutTraceSegments xray:PutTelemetryRecords", "*"),
		allow("OwnKey", "kms:Decrypt kms:GenerateDataKey", d.arn("kms", "key/KEY")),
	}
}

// deployer lists what CloudFormation and the SAM CLI do for somebody who creates, updates and
// deletes a stack, beside the given statements. A test compares it with what CloudFormation's
// handlers of the resources ask for.
func (d deployment) deployer(forRoles ...Statement) []Statement {
	// With a composite alarm, these two actions take no narrower resource (Amazon CloudWatch API
	// Reference, PutCompositeAlarm and DescribeAlarms).
	anyAlarm := "cloudwatch:DescribeAlarms"
	if d.of(composites) != nil {
		anyAlarm += " cloudwatch:PutCompositeAlarm"
	}
	services := []string{"lambda.amazonaws.com"}
	if d.of(machines) != nil {
		services = append(services, "states.amazonaws.com")
	}
	if d.of(schedules) != nil {
		services = append(services, "scheduler.amazonaws.com")
	}
	forRoles[0].Action = append(forRoles[0].Action, "iam:PassRole")
	forRoles[0].Condition = conditionOn("StringEqualsIfExists", "iam:PassedToService", services...) // of iam:PassRole alone
	list := []Statement{
		allow("Deploy", "cloudformation:*ChangeSet cloudformation:DescribeStack* cloudformation:ListStackResources "+
			"cloudformation:GetTemplate* cloudformation:DeleteStack cloudformation:*Rollback* "+
			"s3:CreateBucket s3:GetBucket* s3:ListBucket s3:GetObject* s3:PutObject s3:PutBucket* s3:PutEncryptionConfiguration",
			d.arn("cloudformation", "stack/"+d.stack+"/*"), d.arn("cloudformation", "stack/aws-sam-cli-managed-default/*"),
			"arn:"+d.partition+":cloudformation:*:aws:transform/Serverless-2016-10-31", d.bucket("aws-sam-cli-managed-default-*")),
		allow("Stores", "dynamodb:CreateTable dynamodb:UpdateTable dynamodb:DeleteTable dynamodb:Describe* dynamodb:UpdateTimeToLive "+
			"dynamodb:UpdateContinuousBackups dynamodb:UpdateContributorInsights dynamodb:GetResourcePolicy dynamodb:*Tag* "+
			"sqs:CreateQueue sqs:SetQueueAttributes sqs:GetQueue* sqs:DeleteQueue sqs:*Tag* "+
			"s3:*Bucket* s3:Get*Configuration s3:PutLifecycleConfiguration s3:PutEncryptionConfiguration "+
			"s3:TagResource s3:UntagResource s3:ListTagsForResource", d.of(tables, queues, buckets)...),
		allow("Functions", "lambda:CreateFunction lambda:UpdateFunctionCode lambda:UpdateFunctionConfiguration lambda:GetFunction* "+
			"lambda:DeleteFunction lambda:*Tag* lambda:GetRuntimeManagementConfig lambda:*FunctionConcurrency "+
			"logs:CreateLogGroup logs:DeleteLogGroup logs:*RetentionPolicy logs:*KmsKey logs:*Tag* logs:GetDataProtectionPolicy "+
			"states:*StateMachine states:*Tag* scheduler:*Schedule", d.of(functions, logGroups, machines, schedules)...),
		allow("Watch", "cloudwatch:PutMetricAlarm cloudwatch:DeleteAlarms cloudwatch:*Dashboard* cloudwatch:*Tag*",
			d.of(alarms, composites, dashboards)...),
		allow("Anything", "cloudformation:ValidateTemplate lambda:GetEventSourceMapping lambda:ListEventSourceMappings "+
			"logs:DescribeLogGroups secretsmanager:GetRandomPassword "+anyAlarm, "*"),
	}
	return slices.Concat(list, forRoles, d.mappings(), d.secretForHMAC(), d.throttledKeys())
}

// mappings lets somebody change the mappings of the functions alone. A mapping has no name (AWS
// Lambda Developer Guide, "Fine-tuning the Resources and Conditions sections of policies").
func (d deployment) mappings() []Statement {
	own := d.of(functions)
	if own == nil {
		return nil
	}
	s := allow("Mappings", "lambda:*EventSourceMapping", "*")
	s.Condition = conditionOn("StringLike", "lambda:FunctionArn", own...)
	return []Statement{s}
}

// secretForHMAC covers the secret that the stack makes. Its name has nothing of the stack, so the
// tag that CloudFormation gives it must not name another one (CloudFormation User Guide, "Resource
// tag"). A secret has no tag before it is made. A template that makes no secret may read one.
func (d deployment) secretForHMAC() []Statement {
	own := d.of(secrets)
	switch {
	case own == nil && d.Template.secret:
		return []Statement{allow("SecretForHMAC", "secretsmanager:GetSecretValue", d.ARNs.secret)}
	case own == nil:
		return nil
	}
	s := allow("SecretForHMAC", "secretsmanager:CreateSecret secretsmanager:UpdateSecret secretsmanager:DescribeSecret "+
		"secretsmanager:GetSecretValue secretsmanager:DeleteSecret secretsmanager:TagResource secretsmanager:UntagResource", own...)
	s.Condition = conditionOn("StringEqualsIfExists", "aws:ResourceTag/aws:cloudformation:stack-name", d.stack)
	return []Statement{s}
}

// throttledKeys lets DynamoDB make the role with which it counts the throttled keys of a table, the
// first time in an account (Amazon DynamoDB Developer Guide, "Using IAM with CloudWatch contributor
// insights for DynamoDB").
func (d deployment) throttledKeys() []Statement {
	if d.of(tables) == nil {
		return nil
	}
	return []Statement{allow("ThrottledKeys", "iam:CreateServiceLinkedRole",
		d.global("iam", "role/aws-service-role/contributorinsights.dynamodb.amazonaws.com/*"))}
}

// covering leaves out the statements that are about nothing.
func covering(list []Statement) []Statement {
	return slices.DeleteFunc(list, func(s Statement) bool { return len(s.Resource) == 0 })
}

func conditionOn(operator, key string, values ...string) map[string]map[string]any {
	if len(values) == 1 {
		return map[string]map[string]any{operator: {key: values[0]}}
	}
	return map[string]map[string]any{operator: {key: values}}
}
