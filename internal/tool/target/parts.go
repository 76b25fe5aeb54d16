package target

import (
	"fmt"
	"strings"
)

// Part is one thing of a stack that a command may need.
type Part int

// These are the parts. The tables are always known.
const (
	Queue Part = iota
	Quarantine
	DeadLetters
	Archive
	IngestFunction
	StreamsFunction
	Payloads // only a stack whose pipeline offloads payloads has it
	IngestLogs
	StreamsLogs
)

// part has the names of a part in the outputs and in the environment, and where a target keeps it.
type part struct {
	what, output, variable string
	field                  func(*Target) *string
}

var parts = map[Part]part{
	Queue: {"the queue's URL", "QueueUrl", "INGOT_QUEUE_URL", func(t *Target) *string { return &t.QueueURL }},
	Quarantine: {"the URL of the quarantine queue", "QuarantineQueueUrl", "INGOT_QUARANTINE_URL", func(t *Target) *string {
		return &t.QuarantineURL
	}},
	DeadLetters: {"the URL of the dead-letter queue", "DeadLetterQueueUrl", "INGOT_DEAD_LETTER_URL", func(t *Target) *string {
		return &t.DeadLetterURL
	}},
	Archive: {"the archive bucket", "ArchiveBucketName", "INGOT_ARCHIVE_BUCKET", func(t *Target) *string {
		return &t.ArchiveBucket
	}},
	IngestFunction: {"the name of the ingest function", "IngestFunctionName", "INGOT_INGEST_FUNCTION", func(t *Target) *string {
		return &t.IngestFunction
	}},
	StreamsFunction: {"the name of the streams function", "StreamsFunctionName", "INGOT_STREAMS_FUNCTION", func(t *Target) *string {
		return &t.StreamsFunction
	}},
	Payloads: {"the payload bucket", "PayloadBucketName", "INGOT_PAYLOAD_BUCKET", func(t *Target) *string { return &t.PayloadBucket }},
	IngestLogs: {"the log group of the ingest function", "IngestLogGroup", "INGOT_INGEST_LOG_GROUP", func(t *Target) *string {
		return &t.IngestLogs
	}},
	StreamsLogs: {"the log group of the streams function", "StreamsLogGroup", "INGOT_STREAMS_LOG_GROUP", func(t *Target) *string {
		return &t.StreamsLogs
	}},
}

// These are the outputs and variables of the tables.
const (
	eventsOutput     = "EventsTableName"
	aggregatesOutput = "AggregatesTableName"
	secretOutput     = "PiiKeySecret"

	eventsVariable     = "INGOT_TABLE"
	aggregatesVariable = "INGOT_AGGREGATES_TABLE"
	secretVariable     = "INGOT_PII_KEY"
	endpointVariable   = "INGOT_ENDPOINT_URL"
)

// Outputs returns the names of the outputs that the tool reads off every stack, the tables' first.
func Outputs() []string {
	names := []string{eventsOutput, aggregatesOutput}
	for p := Queue; p <= StreamsFunction; p++ {
		names = append(names, parts[p].output)
	}
	return append(names, secretOutput)
}

// Needs returns an error that says what to do if one of the parts is not known.
func (t *Target) Needs(needed ...Part) error {
	var missing []string
	for _, p := range needed {
		if *parts[p].field(t) != "" {
			continue
		}
		switch t.Kind {
		case KindStack:
			missing = append(missing, parts[p].output)
		case KindEnvironment:
			return fmt.Errorf("%s is not known: set %s", parts[p].what, parts[p].variable)
		default:
			return fmt.Errorf("ingot dev has no such thing: this command needs %s", parts[p].what)
		}
	}
	if len(missing) > 0 {
		return older(t.Name, missing)
	}
	return nil
}

// older returns the error for a stack that lacks outputs.
func older(name string, missing []string) error {
	noun := "output"
	if len(missing) > 1 {
		noun = "outputs"
	}
	return fmt.Errorf("stack %s lacks the %s %s: its template is of an older version, or not Ingot's; ingot init --diff shows what to "+
		"take over, then deploy it", name, noun, strings.Join(missing, ", "))
}
