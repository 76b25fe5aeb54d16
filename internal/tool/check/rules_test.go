package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

var checkOnly = pipeline.CheckOnly()

// broken is one change of the sample's template that breaks one rule. The finding must stand at the
// bar of anchor.
type broken struct {
	name   string
	change [][2]string
	anchor string
	want   string // "" : no finding
}

const (
	anyStream = "Stream: !GetAtt EventsTable.StreamArn\n"
	anyQueue  = "Queue: !GetAtt IngestQueue.Arn\n"
	pad       = "            "
)

var streamRules = []broken{
	{"no window", [][2]string{{"TumblingWindowInSeconds: !If [Marks, 900, !Ref AWS::NoValue]", "BisectBatchOnFunctionError: false"}},
		"        |Changes:",
		"the mapping of the stream has no tumbling window: marks need the shard id, which Lambda sends only with a window; write " +
			"TumblingWindowInSeconds: 900"},
	{"window 0", [][2]string{{"!If [Marks, 900, !Ref AWS::NoValue]", "0"}}, "TumblingWindowInSeconds: |0",
		"the mapping of the stream has no tumbling window: marks need the shard id, which Lambda sends only with a window; write " +
			"TumblingWindowInSeconds: 900"},
	{"window too long", [][2]string{{"[Marks, 900,", "[Marks, 901,"}}, "TumblingWindowInSeconds: !If [Marks, |901",
		"a tumbling window of 901 s: Lambda takes 1 to 900; write TumblingWindowInSeconds: 900"},
	{"window of text", [][2]string{{"[Marks, 900,", "[Marks, long,"}}, "[Marks, |long",
		`"long" is not a whole number; write a whole number`},
	{"window unknown", [][2]string{{"!If [Marks, 900, !Ref AWS::NoValue]", "!ImportValue window"}},
		"TumblingWindowInSeconds: |!ImportValue",
		"warning: cannot tell whether the mapping has a tumbling window, which marks need: Fn::ImportValue is only worked out " +
			"while deploying"},
	{"start", [][2]string{{"StartingPosition: TRIM_HORIZON", "StartingPosition: LATEST"}}, "StartingPosition: |LATEST",
		"StartingPosition is LATEST: changes made while the mapping is created or updated can be missed; write StartingPosition: " +
			"TRIM_HORIZON"},
	{"no start", [][2]string{{"StartingPosition: TRIM_HORIZON", "Enabled: true"}}, "        |Changes:",
		"the mapping of the stream has no StartingPosition; write StartingPosition: TRIM_HORIZON"},
	{"retries", [][2]string{{"MaximumRetryAttempts: -1", "MaximumRetryAttempts: 100"}}, "MaximumRetryAttempts: |100",
		"MaximumRetryAttempts is 100: a change would be given up after so many tries, and its total would be wrong from then on; write " +
			"MaximumRetryAttempts: -1"},
	{"retries by default", [][2]string{{"MaximumRetryAttempts: -1", "Enabled: true"}}, "", ""},
	{"age", [][2]string{{"MaximumRecordAgeInSeconds: -1", "MaximumRecordAgeInSeconds: 3600"}}, "MaximumRecordAgeInSeconds: |3600",
		"MaximumRecordAgeInSeconds is 3600: a change would be given up at that age, and its total would be wrong from then on; write " +
			"MaximumRecordAgeInSeconds: -1"},
	{"responses", [][2]string{{"FunctionResponseTypes: [ReportBatchItemFailures]", "FunctionResponseTypes: [ReportItemFailures]"}},
		"FunctionResponseTypes: |[ReportItem",
		"the mapping does not read the function's answer: without it one failure repeats the whole batch, and Lambda does not read which " +
			"change failed; write FunctionResponseTypes: [ReportBatchItemFailures]"},
	{"filter", [][2]string{{anyStream, anyStream + pad + "FilterCriteria: {Filters: []}\n"}}, "|FilterCriteria: {",
		"the mapping has FilterCriteria: changes that a filter does not let through are never counted; take it out"},
	{"parallel", [][2]string{{anyStream, anyStream + pad + "ParallelizationFactor: 2\n"}}, "ParallelizationFactor: |2",
		"ParallelizationFactor is 2: batches of a shard that run at the same time have no order, and marks need their order; write " +
			"ParallelizationFactor: 1"},
	{"parallel 1", [][2]string{{anyStream, anyStream + pad + "ParallelizationFactor: 1\n"}}, "", ""},
	{"off", [][2]string{{anyStream, anyStream + pad + "Enabled: false\n"}}, pad + "Enabled: |false",
		"warning: the mapping is off: changes disappear from the stream after 24 hours, and the totals then need a rebuild; write Enabled: true"},
	{"images", [][2]string{{"StreamViewType: NEW_AND_OLD_IMAGES", "StreamViewType: NEW_IMAGE"}}, "StreamViewType: |NEW_IMAGE",
		"the stream carries NEW_IMAGE: a change counts new minus old, so both are needed; write StreamSpecification: {StreamViewType: " +
			"NEW_AND_OLD_IMAGES}"},
	{"other stream", [][2]string{{anyStream, "Stream: !GetAtt AggregatesTable.StreamArn\n"}}, "Stream: |!GetAtt AggregatesTable",
		"the stream is AggregatesTable's, and the ingest function writes to EventsTable; write !GetAtt EventsTable.StreamArn"},
	{"foreign stream", [][2]string{{anyStream, "Stream: !ImportValue stream\n"}}, "Stream: |!ImportValue",
		"warning: cannot tell whether this is the events table's stream: Fn::ImportValue is only worked out while deploying"},
	{"counting", [][2]string{{"INGOT_COUNTING: !Ref Counting", "INGOT_COUNTING: mark"}}, "INGOT_COUNTING: |mark",
		`INGOT_COUNTING is "mark"; write marks or receipts`},
	{"counting unknown", [][2]string{{"INGOT_COUNTING: !Ref Counting", "INGOT_COUNTING: !ImportValue c"}}, "INGOT_COUNTING: |!ImportValue",
		"warning: cannot tell whether totals are counted by marks or by receipts: Fn::ImportValue is only worked out while deploying"},
	{"order", [][2]string{{"DependsOn: StreamsFunction", "DependsOn: StreamsLogs"}}, "  |IngestFunction:\n",
		"IngestFunction does not wait for StreamsFunction: it could write items of an epoch that the streams function does not know yet, " +
			"and that function would stop; write DependsOn: StreamsFunction"},
	{"no mapping", [][2]string{{"Type: DynamoDB", "Type: Kinesis"}}, "  |StreamsFunction:\n",
		"StreamsFunction has no mapping of the events table's stream: nothing would be counted; write an event of Type DynamoDB"},
}

