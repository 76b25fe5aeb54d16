package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// ARNs are those of the parts of a stack.
type ARNs struct {
	place
	stack string // its name

	events, aggregates, queue, quarantine, deadLetters, archive, payloads, streams, ingestLogs, streamsLogs, secret, old string
	bus, topic, next, machine, execution                                                                                 string
}

// ARNsOf returns the ARNs of a stack. A part that is not known gets a placeholder such as ACCOUNT.
// t may be nil.
func ARNsOf(t *target.Target) ARNs {
	if t == nil {
		t = &target.Target{}
	}
	p := place{partition: partitionOf(t.Region), region: cmp.Or(t.Region, "REGION"), account: cmp.Or(t.Account, "ACCOUNT")}
	arn := func(service, kind, name, missing string) string {
		return p.arn(service, kind+cmp.Or(name, missing))
	}
	queue := func(url, missing string) string {
		return arn("sqs", "", url[strings.LastIndexByte(url, '/')+1:], missing)
	}
	payloads := ""
	if t.PayloadBucket != "" {
		payloads = p.bucket(t.PayloadBucket)
	}
	stack := "STACK"
	if t.Kind == target.KindStack {
		stack = t.Name
	}
	return ARNs{place: p, stack: stack,
		events: arn("dynamodb", "table/", t.EventsTable, "EVENTS"), aggregates: arn("dynamodb", "table/", t.AggregatesTable, "AGGREGATES"),
		queue: queue(t.QueueURL, "QUEUE"), quarantine: queue(t.QuarantineURL, "QUARANTINE"),
		deadLetters: queue(t.DeadLetterURL, "DEAD-LETTERS"),
		archive:     p.bucket(cmp.Or(t.ArchiveBucket, "ARCHIVE")), payloads: payloads,
		bus: arn("events", "event-bus/", "", "BUS"), topic: arn("sns", "", "", "TOPIC"), next: arn("sqs", "", "", "NEXT-QUEUE"),
		machine: arn("states", "stateMachine:", "", "MACHINE"), execution: arn("states", "execution:", "", "MACHINE"),
		old:         arn("dynamodb", "table/", "", "OLD-TABLE"),
		streams:     arn("lambda", "function:", t.StreamsFunction, "STREAMS"),
		ingestLogs:  arn("logs", "log-group:", t.IngestLogs, "INGEST-LOGS") + ":*",
		streamsLogs: arn("logs", "log-group:", t.StreamsLogs, "STREAMS-LOGS") + ":*",
		secret:      cmp.Or(t.SecretARN, arn("secretsmanager", "secret:", "", "SECRET"))}
}

// place is the beginning of each ARN.
type place struct{ partition, region, account string }

// partitionOf returns the partition of a Region (IAM User Guide, "Identify AWS resources with
// Amazon Resource Names"). Where the Region is not known, it is that of most accounts.
func partitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// arn returns the ARN of something in the Region, and global that of something of the account.
func (p place) arn(service, name string) string {
	return "arn:" + p.partition + ":" + service + ":" + p.region + ":" + p.account + ":" + name
}

func (p place) global(service, name string) string {
	return "arn:" + p.partition + ":" + service + "::" + p.account + ":" + name
}

func (p place) bucket(name string) string { return "arn:" + p.partition + ":s3:::" + name }

