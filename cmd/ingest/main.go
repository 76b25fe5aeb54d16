// Command ingest is the Lambda function that stores the events of an SQS queue.
//
// It is configured by its environment alone; see internal/function. It does not start with a variable
// missing or wrong, and then says which, and what to set.
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
	handle, err := p.Ingest(context.Background())
	if err != nil {
		p.Log.Error("the ingest function cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(handle)
}