var queueRules = []broken{
	{"responses", [][2]string{{"FunctionResponseTypes: [ReportBatchItemFailures] # without it", "Enabled: true # without it"}},
		"        |Messages:",
		"the mapping does not read the function's answer: without it every failed message is deleted as done; write " +
			"FunctionResponseTypes: [ReportBatchItemFailures]"},
	{"filter", [][2]string{{anyQueue, anyQueue + pad + "FilterCriteria: {Filters: []}\n"}}, "|FilterCriteria: {",
		"the mapping has FilterCriteria: SQS mappings delete messages that a filter does not let through; take it out"},
	{"no batching window", [][2]string{{"MaximumBatchingWindowInSeconds: 1 # required", "MaximumBatchingWindowInSeconds: 0 # required"}},
		"MaximumBatchingWindowInSeconds: |0 #",
		"a batch of 1000 needs a batching window: Lambda refuses more than 10 without one; write MaximumBatchingWindowInSeconds: 1"},
	{"pollers", [][2]string{{"!If [ProvisionedPollers, {MinimumPollers: !Ref MinimumPollers, MaximumPollers: !Ref MaximumPollers}, " +
		"!Ref AWS::NoValue]", "{MinimumPollers: 2, MaximumPollers: 3}"}}, "ProvisionedPollerConfig: |{",
		"Lambda refuses a mapping with both ProvisionedPollerConfig and MaximumConcurrency; write one of the two"},
	{"visibility", [][2]string{{"VisibilityTimeout: 420", "VisibilityTimeout: 360"}}, "VisibilityTimeout: |360",
		"a message stays hidden for 360 s, and 6 times the function's timeout of 60 s and the batching window of 1 s are 361 s: it would " +
			"come back while it is still being processed; write VisibilityTimeout: 361"},
	{"visibility enough", [][2]string{{"VisibilityTimeout: 420", "VisibilityTimeout: 361"}}, "", ""},
	{"longer timeout", [][2]string{{"CodeUri: cmd/ingest/", "CodeUri: cmd/ingest/\n      Timeout: 90"}}, "VisibilityTimeout: |420",
		"a message stays hidden for 420 s, and 6 times the function's timeout of 90 s and the batching window of 1 s are 541 s: it would " +
			"come back while it is still being processed; write VisibilityTimeout: 541"},
	{"receives", [][2]string{{"maxReceiveCount: 10", "maxReceiveCount: 4"}}, "maxReceiveCount: |4",
		"maxReceiveCount is 4: receives are counted even when Lambda is throttled and no code ran, so healthy messages would be given " +
			"up; write maxReceiveCount: 10"},
	{"receives enough", [][2]string{{"maxReceiveCount: 10", "maxReceiveCount: 5"}}, "", ""},
	{"no redrive", [][2]string{{"RedrivePolicy: {", "RedriveAllowPolicy: {"}}, "  |IngestQueue:",
		"IngestQueue has no RedrivePolicy: a message that fails is delivered again and again until it is deleted unseen; write " +
			"RedrivePolicy: {deadLetterTargetArn: …, maxReceiveCount: 10}"},
	{"dead letters", [][2]string{{deadQueue, "      MessageRetentionPeriod: 345600 # 14 days"}},
		"      MessageRetentionPeriod: |345600 # 14 days",
		"DeadLetterQueue keeps messages for 345600 s and IngestQueue for 345600 s, both from the first send: what is given up late would " +
			"be deleted before anybody sees it; write MessageRetentionPeriod: 1209600"},
	{"dead letters of a queue that keeps messages as long as SQS can",
		[][2]string{{"MessageRetentionPeriod: 345600 # 4 days", "MessageRetentionPeriod: 1209600 # 4 days"}},
		"MessageRetentionPeriod: |1209600 # 4 days",
		"DeadLetterQueue keeps messages for 1209600 s and IngestQueue for 1209600 s, both from the first send: what is given up late " +
			"would be deleted before anybody sees it; write MessageRetentionPeriod: 345600"},
	{"dead letters for a day", [][2]string{{"MessageRetentionPeriod: 345600 # 4 days", "MessageRetentionPeriod: 86400 # 4 days"},
		{deadQueue, "      MessageRetentionPeriod: 172800 # 14 days"}}, "MessageRetentionPeriod: |172800",
		"DeadLetterQueue keeps messages for 172800 s, and SQS deletes them before anybody has seen them; write MessageRetentionPeriod: " +
			"1209600"},
	{"a queue that forgets", [][2]string{{"MessageRetentionPeriod: 345600 # 4 days", "MessageRetentionPeriod: 60 # 4 days"}},
		"MessageRetentionPeriod: |60",
		"IngestQueue keeps messages for 60 s: SQS deletes what is not stored by then, for example while the function fails or is paused; " +
			"write MessageRetentionPeriod: 345600"},
	{"more tries than the queue has time for", [][2]string{{"maxReceiveCount: 10", "maxReceiveCount: 1000"}}, "maxReceiveCount: |1000",
		"1000 tries, 420 s apart, take 420000 s, and IngestQueue keeps messages for 345600 s: SQS would delete a message that fails " +
			"before it reaches the dead-letter queue; write maxReceiveCount: 10"},
	{"longer than SQS keeps messages", [][2]string{{"MessageRetentionPeriod: 345600 # 4 days", "MessageRetentionPeriod: 9999999 # 4 days"}},
		"MessageRetentionPeriod: |9999999",
		"IngestQueue keeps messages for 9999999 s, and SQS takes at most 1209600; write MessageRetentionPeriod: 345600"},
	{"a quarantine that forgets", [][2]string{{keepsQuarantine, strings.Replace(keepsQuarantine, "1209600", "60", 1)}},
		"attribute `ingot`\n    Type: AWS::SQS::Queue\n    DeletionPolicy: RetainExceptOnCreate\n    UpdateReplacePolicy: Retain\n    Properties:\n      MessageRetentionPeriod: |60",
		"QuarantineQueue keeps messages for 60 s, and SQS deletes them before anybody has seen them; write MessageRetentionPeriod: " +
			"1209600"},
	{"a quarantine of the service's own time",
		[][2]string{{keepsQuarantine, strings.Replace(keepsQuarantine, "      MessageRetentionPeriod: 1209600\n", "", 1)}}, "", ""},
	{"no mapping", [][2]string{{"Type: SQS\n", "Type: SNS\n"}}, "  |IngestFunction:\n",
		"IngestFunction has no mapping of a queue: nothing would be stored; write an event of Type SQS"},
	{"other queue", [][2]string{{anyQueue, "Queue: !ImportValue queue\n"}}, "Queue: |!ImportValue",
		"warning: cannot tell whether the queue's visibility timeout and dead-letter queue are as they must be: it is not a queue of " +
			"this template"},
}