// Commands lists what each command sends to a stack. A test compares it with the calls that the
// commands make. sts:GetCallerIdentity is not in it, because it needs no permission.
var Commands = map[string]func(ARNs) []Statement{
	"archive": func(r ARNs) []Statement {
		return []Statement{r.find(), allow("ListArchive", "s3:ListBucket", r.archive),
			allow("ReadAndWriteFiles", "s3:GetObject s3:PutObject", r.archive+"/*")}
	},
	"check": func(r ARNs) []Statement { return []Statement{r.find(), r.file()} },
	"console": func(r ARNs) []Statement {
		return []Statement{r.find(), r.file(), r.key(),
			allow("ReadEvents", "dynamodb:GetItem", r.events), allow("ReadTotals", "dynamodb:Query dynamodb:Scan", r.aggregates),
			allow("SeeQueues", "sqs:GetQueueAttributes", r.queue, r.quarantine, r.deadLetters),
			allow("SeeMetrics", "cloudwatch:GetMetricData", "*"), r.hot(),
			allow("ReadQuarantine", "sqs:ReceiveMessage sqs:ChangeMessageVisibility", r.quarantine),
			allow("ResendWithWrite", "sqs:SendMessage", r.queue), allow("DeleteWithWrite", "sqs:DeleteMessage", r.quarantine)}
	},
	"erase": func(r ARNs) []Statement {
		list := []Statement{r.find(), r.file(), r.key(),
			allow("Erase", "dynamodb:BatchGetItem dynamodb:GetItem dynamodb:PutItem", r.events),
			allow("ReleaseClaims", "dynamodb:ConditionCheckItem dynamodb:DeleteItem", r.events),
			allow("FindByPattern", "dynamodb:Query", r.events, r.events+"/index/*"),
			allow("Scan", "dynamodb:DescribeTable dynamodb:Scan", r.events),
			allow("SeeQueues", "sqs:GetQueueAttributes", r.queue, r.quarantine, r.deadLetters),
			allow("ReadArchive", "s3:GetObject s3:GetObjectVersion s3:ListBucket s3:ListBucketVersions", r.archive, r.archive+"/*")}
		if r.payloads != "" { // for --payloads
			list = append(r.asks(list...), allow("SeePause", "lambda:GetEventSourceMapping lambda:ListEventSourceMappings lambda:ListTags",
				"*"))
		}
		return r.payloadsToo("s3:DeleteObject s3:ListBucketVersions", list...)
	},
	"get": func(r ARNs) []Statement {
		return r.payloadsToo("", r.find(), r.file(), r.key(), allow("ReadEvents", "dynamodb:GetItem", r.events),
			allow("ReadTotals", "dynamodb:Query", r.aggregates))
	},
	"migrate": func(r ARNs) []Statement {
		return r.payloadsToo("s3:PutObject s3:DeleteObject", r.find(), r.file(), r.wake(), r.key(),
			allow("ReadOldTable", "dynamodb:DescribeTable dynamodb:Scan dynamodb:BatchGetItem", r.old),
			allow("ReadBothStreams", "dynamodb:DescribeStream dynamodb:GetShardIterator dynamodb:GetRecords", r.old+"/stream/*",
				r.events+"/stream/*"),
			allow("WriteCopies", "dynamodb:BatchGetItem dynamodb:DescribeTable dynamodb:PartiQLInsert dynamodb:PutItem dynamodb:Scan", r.events),
			allow("GoBack", "dynamodb:DeleteItem dynamodb:UpdateItem", r.old),
			allow("SweepTombstones", "dynamodb:DeleteItem", r.events),
			allow("Control", "dynamodb:PutItem dynamodb:UpdateItem", r.aggregates),
			allow("SeeMappings", "lambda:ListEventSourceMappings lambda:ListTags", "*"))
	},
	"pause": func(r ARNs) []Statement { return r.asks(r.find(), r.switches("TagResource")) },
	"publish": func(r ARNs) []Statement {
		return r.payloadsToo("", r.find(), r.file(), r.key(), allow("ReadEvents", "dynamodb:Scan", r.events),
			allow("ToABus", "events:PutEvents", r.bus), allow("ToATopic", "sns:Publish", r.topic),
			allow("ToAQueue", "sqs:GetQueueUrl sqs:SendMessage", r.next))
	},
	"quarantine": func(r ARNs) []Statement {
		return r.payloadsToo("", r.find(), r.file(), r.key(),
			allow("ReadAndReplaceEvents", "dynamodb:GetItem dynamodb:DeleteItem", r.events),
			allow("WorkOnMessages", "sqs:ReceiveMessage sqs:ChangeMessageVisibility sqs:DeleteMessage", r.quarantine, r.deadLetters),
			allow("Send", "sqs:SendMessage", r.queue))
	},
	"query": func(r ARNs) []Statement {
		return []Statement{r.find(), r.file(), r.key(), allow("QueryEvents", "dynamodb:BatchGetItem dynamodb:GetItem dynamodb:Query",
			r.events, r.events+"/index/*"),
			allow("QueryTotals", "dynamodb:Query", r.aggregates), r.top()}
	},
	"rebuild": func(r ARNs) []Statement {
		return r.payloadsToo("s3:PutObject", r.asks(r.find(), r.file(), r.wake(), r.key(), r.price(),
			allow("Touch", "dynamodb:PartiQLUpdate dynamodb:Scan dynamodb:UpdateItem", r.events),
			allow("PutParts", "dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:PartiQLInsert dynamodb:PutItem", r.events),
			allow("Declare", "dynamodb:Scan dynamodb:Query dynamodb:UpdateItem", r.aggregates),
			allow("Mend", "dynamodb:BatchGetItem dynamodb:ConditionCheckItem dynamodb:UpdateItem", r.aggregates),
			allow("SeeMappings", "lambda:ListEventSourceMappings lambda:ListTags", "*"))...)
	},
	"region": func(r ARNs) []Statement {
		return []Statement{r.find(), allow("MoveHome", "dynamodb:GetItem dynamodb:UpdateItem", r.events),
			allow("SeeEpoch", "dynamodb:GetItem", r.aggregates),
			allow("SeeMappings", "lambda:ListEventSourceMappings lambda:ListTags", "*")}
	},
	"resume": func(r ARNs) []Statement { return []Statement{r.find(), r.switches("UntagResource")} },
	"send": func(r ARNs) []Statement {
		return []Statement{r.find(), r.file(), r.key(), allow("Send", "sqs:SendMessage", r.queue),
			allow("WaitForStored", "dynamodb:BatchGetItem dynamodb:GetItem", r.events),
			allow("SeeMappings", "lambda:ListEventSourceMappings lambda:ListTags", "*")}
	},
	"status": func(r ARNs) []Statement {
		return []Statement{r.find(), r.file(), allow("SeeQueues", "sqs:GetQueueAttributes", r.queue, r.quarantine, r.deadLetters),
			allow("SeeHome", "dynamodb:GetItem", r.events), allow("SeeFlags", "dynamodb:Scan", r.aggregates),
			allow("SeeQuarantine", "sqs:ReceiveMessage sqs:ChangeMessageVisibility", r.quarantine),
			allow("SeeMappings", "lambda:GetAccountSettings lambda:ListEventSourceMappings lambda:ListTags", "*"),
			allow("SeeMetrics", "cloudwatch:GetMetricStatistics cloudwatch:DescribeAlarms", "*"), r.hot()}
	},
	"totals": func(r ARNs) []Statement {
		return []Statement{r.find(), r.file(), r.key(), allow("ReadTotals", "dynamodb:Query", r.aggregates), r.top(),
			allow("Scan", "dynamodb:DescribeTable dynamodb:Scan", r.aggregates)}
	},
	"try": func(r ARNs) []Statement {
		return []Statement{r.find(), r.file(), r.key(),
			allow("ReadAndRemoveEvents", "dynamodb:BatchGetItem dynamodb:DeleteItem dynamodb:DescribeTable dynamodb:GetItem dynamodb:Scan",
				r.events),
			allow("AskForRefusals", "dynamodb:PartiQLInsert dynamodb:PutItem", r.events),
			allow("ReadTotals", "dynamodb:Scan", r.aggregates),
			allow("ReadStream", "dynamodb:DescribeStream dynamodb:GetShardIterator dynamodb:GetRecords", r.events+"/stream/*"),
			allow("Send", "sqs:SendMessage", r.queue),
			allow("TakeOwnLetters", "sqs:ReceiveMessage sqs:ChangeMessageVisibility sqs:DeleteMessage", r.quarantine),
			allow("SeeStack", "cloudwatch:DescribeAlarms lambda:GetAccountSettings "+
				"lambda:ListEventSourceMappings lambda:ListTags", "*")}
	},
	"verify": func(r ARNs) []Statement {
		work := r.bucket("BUCKET-OF-WORK") // to be listed, or S3 does not say that a file is missing
		return r.asks(r.find(), r.file(), r.key(), r.price(), allow("ReadAll", "dynamodb:Scan", r.events, r.aggregates),
			allow("SeeParts", "dynamodb:BatchGetItem", r.events),
			allow("SeeMappings", "lambda:ListEventSourceMappings lambda:ListTags", "*"),
			allow("Work", "s3:GetObject s3:PutObject s3:DeleteObject s3:ListBucket", work, work+"/*"),
			allow("AtLarge", "states:DescribeExecution states:ListExecutions states:StartExecution", r.machine, r.execution+":*"))
	},
}

