package check

import (
	"slices"
	"strings"
	"testing"
)

// advised is one change of the sample's template that is refused, and the same template after the
// advice was followed.
type advised struct {
	broken
	followed [][2]string // further replacements, in the changed text; nil: nothing to check
}

const (
	ingestTable    = `{Effect: Allow, Action: ["dynamodb:PutItem", "dynamodb:PartiQLInsert", "dynamodb:BatchGetItem"], Resource: !GetAtt EventsTable.Arn}`
	ingestSends    = `{Effect: Allow, Action: "sqs:SendMessage", Resource: !GetAtt QuarantineQueue.Arn}`
	ingestLogs     = `{Effect: Allow, Action: ["logs:CreateLogStream", "logs:PutLogEvents"], Resource: !GetAtt IngestLogs.Arn}`
	ingestBoth     = "              - " + ingestSends + "\n              - " + ingestLogs + "\n"
	secretCheck    = `              - {Effect: Allow, Action: ["dynamodb:GetItem", "dynamodb:PutItem"], Resource: !GetAtt AggregatesTable.Arn, Condition: {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["K#"]}}}` + "\n"
	ingestRole     = "      Role: !GetAtt IngestRole.Arn\n"
	ingestCode     = "      CodeUri: cmd/ingest/\n"
	ofQueues       = "      KmsMasterKeyId: !If [OwnKey, !Ref KmsKeyArn, !Ref AWS::NoValue]\n      SqsManagedSseEnabled: !If [OwnKey, !Ref AWS::NoValue, true]\n"
	eventsOnDemand = "      BillingMode: PAY_PER_REQUEST\n"
)