// keepsQuarantine is the beginning of the quarantine queue, up to the time that it keeps messages.
const keepsQuarantine = "attribute `ingot`\n    Type: AWS::SQS::Queue\n    DeletionPolicy: RetainExceptOnCreate\n    UpdateReplacePolicy: Retain\n    Properties:\n      MessageRetentionPeriod: 1209600\n"

const (
	firstTable  = "    Type: AWS::DynamoDB::Table\n"
	globalTable = "    Type: AWS::DynamoDB::GlobalTable\n"
	firstProp   = "      BillingMode: PAY_PER_REQUEST\n      DeletionProtectionEnabled"
)

var tableRules = []broken{
	{"replicas",
		[][2]string{{firstTable, globalTable}, {firstProp, "      Replicas: [{Region: eu-west-1}, {Region: eu-central-1}]\n" + firstProp}},
		"Replicas: |[",
		`warning: EventsTable is in 2 Regions: run both functions in one of them only, since a condition is judged in each Region alone; https://github.com/ingot-events/ingot/blob/main/docs/deploy.md#tables-in-several-regions says what holds then`},
	{"one replica", [][2]string{{firstTable, globalTable}, {firstProp, "      Replicas: [{Region: eu-west-1}]\n" + firstProp}}, "", ""},
	{"replicas unknown", [][2]string{{firstTable, globalTable}, {firstProp, "      Replicas: !ImportValue r\n" + firstProp}},
		"Replicas: |!ImportValue",
		"warning: cannot tell whether EventsTable is in one Region only: Fn::ImportValue is only worked out while deploying"},
	{"key", [][2]string{{"KeySchema: [{AttributeName: PK, KeyType: HASH}", "KeySchema: [{AttributeName: pk, KeyType: HASH}"}},
		"KeySchema: |[{AttributeName: pk,",
		"the key of EventsTable is pk and SK, not PK and SK; write KeySchema: [{AttributeName: PK, KeyType: HASH}, {AttributeName: SK, " +
			"KeyType: RANGE}]"},
	{"key of bytes", [][2]string{{"AttributeName: SK, AttributeType: S", "AttributeName: SK, AttributeType: B"}},
		"AttributeName: SK, AttributeType: |B", "attribute SK is of type B: all keys are text; write AttributeType: S"},
	{"ttl", [][2]string{{"{AttributeName: expiresAt, Enabled: true}", "{AttributeName: ttl, Enabled: true}"}}, "{AttributeName: |ttl",
		"EventsTable expires by another attribute than expiresAt; write TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: " +
			"true}"},
	{"ttl off", [][2]string{{"{AttributeName: expiresAt, Enabled: true}", "{AttributeName: expiresAt, Enabled: false}"}},
		"expiresAt, Enabled: |false",
		"time to live of EventsTable is off: nothing in it would ever expire; write TimeToLiveSpecification: {AttributeName: expiresAt, " +
			"Enabled: true}"},
	{"no ttl of totals",
		[][2]string{{"AttributeDefinitions: [{AttributeName: PK, AttributeType: S}, {AttributeName: SK",
			"AttributeDefinitions: [{AttributeName: PK, AttributeType: S}, {AttributeName: SK"},
			{"      TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}\n      AttributeDefinitions: [",
				"      AttributeDefinitions: ["}}, "  |AggregatesTable:",
		"AggregatesTable has no time to live: nothing in it would ever expire; write TimeToLiveSpecification: {AttributeName: expiresAt, " +
			"Enabled: true}"},
	{"stream of totals",
		[][2]string{{"AttributeDefinitions: [{", "StreamSpecification: {StreamViewType: NEW_IMAGE}\n      AttributeDefinitions: [{"}},
		"StreamSpecification: |{StreamViewType: NEW_IMAGE",
		"AggregatesTable has a stream: totals must never feed themselves, and nothing reads it; take StreamSpecification out"},
	{"one table", [][2]string{{"INGOT_AGGREGATES_TABLE: !Ref AggregatesTable", "INGOT_AGGREGATES_TABLE: !Ref EventsTable"}},
		"INGOT_AGGREGATES_TABLE: |!Ref EventsTable",
		"events and totals share table EventsTable: totals would feed their own stream; write a table of their own"},
	{"index key", [][2]string{{"{AttributeName: GSI2SK, KeyType: RANGE}", "{AttributeName: SK, KeyType: RANGE}"}},
		"KeySchema: |[{AttributeName: GSI2PK, KeyType",
		"the key of index GSI2 is GSI2PK and SK, and items have GSI2PK and GSI2SK; write KeySchema: [{AttributeName: GSI2PK, KeyType: " +
			"HASH}, {AttributeName: GSI2SK, KeyType: RANGE}]"},
	{"projection",
		[][2]string{{"{AttributeName: GSI2SK, KeyType: RANGE}]\n          Projection: {ProjectionType: ALL}",
			"{AttributeName: GSI2SK, KeyType: RANGE}]\n          Projection: {ProjectionType: KEYS_ONLY}"}},
		"Projection: {ProjectionType: |KEYS_ONLY",
		"index GSI2 holds only a part of each item, and a pattern reads whole ones from it; write Projection: {ProjectionType: " +
			"ALL}"},
	{"index key of numbers", [][2]string{{"AttributeName: GSI1SK, AttributeType: S", "AttributeName: GSI1SK, AttributeType: N"}},
		"GSI1SK, AttributeType: |N", "attribute GSI1SK is of type N: all keys are text; write AttributeType: S"},
	{"unknown indexes", [][2]string{{"GlobalSecondaryIndexes: # as", "GlobalSecondaryIndexes: !FindInMap [a, b, c]\n      Tags: # as"}},
		"GlobalSecondaryIndexes: |!FindInMap",
		"warning: cannot tell whether EventsTable has the indexes of pipeline.yaml: Fn::FindInMap finds no Mappings"},
	{"definition missing", [][2]string{{"        - {AttributeName: GSI2SK, AttributeType: S}\n", ""}},
		"      AttributeDefinitions:\n        |- {AttributeName: PK",
		"AttributeDefinitions of EventsTable lack GSI2SK, the key of index GSI2: CloudFormation refuses the table; write {AttributeName: " +
			"GSI2SK, AttributeType: S} into AttributeDefinitions"},
	{"definitions of totals", [][2]string{{"[{AttributeName: PK, AttributeType: S}, {AttributeName: SK, AttributeType: S}, {", "[{"}},
		"AttributeDefinitions: |[{AttributeName: \"i:rank",
		"AttributeDefinitions of AggregatesTable lack PK and SK, the key of AggregatesTable: CloudFormation refuses the table; write " +
			"{AttributeName: PK, AttributeType: S}, {AttributeName: SK, AttributeType: S} into AttributeDefinitions"},
	{"definition of nothing",
		[][2]string{{"        - {AttributeName: GSI3SK, AttributeType: S}\n",
			"        - {AttributeName: GSI3SK, AttributeType: S}\n        - {AttributeName: GSI4PK, AttributeType: S}\n"}},
		"AttributeName: |GSI4PK",
		"no key of EventsTable or of its indexes uses attribute GSI4PK: CloudFormation refuses the table; take it out of " +
			"AttributeDefinitions"},
	{"definitions unknown", [][2]string{{"AttributeDefinitions: [{", "AttributeDefinitions: !ImportValue a # [{"}},
		"AttributeDefinitions: |!ImportValue",
		"warning: cannot tell whether the attribute definitions of AggregatesTable are those of its keys: Fn::ImportValue is only worked " +
			"out while deploying"},
	{"index without an alarm",
		[][2]string{{"{Name: GlobalSecondaryIndexName, Value: GSI2}", "{Name: GlobalSecondaryIndexName, Value: GSI1}"}},
		"IndexName: |GSI2\n",
		"warning: index GSI2 has no alarm: when it refuses writes, so does the table, and the table's own alarm does not see it; write " +
			"an alarm like the one for index GSI1, with GlobalSecondaryIndexName GSI2"},
	{"alarm of no index",
		[][2]string{{"Resources:\n",
			"Resources:\n  X: {Type: AWS::CloudWatch::Alarm, Properties: {Namespace: AWS/DynamoDB, MetricName: WriteThrottleEvents, Dimensions: [{Name: TableName, Value: !Ref EventsTable}, {Name: GlobalSecondaryIndexName, Value: GSI4}]}}\n"}}, "Value: |GSI4}",
		"warning: there is no index GSI4: this alarm never goes off; take it out"},
	{"alarm of another table's index",
		[][2]string{{"Resources:\n",
			"Resources:\n  X: {Type: AWS::CloudWatch::Alarm, Properties: {Namespace: AWS/DynamoDB, MetricName: WriteThrottleEvents, Dimensions: [{Name: TableName, Value: other}, {Name: GlobalSecondaryIndexName, Value: GSI4}]}}\n"}}, "", ""},
	{"alarm of what only a deployment knows",
		[][2]string{{"{Name: GlobalSecondaryIndexName, Value: GSI2}", "{Name: GlobalSecondaryIndexName, Value: !ImportValue index}"}}, "",
		""},
}