// These are the statements that several commands need.
func (r ARNs) find() Statement {
	return allow("FindStack", "cloudformation:DescribeStacks", r.arn("cloudformation", "stack/"+r.stack+"/*"))
}

// file lets a command read the deployed file and the heads of aggregates.
func (r ARNs) file() Statement { return allow("ReadDeployedFile", "dynamodb:GetItem", r.aggregates) }

// wake lets a command wake the function that stores the deployed file. Somebody who may do that may
// also forge totals, so only commands that may change totals in any case have it.
func (r ARNs) wake() Statement { return allow("WakeFunction", "lambda:InvokeFunction", r.streams) }

// key lets a command read the secret of hmac.
func (r ARNs) key() Statement {
	return allow("ReadSecretForHMAC", "secretsmanager:GetSecretValue", r.secret)
}

// payloadsToo adds the rights in the payload bucket: to read, and these actions. It includes the
// right to list, because otherwise S3 does not say that an object is missing. A pipeline without
// offload has no such bucket.
func (r ARNs) payloadsToo(actions string, list ...Statement) []Statement {
	if r.payloads == "" {
		return list
	}
	return append(list, allow("UsePayloads", "s3:GetObject s3:ListBucket "+actions, r.payloads, r.payloads+"/*"))
}

func (r ARNs) price() Statement {
	return allow("SeeSizes", "dynamodb:DescribeTable", r.events, r.aggregates)
}

