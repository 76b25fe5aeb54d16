// Package large runs a verification on a state machine of Step Functions, which calls a worker
// function for each part: see package worker. [Run] starts an execution, or follows the one that
// runs already, until it ends. There is no scheduler here.
package large

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/worker"
)

// Client is what the package needs of Step Functions. A *sfn.Client is one.
type Client interface {
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
	ListExecutions(context.Context, *sfn.ListExecutionsInput, ...func(*sfn.Options)) (*sfn.ListExecutionsOutput, error)
}

// Job says what to run.
type Job struct {
	Machine string      // ARN of the state machine
	Task    worker.Task // of each part, without step and part
	AtOnce  int         // parts at a time
	Env     env.Env
	// Tell says what happens, and Progress how far it is. It is asked every ten seconds.
	Tell     func(format string, args ...any)
	Progress func(context.Context) error
}

// MostParts is how many segments and buckets fit into the input of an execution, which has 256 KiB.
const MostParts = 900

// input is the input of an execution.
type input struct {
	Segments []part `json:"segments"`
	Merges   []part `json:"merges"`
	AtOnce   int    `json:"atOnce"`
}

type part struct {
	Task worker.Task `json:"task"`
}

// poll is the time between two looks.
const poll = 10 * time.Second

// Run returns when the execution has succeeded. If one runs for the same work already, it follows
// that one. If ctx ends, the execution goes on, and the same call follows it again. An execution
// that was stopped or has failed is an error; the same call starts another one, which goes on where
// the manifests of the parts are.
func Run(ctx context.Context, client Client, j Job) error {
	e := j.Env.Real()
	execution, err := running(ctx, client, j)
	switch {
	case err != nil:
		return err
	case execution != "":
		j.Tell("an execution runs for this work already: %s", execution)
	default:
		if execution, err = start(ctx, client, j); err != nil {
			return err
		}
		j.Tell("started %s; ctrl-C leaves it running, and the same command follows it again", execution)
	}
	for {
		out, err := client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &execution})
		if err != nil {
			return fmt.Errorf("looking at the execution %s: %w", execution, err)
		}
		switch out.Status {
		case types.ExecutionStatusSucceeded:
			return nil
		case types.ExecutionStatusRunning, types.ExecutionStatusPendingRedrive:
		default:
			return fmt.Errorf("the execution %s is %s: %s %s; the same command starts another one, which goes on where the parts are",
				execution, out.Status, aws.ToString(out.Error), aws.ToString(out.Cause))
		}
		if err := j.Progress(ctx); err != nil {
			return err
		}
		if err := e.Sleep(ctx, poll); err != nil {
			return err
		}
	}
}

// running returns the execution that works for the same folder. It is empty if there is none.
func running(ctx context.Context, client Client, j Job) (string, error) {
	for in := (&sfn.ListExecutionsInput{StateMachineArn: &j.Machine, StatusFilter: types.ExecutionStatusRunning}); ; {
		list, err := client.ListExecutions(ctx, in)
		if err != nil {
			return "", fmt.Errorf("looking for executions of %s: %w", j.Machine, err)
		}
		for _, one := range list.Executions {
			out, err := client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: one.ExecutionArn})
			if err != nil {
				return "", fmt.Errorf("looking at the execution %s: %w", aws.ToString(one.ExecutionArn), err)
			}
			var of input
			if json.Unmarshal([]byte(aws.ToString(out.Input)), &of) == nil && len(of.Segments) > 0 &&
				of.Segments[0].Task.Work == j.Task.Work {
				return aws.ToString(one.ExecutionArn), nil
			}
		}
		if in.NextToken = list.NextToken; in.NextToken == nil {
			return "", nil
		}
	}
}

func start(ctx context.Context, client Client, j Job) (string, error) {
	in := input{AtOnce: j.AtOnce}
	for n := range j.Task.Segments {
		t := j.Task
		t.Step, t.Part = worker.Segment, n
		in.Segments = append(in.Segments, part{t})
	}
	for n := range j.Task.Buckets {
		t := j.Task
		t.Step, t.Part = worker.Merge, n
		in.Merges = append(in.Merges, part{t})
	}
	text, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	out, err := client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &j.Machine, Input: aws.String(string(text))})
	if err != nil {
		return "", fmt.Errorf("starting an execution of %s: %w", j.Machine, err)
	}
	return aws.ToString(out.ExecutionArn), nil
}