// One finding names all indexes that the table lacks, where each is used, and the command that adds
// them. Package scaffold tests that the command does.
func TestMissingIndexes(t *testing.T) {
	indexes := [][2]string{{"      GSI3:", "      GSI4:"}, {"      GSI3: {pk", "      GSI4: {pk"}, {"index: GSI3}", "index: GSI4}"},
		{"index: GSI3,", "index: GSI4,"}}
	in := own{pipeline: append(indexes, [2]string{"      GSI2:", "      GSI5:"}, [2]string{"index: GSI2,", "index: GSI5,"})}.input(t)
	var found []string
	for _, f := range run(t, in).Findings {
		if f.Rule == "index" {
			found = append(found, f.What)
		}
	}
	place := func(anchor string) string { return place(t, string(in.Pipeline.Text), anchor) }
	want := "EventsTable has no indexes GSI4 (pipeline.yaml:" + place("|GSI4:") + ") and GSI5 (pipeline.yaml:" + place("|GSI5:") +
		"); run ingot init --indexes, which adds each with its attributes and its alarm"
	if len(found) != 1 || found[0] != want {
		t.Errorf("%q, want %q", found, want)
	}
}

// An index that is not created with these parameters does not exist. If that cannot be determined,
// the index is not judged.
func TestAnIndexUnderACondition(t *testing.T) {
	const index = "        - IndexName: GSI3\n          KeySchema: [{AttributeName: GSI3PK, KeyType: HASH}, {AttributeName: GSI3SK, KeyType: RANGE}]\n          Projection: {ProjectionType: ALL}\n"
	for instead, want := range map[string]string{
		"        - !Ref AWS::NoValue\n":        "index",
		"        - !ImportValue index\n":       "index", // a warning
		"        - Fn::Transform: {Name: x}\n": "index",
	} {
		r := run(t, own{template: [][2]string{{index, instead}}}.input(t))
		if got := rulesOf(r); got != want || r.Clean() == strings.Contains(instead, "NoValue") {
			t.Errorf("%s: %v", instead, r.Findings)
		}
	}
}

// If an index is removed from both files, definitions and an alarm remain.
func TestAnIndexTakenOut(t *testing.T) {
	text := read(t, "template.yaml")
	from := strings.Index(text, "        - IndexName: GSI3")
	gone := text[from : from+strings.Index(text[from:], "  AggregatesTable:")]
	in := own{template: [][2]string{{gone, ""}},
		pipeline: [][2]string{{"      GSI3:", "      GSI1:"}, {"      GSI3: {pk", "      GSI1: {pk"},
			{"index: GSI3}", "index: GSI1}"}, {"index: GSI3,", "index: GSI1,"}}}.input(t)
	if got := rulesOf(run(t, in)); got != "attribute attribute index-alarm" {
		t.Error(got)
	}
}

// rulesOf returns the rules of a report's findings, in byte order.
func rulesOf(r *Report) string {
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Rule)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

const (
	archiveVariables = `{INGOT_ARCHIVE_BUCKET: !If [Archives, !Ref ArchiveBucket, ""], INGOT_ARCHIVE: !If [Archives, !Ref Archive, ""]}`

	counted = "        INGOT_COUNTING: !Ref Counting\n"
	inLayer = "        INGOT_PIPELINE: /opt/pipeline.yaml\n"
	layer   = "  Rules: {Type: AWS::Serverless::LayerVersion, Properties: {ContentUri: rules/}}\n"
)