// top lets a command read the totals of a ranking.
func (r ARNs) top() Statement {
	return allow("ReadTop", "dynamodb:Query dynamodb:BatchGetItem", r.aggregates, r.aggregates+"/index/"+lanes.RankIndex)
}

// hot lets a command read the logs of the functions.
func (r ARNs) hot() Statement {
	return allow("SeeHotPartitions", "logs:FilterLogEvents", r.ingestLogs, r.streamsLogs)
}

// asks adds the rights to ask how far the events table's stream is read, and whether its function
// is throttled. DescribeTable and DescribeStream have no leading keys, so the condition lets them
// pass.
func (r ARNs) asks(list ...Statement) []Statement {
	put := allow("PutFences", "dynamodb:PutItem", r.events)
	notes := allow("ReadNotes", "dynamodb:DescribeStream dynamodb:DescribeTable dynamodb:Query", r.events, r.events+"/stream/*",
		r.aggregates)
	for _, s := range []*Statement{&put, &notes} {
		s.Condition = map[string]map[string]any{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": []string{fences.Prefix + "*"}}}
	}
	return append(slices.Clip(list), put, notes, allow("SeeThrottles", "cloudwatch:GetMetricStatistics", "*"))
}

// switches lets a command switch the mappings of the functions. Lambda lists them for all functions
// or none.
func (r ARNs) switches(tag string) Statement {
	return allow("SwitchFunctions",
		"lambda:ListEventSourceMappings lambda:GetEventSourceMapping lambda:UpdateEventSourceMapping lambda:ListTags lambda:"+tag, "*")
}

// allow makes a statement. The actions are separated by spaces.
func allow(sid, actions string, resources ...string) Statement {
	return Statement{Sid: sid, Effect: "Allow", Action: strings.Fields(actions), Resource: slices.Clip(resources)}
}
