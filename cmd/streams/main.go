// Command streams is the Lambda function that keeps the totals from the events table's stream, and archives
// the items that time to live removes.
//
// It is configured by its environment alone; see internal/function. It does not start with a variable
// missing or wrong, nor on an aggregates table whose totals mean something else than its pipeline.yaml.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/internal/function"
)

func main() {
	p := function.Process{Getenv: os.Getenv, Files: ingot.Files(), Pipeline: ingot.PipelineName, Out: os.Stdout, Log: lambdacontext.NewLogger()}
	handle, err := p.Streams(context.Background())
	if err != nil {
		p.Log.Error("the streams function cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(handle)
}