var environmentRules = []broken{
	{"quarantine", [][2]string{{"INGOT_QUARANTINE_URL: !Ref QuarantineQueue", "INGOT_QUARANTINE_URL: !GetAtt QuarantineQueue.Arn"}},
		"INGOT_QUARANTINE_URL: |!GetAtt",
		"INGOT_QUARANTINE_URL is the Arn of QuarantineQueue, not its URL; write !Ref QuarantineQueue"},
	{"quarantine in a circle", [][2]string{{"INGOT_QUARANTINE_URL: !Ref QuarantineQueue", "INGOT_QUARANTINE_URL: !Ref IngestQueue"}},
		"INGOT_QUARANTINE_URL: |!Ref IngestQueue",
		"IngestQueue is the queue that events come from: quarantined messages would come back for ever; write a queue of its own"},
	{"key in the open",
		[][2]string{{`!Sub ["{{resolve:secretsmanager:${Arn}}}", {Arn: !If [OwnPiiKey, !Ref PiiKey, !Ref PiiKeySecretArn]}]`, "hunter2"}},
		"INGOT_PII_KEY: |hunter2",
		"warning: the secret is in the template, so everybody who reads the template can find out what keyed hashes stand for; write " +
			"'{{resolve:secretsmanager:NAME}}'"},
	{"archive", [][2]string{{archiveVariables, "{OTHER: x}"}}, "  |StreamsFunction:\n",
		"warning: StreamsFunction has no archive bucket: items that expire are gone for good; write INGOT_ARCHIVE_BUCKET: !Ref a " +
			"bucket"},
	{"payloads that may not be read",
		[][2]string{{"INGOT_POINTER_BUCKETS: !Ref PointerBucket", "INGOT_POINTER_BUCKETS: !Ref ArchiveBucket"}},
		"              |- {Effect: Allow, Action: [\"sqs:ReceiveMessage\"",
		"IngestRole does not allow s3:GetObject on ArchiveBucket: payloads in S3 could not be read, and their messages would end in the " +
			"dead-letter queue; " +
			`write {Effect: Allow, Action: ["s3:GetObject"], Resource: !Sub "${ArchiveBucket.Arn}/*"} among the statements of IngestRole`},
	{"misspelled",
		[][2]string{{archiveVariables,
			"{INGOT_ARCHIVE_BUCKET: !If [Archives, !Ref ArchiveBucket, \"\"], INGOT_ARCHIV: x}"}}, "|INGOT_ARCHIV: x",
		"warning: nothing reads variable INGOT_ARCHIV; write one of INGOT_AGGREGATES_TABLE, INGOT_ARCHIVE, INGOT_ARCHIVE_BUCKET, INGOT_COUNTING, " +
			"INGOT_ENDPOINT_URL, INGOT_PAYLOAD_BUCKET, INGOT_PII_KEY, INGOT_PIPELINE, INGOT_POINTER_BUCKETS, INGOT_QUARANTINE_URL, " +
			"INGOT_TABLE"},
	{"different keys",
		[][2]string{{archiveVariables,
			"{INGOT_ARCHIVE_BUCKET: !If [Archives, !Ref ArchiveBucket, \"\"], INGOT_PII_KEY: '{{resolve:a}}'}"},
			{`!Sub ["{{resolve:secretsmanager:${Arn}}}", {Arn: !If [OwnPiiKey, !Ref PiiKey, !Ref PiiKeySecretArn]}]`, "'{{resolve:b}}'"}},
		"INGOT_PII_KEY: |'{{resolve:a}}'",
		"the two functions have different secrets, so totals by personal data would not match the events; write the same " +
			"INGOT_PII_KEY"},
	{"pipeline of one function",
		[][2]string{{ingestCode, ingestCode + "      Environment: {Variables: {INGOT_PIPELINE: pipeline.yaml}}\n"}},
		"INGOT_PIPELINE: |pipeline.yaml",
		"IngestFunction has INGOT_PIPELINE and StreamsFunction does not: they would use two different pipelines; write INGOT_PIPELINE " +
			"for both"},
	{"pipeline of the other function", [][2]string{{"{INGOT_ARCHIVE_BUCKET:", "{INGOT_PIPELINE: pipeline.yaml, INGOT_ARCHIVE_BUCKET:"}},
		"INGOT_PIPELINE: |pipeline.yaml",
		"StreamsFunction has INGOT_PIPELINE and IngestFunction does not: they would use two different pipelines; write INGOT_PIPELINE " +
			"for both"},
	{"two pipelines", [][2]string{{"{INGOT_ARCHIVE_BUCKET:", "{INGOT_PIPELINE: old.yaml, INGOT_ARCHIVE_BUCKET:"},
		{counted, counted + "        INGOT_PIPELINE: pipeline.yaml\n"}}, "INGOT_PIPELINE: |old.yaml",
		"IngestFunction uses pipeline.yaml and StreamsFunction uses old.yaml; write the same INGOT_PIPELINE"},
	{"pipeline beside both, which SAM builds", [][2]string{{counted, counted + "        INGOT_PIPELINE: pipeline.yaml\n"}},
		"BuildMethod: |go1.x",
		"pipeline.yaml is a file beside the program, and sam build puts only the program there: StreamsFunction would not start; write " +
			"no BuildMethod, and as CodeUri a folder with the built program and pipeline.yaml, or the file in a layer"},
	{"pipeline beside both", [][2]string{{counted, counted + "        INGOT_PIPELINE: /var/task/pipeline.yaml\n"},
		{"    Metadata: {BuildMethod: go1.x}\n", ""}, {"    Metadata: {BuildMethod: go1.x}\n", ""}}, "", ""},
	{"pipeline on another disk", [][2]string{{counted, counted + "        INGOT_PIPELINE: /mnt/rules/pipeline.yaml\n"}}, "", ""},
	{"no layer", [][2]string{{counted, counted + inLayer}}, "  |IngestFunction:\n",
		"/opt/pipeline.yaml is a file of a layer, and IngestFunction has no layer: it would not start; write Layers: [!Ref the " +
			"layer]"},
	{"another pipeline in the layer",
		[][2]string{{counted, counted + inLayer}, {"    Timeout: 60\n", "    Timeout: 60\n    Layers: [!Ref Rules]\n"},
			{"\nResources:\n", "\nResources:\n" + layer}}, "INGOT_PIPELINE: |/opt/",
		"warning: both functions use rules/pipeline.yaml, and this check read pipeline.yaml; run ingot check --pipeline " +
			"rules/pipeline.yaml"},
	{"the pipeline in the layer",
		[][2]string{{counted, counted + inLayer}, {"    Timeout: 60\n", "    Timeout: 60\n    Layers: [!Ref Rules]\n"},
			{"\nResources:\n", "\nResources:\n" + strings.Replace(layer, "rules/", "./", 1)}}, "", ""},
	{"a layer from elsewhere",
		[][2]string{{counted, counted + inLayer}, {"    Timeout: 60\n", "    Timeout: 60\n    Layers: [!ImportValue rules]\n"}}, "", ""},
	{"found by what it does", [][2]string{{"CodeUri: cmd/ingest/", "CodeUri: ./build/in"},
		{"CodeUri: cmd/streams/", "CodeUri: ./build/out"}}, "", ""},
}

