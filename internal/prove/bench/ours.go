package main

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/run/function"
)

//go:embed orders.yaml flights.yaml many.yaml
var files embed.FS

// metrics adds up what a function writes in the embedded metric format.
type metrics map[string]float64

func (m metrics) Write(line []byte) (int, error) {
	var members map[string]any
	if err := json.Unmarshal(line, &members); err != nil {
		return 0, fmt.Errorf("a line of metrics that is not JSON: %w", err)
	}
	for name, v := range members {
		if n, ok := v.(float64); ok {
			m[name] += n
		}
	}
	return len(line), nil
}

// process returns the surroundings of a function, with every service at url. cmd/ingest and
// cmd/streams have the same. The size of the memory is that of template.yaml.
func process(url, plan string, out io.Writer) function.Process {
	surround(url)
	env := map[string]string{"INGOT_TABLE": eventsTable, "INGOT_AGGREGATES_TABLE": totalsTable, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "576"}
	return function.Process{Getenv: func(name string) string { return env[name] }, Files: files, Pipeline: plan,
		Out: out, Log: slog.New(slog.DiscardHandler)}
}

// surround sets what the AWS SDK reads from the environment, so that the SDK finds url and none of
// the developer's own settings.
func surround(url string) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": url, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		os.Setenv(name, value) // it fails only for invalid names and values, which these are not
	}
}

// ingest passes the batches to the ingest function, one after another. It must store all of them.
func ingest(ctx context.Context, url string, batches []events.SQSEvent) (run, error) {
	sum := metrics{}
	handle, err := process(url, "orders.yaml", sum).Ingest(ctx, nil)
	if err != nil {
		return run{}, err
	}
	r, err := measure(func() error {
		for _, batch := range batches {
			response, err := handle(ctx, batch)
			if err != nil {
				return err
			}
			if n := len(response.BatchItemFailures); n > 0 {
				return fmt.Errorf("ingest returned %d messages", n)
			}
		}
		return nil
	})
	r.events, r.requests, r.units = int(sum["Inserted"]), sum["Requests"], sum["WriteUnits"]
	if bad := sum["EventsReceived"] - sum["Inserted"] - sum["Duplicate"]; err == nil && bad != 0 {
		err = fmt.Errorf("%v messages are neither stored nor duplicates", bad)
	}
	return r, err
}

// count passes stream batches to the streams function, one after another. It must count all of
// them.
func count(ctx context.Context, url, plan string, batches []json.RawMessage, changes int) (run, error) {
	sum := metrics{}
	handle, err := process(url, plan, sum).Streams(ctx, nil)
	if err != nil {
		return run{}, err
	}
	r, err := measure(func() error {
		for _, batch := range batches {
			response, err := handle(ctx, batch)
			if err != nil {
				return err
			}
			if n := len(response.BatchItemFailures); n > 0 {
				return fmt.Errorf("streams goes on from record %s", response.BatchItemFailures[0].ItemIdentifier)
			}
		}
		return nil
	})
	r.events, r.requests, r.units = changes, sum["Requests"], sum["WriteUnits"]
	return r, err
}