var functionRules = []advised{
	{broken{"without PartiQL", [][2]string{{`"dynamodb:PartiQLInsert", "dynamodb:BatchGetItem"`, `"dynamodb:BatchGetItem"`}},
		"cannot ask for\n              |- {Effect",
		`IngestRole does not allow dynamodb:PartiQLInsert on EventsTable: events could not be stored; write {Effect: Allow, Action: ["dynamodb:PartiQLInsert"], Resource: !GetAtt EventsTable.Arn} among the statements of IngestRole`},
		[][2]string{{"              - {Effect: Allow, Action: [\"dynamodb:PutItem\"",
			`              - {Effect: Allow, Action: ["dynamodb:PartiQLInsert"], Resource: !GetAtt EventsTable.Arn}` +
				"\n              - {Effect: Allow, Action: [\"dynamodb:PutItem\""}}},
	{broken{"without statements of totals",
		[][2]string{{`, "dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"], Resource: !GetAtt AggregatesTable.Arn`,
			`], Resource: !GetAtt AggregatesTable.Arn`}},
		"Statement:\n              |- {Effect: Allow, Action: [\"dynamodb:DescribeStream\"",
		`StreamsRole does not allow dynamodb:PartiQLInsert, dynamodb:PartiQLUpdate on AggregatesTable: events could not be counted; write {Effect: Allow, Action: ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"], Resource: !GetAtt AggregatesTable.Arn} among the statements of StreamsRole`},
		[][2]string{{"              - {Effect: Allow, Action: [\"dynamodb:UpdateItem\"",
			`              - {Effect: Allow, Action: ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"], Resource: !GetAtt AggregatesTable.Arn}` + "\n              - {Effect: Allow, Action: [\"dynamodb:UpdateItem\""}}},
	{broken{"with PartiQL of another table",
		[][2]string{{`"dynamodb:PartiQLInsert", "dynamodb:BatchGetItem"], Resource: !GetAtt EventsTable.Arn`,
			`"dynamodb:BatchGetItem"], Resource: !GetAtt EventsTable.Arn}
              - {Effect: Allow, Action: "dynamodb:PartiQL*", Resource: !GetAtt AggregatesTable.Arn`}},
		"cannot ask for\n              |- {Effect",
		"IngestRole does not allow dynamodb:PartiQLInsert on EventsTable: events could not be stored; write {Effect: Allow, "}, nil},
	{broken{"without quarantine",
		[][2]string{{"              - " + ingestSends +
			"\n              - {Effect: Allow, Action: [\"logs:CreateLogStream\", \"logs:PutLogEvents\"], Resource: !GetAtt IngestLogs.Arn}\n", ""}}, "cannot ask for\n              |- {Effect",
		`IngestRole does not allow sqs:SendMessage on QuarantineQueue: messages that can never succeed could not be quarantined, and would be tried until they reach the dead-letter queue; write {Effect: Allow, Action: ["sqs:SendMessage"], Resource: !GetAtt QuarantineQueue.Arn} among the statements of IngestRole`},
		[][2]string{{"              - " + ingestTable,
			`              - {Effect: Allow, Action: ["sqs:SendMessage"], Resource: !GetAtt QuarantineQueue.Arn}` + "\n              - " +
				ingestTable}}},
	{broken{"without the secret's check value", [][2]string{{secretCheck, ""}}, "cannot ask for\n              |- {Effect",
		`IngestRole does not allow dynamodb:GetItem, dynamodb:PutItem on AggregatesTable: the function could not tell whether INGOT_PII_KEY is the right one, and would not start; write {Effect: Allow, Action: ["dynamodb:GetItem", "dynamodb:PutItem"], Resource: !GetAtt AggregatesTable.Arn} among the statements of IngestRole`},
		[][2]string{{"              - {Effect: Allow, Action: [\"dynamodb:PutItem\"",
			`              - {Effect: Allow, Action: ["dynamodb:GetItem", "dynamodb:PutItem"], Resource: !GetAtt AggregatesTable.Arn}` +
				"\n              - {Effect: Allow, Action: [\"dynamodb:PutItem\""}}},
	{broken{"nowhere to compare the secret",
		[][2]string{{ingestCode, ingestCode + "      Environment: {Variables: {INGOT_AGGREGATES_TABLE: \"\"}}\n"}}, "  |IngestFunction:\n",
		"IngestFunction has no variable INGOT_AGGREGATES_TABLE: it would not start; write INGOT_AGGREGATES_TABLE: !Ref the table"},
		[][2]string{{"INGOT_AGGREGATES_TABLE: \"\"", "INGOT_AGGREGATES_TABLE: !Ref AggregatesTable"}}},
	{broken{"denied only",
		[][2]string{{ingestBoth, strings.Replace(ingestBoth, ingestSends, strings.Replace(ingestSends, "Allow", "Deny", 1), 1)}},
		"cannot ask for\n              |- {Effect", "IngestRole does not allow sqs:SendMessage on QuarantineQueue: "}, nil},
	{broken{"by a wildcard", [][2]string{{ingestTable, `{Effect: Allow, Action: "dynamodb:*", Resource: "*"}`}}, "", ""}, nil},
	{broken{"by a policy of its own", [][2]string{{ingestBoth, "              - " + ingestLogs + "\n"},
		{"  IngestFunction:\n",
			"  More: {Type: AWS::IAM::Policy, Properties: {PolicyName: more, Roles: [!Ref IngestRole], PolicyDocument: {Statement: [" +
				ingestSends + "]}}}\n  IngestFunction:\n"}}, "", ""}, nil},
	{broken{"of SAM's policies",
		[][2]string{{ingestRole,
			"      Policies: [{DynamoDBCrudPolicy: {TableName: !Ref EventsTable}}, {DynamoDBCrudPolicy: {TableName: !Ref AggregatesTable}}, {SQSSendMessagePolicy: {QueueName: !GetAtt QuarantineQueue.QueueName}}]\n"}}, "      Policies: |[{DynamoDBCrudPolicy",
		`IngestFunction does not allow dynamodb:PartiQLInsert on EventsTable: events could not be stored; write {Version: "2012-10-17", Statement: [{Effect: Allow, Action: ["dynamodb:PartiQLInsert"], Resource: !GetAtt EventsTable.Arn}]} into Policies of IngestFunction`},
		[][2]string{{"      Policies: [",
			`      Policies: [{Version: "2012-10-17", Statement: [{Effect: Allow, Action: ["dynamodb:PartiQLInsert"], Resource: !GetAtt EventsTable.Arn}]}, `}}},
	{broken{"of a role from elsewhere", [][2]string{{"Role: !GetAtt IngestRole.Arn", "Role: !ImportValue role"}}, "Role: |!ImportValue",
		"warning: cannot tell whether IngestFunction allows IngestFunction what it does: Fn::ImportValue is only worked out " +
			"while deploying"}, nil},
	{broken{"with a policy from elsewhere", [][2]string{{ingestBoth, "              - " + ingestLogs + "\n"},
		{"  IngestRole:\n    Type: AWS::IAM::Role\n    Properties:\n",
			"  IngestRole:\n    Type: AWS::IAM::Role\n    Properties:\n      ManagedPolicyArns: [!ImportValue policy]\n"}},
		"ManagedPolicyArns: [|!ImportValue", "warning: cannot tell whether IngestRole allows IngestFunction what it does: " +
			"Fn::ImportValue is only worked out while deploying"}, nil},

	{broken{"quarantine is the dead-letter queue",
		[][2]string{{"INGOT_QUARANTINE_URL: !Ref QuarantineQueue", "INGOT_QUARANTINE_URL: !Ref DeadLetterQueue"}},
		"INGOT_QUARANTINE_URL: |!Ref DeadLetterQueue",
		"DeadLetterQueue is the dead-letter queue of IngestQueue: a redrive would bring back messages that can never succeed, together " +
			"with those that may; write a queue of its own"},
		[][2]string{{"INGOT_QUARANTINE_URL: !Ref DeadLetterQueue", "INGOT_QUARANTINE_URL: !Ref QuarantineQueue"}}},

	{broken{"fewer than may be called", [][2]string{{ingestCode, ingestCode + "      ReservedConcurrentExecutions: 5\n"}},
		"ReservedConcurrentExecutions: |5",
		"5 of IngestFunction are reserved, and its mapping calls up to 10: further calls are throttled, and their messages reach the " +
			"dead-letter queue without a single try; write ReservedConcurrentExecutions: 10"},
		[][2]string{{"ReservedConcurrentExecutions: 5", "ReservedConcurrentExecutions: 10"}}},
	{broken{"no bound on what may be called", [][2]string{{ingestCode, ingestCode + "      ReservedConcurrentExecutions: 5\n"},
		{"            ScalingConfig: !If [ProvisionedPollers, !Ref AWS::NoValue, {MaximumConcurrency: !Ref MaximumConcurrency}]", ""}},
		"ReservedConcurrentExecutions: |5",
		"warning: 5 of IngestFunction are reserved, and its mapping has no MaximumConcurrency: further calls are throttled, and their " +
			"messages reach the dead-letter queue without a single try; write ScalingConfig: {MaximumConcurrency: 5} into the mapping, " +
			"and at least as many here"},
		[][2]string{{"            BatchSize: 1000\n            MaximumBatchingWindowInSeconds: 1 # required",
			"            BatchSize: 1000\n            ScalingConfig: {MaximumConcurrency: 5}\n            MaximumBatchingWindowInSeconds: 1 # required"}}},

	{broken{"another runtime", [][2]string{{ingestCode, ingestCode + "      Runtime: python3.13\n"}}, "Runtime: |python3.13",
		"IngestFunction has runtime python3.13, which cannot run it: it is a compiled Go program; write Runtime: provided.al2023"},
		[][2]string{{"Runtime: python3.13", "Runtime: provided.al2023"}}},
	{broken{"an image", [][2]string{{ingestCode, ingestCode + "      PackageType: Image\n      Runtime: !Ref AWS::NoValue\n"}}, "", ""},
		nil},

	{broken{"no capacity", [][2]string{{eventsOnDemand, "      BillingMode: PROVISIONED\n"}}, "BillingMode: |PROVISIONED",
		"EventsTable has BillingMode PROVISIONED and no ProvisionedThroughput: CloudFormation refuses the table; write BillingMode: " +
			"PAY_PER_REQUEST"},
		[][2]string{{"      BillingMode: PROVISIONED\n", eventsOnDemand}}},
	{broken{"no mode", [][2]string{{eventsOnDemand, ""}}, "  |EventsTable:\n",
		"EventsTable has no BillingMode, which means PROVISIONED, and no ProvisionedThroughput: CloudFormation refuses the table; write " +
			"BillingMode: PAY_PER_REQUEST"},
		[][2]string{{"      DeletionProtectionEnabled: !Ref DeletionProtection\n",
			"      DeletionProtectionEnabled: !Ref DeletionProtection\n" + eventsOnDemand}}},
	{broken{"a capacity of 0",
		[][2]string{{eventsOnDemand,
			"      BillingMode: PROVISIONED\n      ProvisionedThroughput: {ReadCapacityUnits: 0, WriteCapacityUnits: 5}\n"},
			{"        - IndexName: GSI1\n",
				"        - IndexName: GSI1\n          ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}\n"},
			{"        - IndexName: GSI2\n",
				"        - IndexName: GSI2\n          ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}\n"},
			{"        - IndexName: GSI3\n",
				"        - IndexName: GSI3\n          ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}\n"}},
		"ReadCapacityUnits: |0, W",
		"EventsTable has ReadCapacityUnits 0: CloudFormation refuses the table; write ReadCapacityUnits: 1, or more"},
		[][2]string{{"ReadCapacityUnits: 0", "ReadCapacityUnits: 1"}}},
	{broken{"an index without capacity",
		[][2]string{{eventsOnDemand,
			"      BillingMode: PROVISIONED\n      ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}\n"},
			{"        - IndexName: GSI1\n",
				"        - IndexName: GSI1\n          ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}\n"},
			{"        - IndexName: GSI3\n",
				"        - IndexName: GSI3\n          ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}\n"}},
		"IndexName: |GSI2",
		"EventsTable has BillingMode PROVISIONED and index GSI2 no ProvisionedThroughput: CloudFormation refuses the table; write " +
			"ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5} beside it"},
		[][2]string{{"        - IndexName: GSI2\n",
			"        - IndexName: GSI2\n          ProvisionedThroughput: {ReadCapacityUnits: 5, WriteCapacityUnits: 5}\n"}}},

	{broken{"a key for the queue", [][2]string{{queueRetention + ofQueues, "      KmsMasterKeyId: !Ref Key\n"}, aKey},
		"cannot ask for\n              |- {Effect",
		`IngestRole does not allow kms:Decrypt on Key: Lambda could not read the queue, since IngestQueue is encrypted with a key of its own; write {Effect: Allow, Action: ["kms:Decrypt"], Resource: !GetAtt Key.Arn} among the statements of IngestRole`},
		[][2]string{{"              - " + ingestTable,
			`              - {Effect: Allow, Action: ["kms:Decrypt"], Resource: !GetAtt Key.Arn}` + "\n              - " + ingestTable}}},
	{broken{"a key for the archive", [][2]string{{"{SSEAlgorithm: AES256}", "{SSEAlgorithm: aws:kms, KMSMasterKeyID: !GetAtt Key.Arn}"},
		aKey}, "Statement:\n              |- {Effect: Allow, Action: [\"dynamodb:DescribeStream\"",
		`StreamsRole does not allow kms:GenerateDataKey on Key: expired events could not be archived, and their shard would wait, since ArchiveBucket is encrypted with a key of its own; write {Effect: Allow, Action: ["kms:GenerateDataKey"], Resource: !GetAtt Key.Arn} among the statements of StreamsRole`},
		[][2]string{{"              - {Effect: Allow, Action: \"s3:PutObject\"",
			`              - {Effect: Allow, Action: ["kms:GenerateDataKey"], Resource: !GetAtt Key.Arn}` +
				"\n              - {Effect: Allow, Action: \"s3:PutObject\""}}},
	{broken{"a key by its alias", [][2]string{{"{SSEAlgorithm: AES256}", "{SSEAlgorithm: aws:kms, KMSMasterKeyID: !Ref Alias}"},
		{aKey[0], "  Alias: {Type: AWS::KMS::Alias, Properties: {AliasName: alias/x, TargetKeyId: !Ref Key}}\n" + aKey[1]}},
		"Statement:\n              |- {Effect: Allow, Action: [\"dynamodb:DescribeStream\"",
		"StreamsRole does not allow kms:GenerateDataKey on Key: "}, nil},
	{broken{"a key that says so itself", [][2]string{{queueRetention + ofQueues, "      KmsMasterKeyId: !Ref Key\n"},
		{aKey[0],
			strings.Replace(aKey[1], "Statement: []",
				"Statement: [{Effect: Allow, Principal: {AWS: !GetAtt IngestRole.Arn}, Action: \"kms:*\", Resource: \"*\"}]", 1)}},
		"", ""}, nil},
	{broken{"a key by its name", [][2]string{{queueRetention + ofQueues, "      KmsMasterKeyId: alias/mine\n"}},
		"KmsMasterKeyId: |alias/mine",
		"warning: cannot tell whether IngestRole allows kms:Decrypt on the key alias/mine: a statement names a key by its ARN, which " +
			"only a deployment knows"}, nil},
	{broken{"a key of AWS", [][2]string{{queueRetention + ofQueues, "      KmsMasterKeyId: alias/aws/sqs\n"}}, "", ""}, nil},
}