// alone checks a template in which this rule alone is broken. It returns what the check has found,
// and what it should find.
func (c broken) alone(t *testing.T) (in Input, got, want string) {
	t.Helper()
	in = own{template: c.change}.input(t)
	switch list := run(t, in).Findings; len(list) {
	case 0:
	case 1:
		got = list[0].String()
	default:
		got = fmt.Sprint(list) // which is never wanted
	}
	if c.want != "" {
		want = "template.yaml:" + place(t, string(in.Template.Text), c.anchor) + ": " + c.want
	}
	return in, got, want
}

func TestEachRuleAlone(t *testing.T) {
	for group, rules := range map[string][]broken{"stream": streamRules, "queue": queueRules, "table": tableRules,
		"environment": environmentRules} {
		for _, c := range rules {
			t.Run(group+"/"+c.name, func(t *testing.T) {
				if _, got, want := c.alone(t); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			})
		}
	}
}

// An aggregate with rank needs the index that keeps totals in order.
func TestRankIndex(t *testing.T) {
	ranked := [][2]string{{"  merchant_daily:\n", "  merchant_daily:\n    rank: {value: orders}\n"}}
	whole := read(t, "template.yaml")
	index := whole[strings.Index(whole, "      GlobalSecondaryIndexes: # totals"):strings.Index(whole, "  ArchiveBucket:")]
	const attributes = `, {AttributeName: "i:rank", AttributeType: S}, {AttributeName: "i:score", AttributeType: N}]`
	for name, c := range map[string]broken{
		"as it is": {},
		"missing": {change: [][2]string{{index, ""}, {attributes, "]"}}, anchor: "  |AggregatesTable:",
			want: `AggregatesTable has no index rank, which keeps the totals of merchant_daily in order; write {IndexName: rank, KeySchema: [{AttributeName: "i:rank", KeyType: HASH}, {AttributeName: "i:score", KeyType: RANGE}], Projection: {ProjectionType: KEYS_ONLY}} into GlobalSecondaryIndexes, and {AttributeName: "i:rank", AttributeType: S} and {AttributeName: "i:score", AttributeType: N} into AttributeDefinitions`},
		"another key": {change: [][2]string{{`{AttributeName: "i:score", KeyType: RANGE}`, `{AttributeName: SK, KeyType: RANGE}`},
			{`, {AttributeName: "i:score", AttributeType: N}]`, "]"}},
			anchor: `KeySchema: |[{AttributeName: "i:rank", KeyType: HASH}, {AttributeName: SK`,
			want:   `the key of index rank is i:rank and SK, and totals have i:rank and i:score; write KeySchema: [{AttributeName: "i:rank", KeyType: HASH}, {AttributeName: "i:score", KeyType: RANGE}]`},
		"text": {change: [][2]string{{`"i:score", AttributeType: N`, `"i:score", AttributeType: S`}},
			anchor: `"i:score", AttributeType: |S`,
			want:   `attribute i:score is of type S, and totals are ordered by a number; write AttributeType: N`},
		"unknown": {change: [][2]string{{"GlobalSecondaryIndexes: # totals",
			"GlobalSecondaryIndexes: !ImportValue a\n      Tags: # totals"}}, anchor: "GlobalSecondaryIndexes: |!ImportValue a",
			want: `warning: cannot tell whether AggregatesTable has the index rank: Fn::ImportValue is only worked out while deploying`},
	} {
		in := own{template: c.change, pipeline: ranked}.input(t)
		r := run(t, in)
		var found []string
		for _, f := range r.Findings {
			found = append(found, f.String())
		}
		want := "template.yaml:" + place(t, string(in.Template.Text), c.anchor) + ": " + c.want
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || found[0] != want) {
			t.Errorf("%s: got  %v\nwant %s", name, strings.Join(found, "\n"), want)
		}
	}
	receipts := own{pipeline: ranked, parameters: map[string]string{"Counting": "receipts"}}.input(t)
	var twice strings.Builder
	if err := run(t, receipts).WriteText(&twice, Input{}); err != nil ||
		!strings.Contains(twice.String(), "ranked by orders: 4 units of it are the index's") {
		t.Errorf("by receipts: %v\n%s", err, twice.String())
	}
	r := run(t, own{pipeline: ranked}.input(t))
	i := slices.IndexFunc(r.Totals, func(t Total) bool { return t.Name == "merchant_daily" })
	var text strings.Builder
	if err := r.WriteText(&text, Input{}); err != nil || r.Totals[i].FreshUnits != 3 ||
		!strings.Contains(text.String(),
			"ranked by orders: 2 units of it are the index's, which takes about 500 moves a second in each window") {
		t.Errorf("%v %+v\n%s", err, r.Totals[i], text.String())
	}
}

// These break more than one rule, or both functions.
func TestSeveralFindings(t *testing.T) {
	for _, c := range []struct {
		name   string
		change [][2]string
		rules  map[string]int
	}{
		{"index under another name", [][2]string{{"IndexName: GSI3", "IndexName: GSI4"}}, map[string]int{"index": 1, "index-unused": 1}},
		{"no key for hmac", [][2]string{{"INGOT_PII_KEY: ", "PII_KEY: "}}, map[string]int{"secret": 2}},
		{"no quarantine", [][2]string{{"INGOT_QUARANTINE_URL: ", "QUARANTINE_URL: "}}, map[string]int{"quarantine": 2}},
		{"no tables", [][2]string{{"INGOT_TABLE: ", "TABLE: "}, {"INGOT_AGGREGATES_TABLE: ", "AGGREGATES_TABLE: "}},
			map[string]int{"variable": 4}},
		{"no function", [][2]string{{"CodeUri: cmd/streams/", "CodeUri: cmd/other/"}, {"INGOT_AGGREGATES_TABLE: ", "AGGREGATES_TABLE: "}},
			map[string]int{"streams-function": 1, "variable": 1}},
		{"two functions", [][2]string{{"CodeUri: cmd/streams/", "CodeUri: x/cmd/ingest"}}, map[string]int{"ingest-function": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[string]int{}
			r := run(t, own{template: c.change}.input(t))
			for _, f := range r.Findings {
				got[f.Rule]++
			}
			for rule, n := range c.rules {
				if got[rule] != n {
					t.Errorf("rule %s: %d findings, want %d", rule, got[rule], n)
				}
			}
			if len(got) != len(c.rules) {
				t.Errorf("findings: %v", r.Findings)
			}
		})
	}
}

const (
	queueRetention = "      MessageRetentionPeriod: 345600 # 4 days\n"
	fifoQueue      = queueRetention + "      FifoQueue: true\n"
	deadQueue      = "      MessageRetentionPeriod: 1209600 # 14 days"
	fifoDead       = "      FifoQueue: true\n" + deadQueue
	batching       = "            BatchSize: 1000\n            MaximumBatchingWindowInSeconds: 1 # required above a batch of 10\n"
)

