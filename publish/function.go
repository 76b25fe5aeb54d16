package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/internal/run/emf"
	"github.com/ingot-events/ingot/internal/run/function"
)

// Options are what the function can be given. The zero value is right for most.
type Options struct {
	// Pipeline and Publish are the names of the files. Empty means pipeline.yaml and publish.yaml.
	Pipeline, Publish string
	// Log, Namespace and AWS are as in package ingot.
	Log       *slog.Logger
	Namespace string
	AWS       *aws.Config
}

// Func is the function, as aws-lambda-go takes it.
type Func = func(context.Context, json.RawMessage) (Response, error)

// Start runs the function in Lambda, and does not return. files holds pipeline.yaml and
// publish.yaml. If INGOT_PIPELINE names a file, publish.yaml is read from the same folder. If a
// file or a variable of the environment is wrong or missing, Start writes a line that says which
// and what to set, and ends the process with exit code 1.
func Start(files fs.FS, options ...func(*Options)) {
	ctx := context.Background()
	handle, err := Function(ctx, files, options...)
	function.Start(ctx, "the publish function", handle, err)
}

// Function makes the function without running it. It sends no request.
func Function(ctx context.Context, files fs.FS, options ...func(*Options)) (Func, error) {
	var o Options
	for _, change := range options {
		change(&o)
	}
	p := function.InLambda(files, o.Pipeline, o.Log, o.Namespace, o.AWS)
	parts, err := p.Parts(ctx, "publish")
	if err != nil {
		return nil, err
	}
	name := cmp.Or(o.Publish, "publish.yaml")
	plan, err := Load(p.Beside(), name, parts.Config.Pipeline)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if plan, err = plan.Resolved(os.Getenv); err != nil {
		return nil, err
	}
	publisher, err := New(plan, parts.Config, Targets(parts.AWS))
	if err != nil {
		return nil, err
	}
	publisher.Quarantine, publisher.Log = parts.Quarantine, p.Log
	if text := os.Getenv(patienceVariable); text != "" {
		if publisher.Patience, err = time.ParseDuration(text); err != nil || publisher.Patience <= 0 ||
			publisher.Patience > longestPatience {
			return nil, fmt.Errorf("%s is %q, which is not a time such as 12h: at most 23h, because a stream remembers 24",
				patienceVariable, text)
		}
	}
	publisher.OnBatch = func(ctx context.Context, done Published) {
		function.Emit(ctx, p.Log, parts.Metrics, measured(&done))
	}
	return function.Logged(p.Log, publisher.Handle), nil
}

const patienceVariable = "INGOT_PUBLISH_PATIENCE"

// Targets returns a function that makes the target of an ARN, with a client for its Region. The
// publisher repeats requests itself, so the clients send each of them once.
func Targets(c aws.Config) func(arn string) Target {
	return func(arn string) Target {
		parts := strings.Split(arn, ":")
		own := c.Copy()
		own.Region, own.RetryMaxAttempts = parts[3], 1
		switch parts[2] {
		case "events":
			return Bus(eventbridge.NewFromConfig(own), arn)
		case "sns":
			return Topic(sns.NewFromConfig(own), arn)
		}
		return Queue(sqs.NewFromConfig(own), arn)
	}
}

// measured returns the metrics of a batch, as docs/publishing.md has them.
func measured(d *Published) []emf.Metric {
	return []emf.Metric{
		{Name: "RecordsReceived", Unit: emf.Count, Value: float64(d.Received)},
		{Name: "MessagesSent", Unit: emf.Count, Value: float64(d.Sent)},
		{Name: "PublishRequests", Unit: emf.Count, Value: float64(d.Requests)},
		{Name: "PayloadsTooLarge", Unit: emf.Count, Value: float64(d.Pointers)},
		{Name: "ErasedUnsent", Unit: emf.Count, Value: float64(d.Dropped)},
		{Name: "MessagesRefused", Unit: emf.Count, Value: float64(d.Refused)},
		{Name: "RecordsGivenUp", Unit: emf.Count, Value: float64(d.Quarantined)},
		{Name: "IteratorLagMs", Unit: emf.Milliseconds, Value: float64(d.Lag.Milliseconds())},
		{Name: "BatchMs", Unit: emf.Milliseconds, Value: float64(d.Took.Milliseconds())},
	}
}