// aKey puts a key into the template.
var aKey = [2]string{"  PiiKey: # never",
	"  Key: {Type: AWS::KMS::Key, Properties: {KeyPolicy: {Version: \"2012-10-17\", Statement: []}}}\n  PiiKey: # never"}

// Each rule about the functions is broken by itself. Then the advice is followed.
func TestAdviceIsAccepted(t *testing.T) {
	for _, c := range functionRules {
		t.Run(c.name, func(t *testing.T) {
			in, got, want := c.alone(t)
			if !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Fatalf("got  %s\nwant %s", got, want)
			}
			if c.followed == nil {
				return
			}
			in.Template.Text = []byte(replace(t, string(in.Template.Text), c.followed))
			if r := run(t, in); len(r.Findings) > 0 {
				t.Errorf("the advice was followed: %v", r.Findings)
			}
		})
	}
}

// aKeyOfOnesOwn is the parameter with which the template encrypts everything with one key.
var aKeyOfOnesOwn = map[string]string{"KmsKeyArn": "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"}

// With a key of the user's own the template is as clean as without it. A role that may not use the
// key is reported for each thing that it could not read or write, and the advice is accepted.
func TestKeyOfOnesOwn(t *testing.T) {
	if r := run(t, own{parameters: aKeyOfOnesOwn}.input(t)); len(r.Findings) > 0 {
		t.Errorf("%v", r.Findings)
	}
	const statement = "              - !If [OwnKey, {Effect: Allow, Action: [\"kms:Decrypt\", \"kms:GenerateDataKey\"], Resource: !Ref KmsKeyArn}, !Ref AWS::NoValue]\n"
	const logs = "              - {Effect: Allow, Action: [\"logs:CreateLogStream\", \"logs:PutLogEvents\"], Resource: !GetAtt StreamsLogs.Arn}\n"
	in := own{parameters: aKeyOfOnesOwn, template: [][2]string{{statement, ""}}}.input(t) // the first role is that of the streams function
	var things []string
	followed := string(in.Template.Text)
	for _, f := range run(t, in).Findings {
		_, why, _ := strings.Cut(f.String(), "StreamsRole does not allow kms:")
		_, rest, _ := strings.Cut(why, ", since ")
		thing, _, _ := strings.Cut(rest, " is encrypted with a key of its own")
		things = append(things, thing)
		_, advice, _ := strings.Cut(f.String(), "; write ")
		advice, _, ok := strings.Cut(advice, " among the statements of StreamsRole")
		if !ok || thing == "" {
			t.Errorf("%s", f)
		}
		followed = strings.Replace(followed, logs, logs+"              - "+advice+"\n", 1)
	}
	slices.Sort(things)
	if want := []string{"AggregatesTable", "ArchiveBucket", "EventsTable", "QuarantineQueue"}; !slices.Equal(things, want) {
		t.Errorf("reported for %v, want %v", things, want)
	}
	in.Template.Text = []byte(followed)
	if r := run(t, in); len(r.Findings) > 0 {
		t.Errorf("the advice was followed: %v", r.Findings)
	}
}
