// Package capture is the Lambda function that copies rows as they change, while a live table moves:
// [migrate.Capture] on the stream of the old table. [Start] runs it, and [New] makes it for another
// runtime.
//
// The function's whole main is one call. Its pipeline.yaml and its migration.yaml are built into
// the binary:
//
//	//go:embed pipeline.yaml migration.yaml
//	var files embed.FS
//
//	func main() { capture.Start(files) }
//
// Its environment is that of the other functions, as package ingot has it: INGOT_TABLE,
// INGOT_AGGREGATES_TABLE and, if the pipeline needs them, INGOT_PAYLOAD_BUCKET and INGOT_PII_KEY.
// If INGOT_PIPELINE names a file, migration.yaml is read from the same folder. migration.yaml may
// name the old table by a variable.
package capture

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/internal/run/emf"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/migrate"
)

// Options are what the function can be given. The zero value is right for most.
type Options struct {
	// Pipeline and Migration are the names of the files. Empty means pipeline.yaml and
	// migration.yaml.
	Pipeline, Migration string
	// Log, Namespace and AWS are as in package ingot.
	Log       *slog.Logger
	Namespace string
	AWS       *aws.Config
}

// Func is the function, as aws-lambda-go takes it.
type Func = func(context.Context, json.RawMessage) (migrate.CaptureResponse, error)

// Start runs the function in Lambda, and does not return. If a file or a variable of the
// environment is wrong or missing, it writes a line that says which and what to set, and ends the
// process with exit code 1.
func Start(files fs.FS, options ...func(*Options)) {
	ctx := context.Background()
	handle, err := New(ctx, files, options...)
	function.Start(ctx, "the capture function", handle, err)
}

// New makes the function without running it. It describes both tables, which is two requests.
func New(ctx context.Context, files fs.FS, options ...func(*Options)) (Func, error) {
	var o Options
	for _, change := range options {
		change(&o)
	}
	p := function.InLambda(files, o.Pipeline, o.Log, o.Namespace, o.AWS)
	parts, err := p.Parts(ctx, "migrate")
	if err != nil {
		return nil, err
	}
	starting, stop := context.WithTimeout(ctx, function.StartTime)
	defer stop()
	s, err := migrate.Open(starting, p.Beside(), cmp.Or(o.Migration, "migration.yaml"), parts.Config)
	if err != nil {
		return nil, err
	}
	capture := &migrate.Capture{Migration: s, Log: p.Log, OnBatch: func(ctx context.Context, done migrate.Captured) {
		function.Emit(ctx, p.Log, parts.Metrics, measured(&done))
	}}
	return function.Logged(p.Log, capture.Handle), nil
}

// measured returns the metrics of a batch, as docs/migrating.md has them.
func measured(d *migrate.Captured) []emf.Metric {
	return []emf.Metric{
		{Name: "RowsReceived", Unit: emf.Count, Value: float64(d.Received)},
		{Name: "CopiesWritten", Unit: emf.Count, Value: float64(d.Written)},
		{Name: "Tombstones", Unit: emf.Count, Value: float64(d.Tombstones)},
		{Name: "Collisions", Unit: emf.Count, Value: float64(d.Collisions)},
		{Name: "RowsRefused", Unit: emf.Count, Value: float64(d.Refused)},
		{Name: "RowsPutRight", Unit: emf.Count, Value: float64(len(d.PutRight))},
		{Name: "RowsUnproven", Unit: emf.Count, Value: float64(len(d.Left))},
		{Name: "IteratorLagMs", Unit: emf.Milliseconds, Value: float64(d.Lag.Milliseconds())},
		{Name: "BatchMs", Unit: emf.Milliseconds, Value: float64(d.Took.Milliseconds())},
	}
}