// asFIFO is what docs/deploy.md says to change for a FIFO queue.
var asFIFO = [][2]string{{queueRetention, fifoQueue}, {deadQueue, fifoDead}, {batching, "            BatchSize: 10\n"}}

// A FIFO queue needs changes in three places. If one of them is forgotten, or made alone, there is
// a finding.
func TestFIFO(t *testing.T) {
	if r := run(t, own{template: asFIFO}.input(t)); len(r.Findings) != 0 {
		t.Errorf("%v", r.Findings)
	}
	for _, c := range []struct {
		name   string
		change [][2]string
		want   []string
	}{
		{"FifoQueue alone", asFIFO[:1], []string{
			"DeadLetterQueue|IngestQueue is a FIFO queue and its dead-letter queue DeadLetterQueue is not: SQS refuses that; write " +
				"FifoQueue: true",
			"1000|a batch of 1000: Lambda takes at most 10 from a FIFO queue; write BatchSize: 10",
			"1 #|a batching window of 1 s: Lambda has none for FIFO queues; take MaximumBatchingWindowInSeconds out"}},
		{"the batch is forgotten", [][2]string{asFIFO[0], asFIFO[1], {batching, "            BatchSize: 11\n"}}, []string{
			"11|a batch of 11: Lambda takes at most 10 from a FIFO queue; write BatchSize: 10"}},
		{"no size and no window", [][2]string{asFIFO[0], asFIFO[1], {batching, ""}}, nil},
		{"the dead-letter queue alone", asFIFO[1:2], []string{
			"DeadLetterQueue|DeadLetterQueue is a FIFO queue, and IngestQueue, whose dead-letter queue it is, is not: SQS refuses that; " +
				"take FifoQueue out"}},
		{"a name without .fifo", [][2]string{{queueRetention, fifoQueue + "      QueueName: orders\n"}, asFIFO[1], asFIFO[2]}, []string{
			"orders|IngestQueue is a FIFO queue, and its name does not end in .fifo: SQS refuses that; write QueueName: " +
				"orders.fifo"}},
		{"a name with .fifo", [][2]string{{queueRetention, fifoQueue + "      QueueName: orders.fifo\n"}, asFIFO[1], asFIFO[2]}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := own{template: c.change}.input(t)
			var got []string
			for _, f := range run(t, in).Findings {
				line := strings.Split(string(in.Template.Text), "\n")[f.Line-1][f.Column-1:]
				got = append(got, line+"|"+strings.SplitN(f.String(), ": ", 2)[1])
			}
			if len(got) != len(c.want) {
				t.Fatalf("%d findings, want %d: %v", len(got), len(c.want), got)
			}
			for i, want := range c.want {
				at, says, _ := strings.Cut(want, "|")
				if line, what, _ := strings.Cut(got[i], "|"); !strings.HasPrefix(line, at) || what != says {
					t.Errorf("got  %s\nwant %s", got[i], want)
				}
			}
		})
	}
}

// Receipts need neither order nor shard id.
func TestReceiptsNeedNoWindow(t *testing.T) {
	o := own{parameters: map[string]string{"Counting": "receipts"},
		template: [][2]string{{anyStream, anyStream + pad + "ParallelizationFactor: 10\n"}}}
	if r := run(t, o.input(t)); len(r.Findings) != 0 {
		t.Errorf("%v", r.Findings)
	}
}

// Under receipts one change and its totals must fit into a transaction. Under marks each total is
// written by itself.
func TestTooManyTotalsForReceipts(t *testing.T) {
	var more strings.Builder
	for i := range 60 {
		fmt.Fprintf(&more,
			"  more%d: {since: 1, by: {depot: '{depot}'}, from: {order.shipped: {values: {parcels: count}}}, onExpire: subtract}\n", i)
	}
	many := [][2]string{{"\naggregates:\n", "\naggregates:\n" + more.String()}}
	if r := run(t, own{pipeline: many}.input(t)); len(r.Findings) != 0 {
		t.Errorf("marks: %v", r.Findings)
	}
	in := own{pipeline: many, parameters: map[string]string{"Counting": "receipts"}}.input(t)
	r := run(t, in)
	want := "template.yaml:" + place(t, string(in.Template.Text), "INGOT_COUNTING: |!Ref") +
		": one change of event type order.shipped can touch "
	if len(r.Findings) != 1 || r.Clean() || !strings.HasPrefix(r.Findings[0].String(), want) {
		t.Errorf("got  %v\nwant %s", r.Findings, want)
	}
}

