package target

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Kind says how a stack was found.
type Kind string

const (
	KindStack       Kind = "stack"       // by its CloudFormation outputs
	KindLocal       Kind = "local"       // an ingot dev on this machine
	KindEnvironment Kind = "environment" // by the INGOT_* variables
)

// Target is a stack and the way to reach it. A field is empty if the part is not known:
// [Target.Needs] says what to do about that.
type Target struct {
	Kind Kind
	// Name is the name of the stack. For KindLocal it is the path of the pipeline.yaml that runs.
	// For Environment it is the name of the events table.
	Name string
	// Account is empty if the credentials may not ask for it.
	Account string
	Region  string
	// Endpoint is empty on AWS.
	Endpoint string
	// Console is the URL of the console that an `ingot dev` serves, with its token. Only KindLocal
	// has one.
	Console string

	EventsTable, AggregatesTable           string
	QueueURL, QuarantineURL, DeadLetterURL string
	ArchiveBucket                          string
	// PayloadBucket is empty if the pipeline does not offload payloads.
	PayloadBucket string
	// Lambda has no functions under KindLocal.
	IngestFunction, StreamsFunction string
	// IngestLogs and StreamsLogs are the log groups of the functions. KindLocal has none.
	IngestLogs, StreamsLogs string
	// SecretARN is where the secret for hmac is kept. Only a stack has one.
	SecretARN string

	// Protected says that the stack or its tables are protected from deletion.
	Protected bool
	// Named says that the user named this stack in the command line or the environment. Otherwise
	// it is the default of samconfig.toml.
	Named bool
	// Note says how the stack was found, if the user may not expect it. Otherwise it is empty.
	Note string

	AWS aws.Config
	env func(string) (string, bool)
}

// These say how often a command tries a request to DynamoDB, and how long it waits at most between
// two tries. By the SDK's own defaults, old and new, a pass of hours would end after less than a
// minute in which a table refuses everything: TestMinutesOfThrottles measures them.
const (
	tries       = 5
	longestWait = 20 * time.Second
)

// DynamoDB returns a new client of the tables, which is patient with throttles.
func (t *Target) DynamoDB() *dynamodb.Client {
	return dynamodb.NewFromConfig(t.AWS, func(o *dynamodb.Options) {
		o.Retryer = retry.NewStandard(func(s *retry.StandardOptions) {
			s.MaxAttempts, s.Backoff, s.RateLimiter = tries, retry.NewExponentialJitterBackoff(longestWait), ratelimit.None
		})
	})
}

// SQS returns a new client of the queues.
func (t *Target) SQS() *sqs.Client { return sqs.NewFromConfig(t.AWS) }

// S3 returns a new client of the buckets.
func (t *Target) S3() *s3.Client {
	return s3.NewFromConfig(t.AWS, func(o *s3.Options) {
		// An emulator's host name does not resolve with a bucket in front of it.
		o.UsePathStyle = t.Endpoint != ""
	})
}

// Lambda returns a new client of the functions. Under KindLocal there is nothing that it could
// reach.
func (t *Target) Lambda() *lambda.Client { return lambda.NewFromConfig(t.AWS) }

// CloudWatch returns a new client of alarms and metrics. Under KindLocal there is nothing that it
// could reach.
func (t *Target) CloudWatch() *cloudwatch.Client { return cloudwatch.NewFromConfig(t.AWS) }

// Logs returns a new client of logs. Under KindLocal there is nothing that it could reach.
func (t *Target) Logs() *cloudwatchlogs.Client { return cloudwatchlogs.NewFromConfig(t.AWS) }

// LogGroups lists the log groups of the functions that are known.
func (t *Target) LogGroups() []string {
	return slices.DeleteFunc([]string{t.IngestLogs, t.StreamsLogs}, func(name string) bool { return name == "" })
}

// CloudFormation returns a new client of stacks. Under KindLocal there is nothing that it could
// reach.
func (t *Target) CloudFormation() *cloudformation.Client {
	return cloudformation.NewFromConfig(t.AWS)
}

// String names the stack, its account and its region, as a person would.
func (t *Target) String() string {
	var s strings.Builder
	switch t.Kind {
	case KindLocal:
		fmt.Fprintf(&s, "ingot dev with %s, at %s", t.Name, t.Endpoint)
		return s.String()
	case KindEnvironment:
		fmt.Fprintf(&s, "tables %s and %s", t.EventsTable, t.AggregatesTable)
	default:
		fmt.Fprintf(&s, "stack %s", t.Name)
	}
	account := t.Account
	if account == "" {
		account = "unknown (DescribeTable is not allowed)"
	}
	fmt.Fprintf(&s, ", account %s, %s", account, t.place())
	return s.String()
}

// place names the region, and the endpoint if that is not AWS.
func (t *Target) place() string {
	if t.Endpoint == "" {
		return "region " + t.Region
	}
	return "region " + t.Region + " at " + t.Endpoint
}

// Close ends connections that are no longer used. A client of the target can still be used after
// it.
func (t *Target) Close() {
	if c, ok := t.AWS.HTTPClient.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
	http.DefaultClient.CloseIdleConnections()
}