// The same rules hold for mappings that are resources of their own, in long and short forms.
func TestMappingsOfTheirOwn(t *testing.T) {
	const text = `
Resources:
  Q: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: 60, RedrivePolicy: {deadLetterTargetArn: {"Fn::GetAtt": [D, Arn]}, maxReceiveCount: 5}}}
  D: {Type: AWS::SQS::Queue, Properties: {MessageRetentionPeriod: 1209600}}
  X: {Type: AWS::SQS::Queue}
  T: {Type: AWS::DynamoDB::Table, Properties: {BillingMode: PAY_PER_REQUEST, AttributeDefinitions: [{AttributeName: PK, AttributeType: S}, {AttributeName: SK, AttributeType: S}], KeySchema: [{AttributeName: PK, KeyType: HASH}, {AttributeName: SK, KeyType: RANGE}],
      StreamSpecification: {StreamViewType: NEW_AND_OLD_IMAGES}, TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}}}
  A: {Type: AWS::DynamoDB::Table, Properties: {BillingMode: PAY_PER_REQUEST, AttributeDefinitions: [{AttributeName: PK, AttributeType: S}, {AttributeName: SK, AttributeType: S}], KeySchema: [{AttributeName: PK, KeyType: HASH}, {AttributeName: SK, KeyType: RANGE}],
      TimeToLiveSpecification: {AttributeName: expiresAt, Enabled: true}}}
  Role: {Type: AWS::IAM::Role, Properties: {Policies: [{PolicyName: all, PolicyDocument: {Statement: {Effect: Allow, Action: ["dynamodb:*", "sqs:*"], Resource: "*"}}}]}}
  In: {Type: AWS::Lambda::Function, DependsOn: Out, Properties: {Role: {"Fn::GetAtt": [Role, Arn]}, Runtime: provided.al2023, Environment: {Variables: {INGOT_TABLE: {Ref: T}, INGOT_QUARANTINE_URL: {Ref: X}}}}}
  Out: {Type: AWS::Lambda::Function, Properties: {Role: {"Fn::GetAtt": [Role, Arn]}, Runtime: provided.al2023, Environment: {Variables: {INGOT_TABLE: {Ref: T}, INGOT_AGGREGATES_TABLE: {Ref: A}, INGOT_QUARANTINE_URL: {Ref: X}}}}}
  InMap: {Type: AWS::Lambda::EventSourceMapping, Properties: {FunctionName: {Ref: In}, EventSourceArn: {"Fn::GetAtt": [Q, Arn]}, FunctionResponseTypes: [ReportBatchItemFailures]}}
  OutMap:
    Type: AWS::Lambda::EventSourceMapping
    Properties: {FunctionName: !GetAtt Out.Arn, EventSourceArn: !GetAtt T.StreamArn, StartingPosition: TRIM_HORIZON, TumblingWindowInSeconds: 60, FunctionResponseTypes: [ReportBatchItemFailures]}
Outputs: {EventsTableName: {Value: !Ref T}, AggregatesTableName: {Value: !Ref A}, QueueUrl: {Value: !Ref Q}, QuarantineQueueUrl: {Value: !Ref X}, DeadLetterQueueUrl: {Value: !Ref D},
  IngestFunctionName: {Value: !Ref In}, StreamsFunctionName: {Value: !Ref Out}}
`
	const events = "ingot: 1\nepoch: 1\ntype: \"{type}\"\nevents:\n  click: {id: \"{id}\", at: \"{at}\", key: {pk: \"{id}\", sk: \"-\"}}\n"
	in := Input{Pipeline: textfile.File{Name: "p.yaml", Text: []byte(events)},
		Template: &textfile.File{Name: "t.yaml", Text: []byte(text)}, Partitions: 1}
	if r := run(t, in); len(r.Findings) != 0 || r.Counting != "marks" {
		t.Errorf("%+v", r)
	}
	in.Template = &textfile.File{Name: "t.yaml", Text: []byte(replace(t, text, [][2]string{
		{"TumblingWindowInSeconds: 60", "TumblingWindowInSeconds: 0"}}))}
	if r := run(t, in); len(r.Findings) != 1 || r.Findings[0].Rule != "stream-window" {
		t.Errorf("%v", r.Findings)
	}
	// The tool finds the stack by the outputs.
	for output, want := range map[string]string{"{EventsTableName: {Value: !Ref T}, ": "no output EventsTableName: ",
		"IngestFunctionName: {Value: !Ref In}, ": "no output IngestFunctionName: "} {
		open := strings.Repeat("{", strings.Count(output, "{")-strings.Count(output, "}"))
		in.Template = &textfile.File{Name: "t.yaml", Text: []byte(replace(t, text, [][2]string{{output, open}}))}
		if r := run(t, in); len(r.Findings) != 1 || r.Findings[0].Rule != "outputs" || r.Findings[0].Severity != rules.Warning ||
			!strings.HasPrefix(r.Findings[0].What, want) {
			t.Errorf("%s: %v", output, r.Findings)
		}
	}
}

// Whichever function starts first writes into the heads how totals are counted, and the other one
// refuses to start if it counts otherwise. The ingest function starts where puts move totals.
func TestCountingOfBothFunctions(t *testing.T) {
	template := [][2]string{{counted, ""}, {"{INGOT_ARCHIVE_BUCKET:", "{INGOT_COUNTING: receipts, INGOT_ARCHIVE_BUCKET:"}}
	const want = "StreamsFunction counts by receipts and IngestFunction by marks, and both start with totals that are movedBy: put: " +
		"the second one would refuse to start; write INGOT_COUNTING: receipts for both"
	for moved, pipeline := range map[bool][][2]string{false: nil,
		true: {{"aggregates:\n",
			"aggregates:\n  placed_now:\n    since: 1\n    movedBy: put\n    from: {order.placed: {values: {orders: count}}}\n"}}} {
		found := false
		for _, f := range run(t, own{template: template, pipeline: pipeline}.input(t)).Findings {
			found = found || strings.Contains(f.String(), want)
		}
		if found != moved {
			t.Errorf("movedBy put: %v, and found: %v", moved, run(t, own{template: template, pipeline: pipeline}.input(t)).Findings)
		}
	}
}

// Contributor Insights is for keys that nobody hides. Pollers and reserved functions must fit.
func TestOperatorParameters(t *testing.T) {
	unhashed := slices.Repeat([][2]string{{" | hmac", ""}}, strings.Count(read(t, "pipeline.yaml"), " | hmac"))
	shown := map[string]string{"ThrottledKeys": "shown"}
	const ownKey = "arn:aws:kms:eu-central-1:111122223333:key/k"
	for name, c := range map[string]struct {
		own
		want []string
	}{
		"shown": {own: own{parameters: shown, pipeline: unhashed}},
		"hashed": {own: own{parameters: shown}, want: []string{
			"keys of EventsTable into CloudWatch in plain text, and pipeline.yaml hides values in keys (hmac)",
			"keys of AggregatesTable into CloudWatch in plain text, and pipeline.yaml hides values in keys (hmac)"}},
		"encrypted": {own: own{parameters: map[string]string{"ThrottledKeys": "shown", "KmsKeyArn": ownKey}, pipeline: unhashed},
			want: []string{"and the table is encrypted with a key of your own", "and the table is encrypted with a key of your own"}},
		"encrypted by AWS": {own: own{parameters: shown, pipeline: unhashed, template: slices.Repeat([][2]string{{
			"SSESpecification: !If [OwnKey, {SSEEnabled: true, SSEType: KMS, KMSMasterKeyId: !Ref KmsKeyArn}, {SSEEnabled: true}]",
			"SSESpecification: {SSEEnabled: true, SSEType: KMS, KMSMasterKeyId: alias/aws/dynamodb}"}}, 2)}},
		"pollers": {own: own{parameters: map[string]string{"MinimumPollers": "2", "MaximumPollers": "3"}}},
		"pollers, and enough functions": {own: own{parameters: map[string]string{"MinimumPollers": "2", "MaximumPollers": "3"},
			template: [][2]string{{ingestCode, ingestCode + "      ReservedConcurrentExecutions: 30\n"}}}},
		"pollers, and too few": {own: own{parameters: map[string]string{"MinimumPollers": "2", "MaximumPollers": "3"},
			template: [][2]string{{ingestCode, ingestCode + "      ReservedConcurrentExecutions: 29\n"}}},
			want: []string{"its mapping calls up to 30"}},
	} {
		t.Run(name, func(t *testing.T) {
			list := run(t, c.input(t)).Findings
			for i, f := range list {
				if i >= len(c.want) || !strings.Contains(f.String(), c.want[i]) {
					t.Errorf("found %s", f)
				}
			}
			if len(list) != len(c.want) {
				t.Errorf("%d findings, want %d", len(list), len(c.want))
			}
		})
	}
}
