package pass

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

// stateMachines is what the package needs of Step Functions. A *sfn.Client is one.
type stateMachines interface {
	StartExecution(context.Context, *sfn.StartExecutionInput, ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error)
	DescribeExecution(context.Context, *sfn.DescribeExecutionInput, ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error)
	ListExecutions(context.Context, *sfn.ListExecutionsInput, ...func(*sfn.Options)) (*sfn.ListExecutionsOutput, error)
}

// largeJob says what a state machine of Step Functions is to do. It calls a worker function for
// each part: see package worker.
type largeJob struct {
	machine string      // ARN of the state machine
	task    worker.Task // of each part, without step and part
	atOnce  int         // parts at a time
	env     env.Env
	// tell says what happens, and progress how far it is.
	tell     func(format string, args ...any)
	progress func(context.Context) error
}

// mostParts is how many parts a job may have. The input of an execution has room for them.
const mostParts = 700

// maxInput is the largest input of an execution. Source:
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
const maxInput = 256 << 10

// allParts returns how many parts a task has in all its steps.
func allParts(t worker.Task) (n int) {
	for _, step := range worker.StepsOf(t.Job) {
		n += worker.PartsOf(t, step)
	}
	return n
}

// firstPoll is the time between the first two looks. Each is twice as long as the one before, up to
// poll.
const (
	firstPoll = time.Second
	poll      = 10 * time.Second
)

// runLarge returns when the execution has succeeded. If one runs for the same work already, it
// follows that one. If ctx ends, the execution goes on, and the same call follows it again. An
// execution that was stopped or has failed is an error; the same call starts another one, which
// goes on where the manifests of the parts are.
func runLarge(ctx context.Context, client stateMachines, j largeJob) error {
	e := j.env.Real()
	execution, err := running(ctx, client, j)
	switch {
	case err != nil:
		return err
	case execution != "":
		j.tell("an execution runs for this work already: %s", execution)
	default:
		if execution, err = start(ctx, client, j); err != nil {
			return err
		}
		j.tell("started %s; ctrl-C leaves it running, and the same command follows it again", execution)
	}
	for wait := firstPoll; ; wait = min(2*wait, poll) {
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
		if err := j.progress(ctx); err != nil {
			return err
		}
		if err := e.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// running returns the execution that works for the same folder. It is empty if there is none.
func running(ctx context.Context, client stateMachines, j largeJob) (string, error) {
	for in := (&sfn.ListExecutionsInput{StateMachineArn: &j.machine, StatusFilter: types.ExecutionStatusRunning}); ; {
		list, err := client.ListExecutions(ctx, in)
		if err != nil {
			return "", fmt.Errorf("looking for executions of %s: %w", j.machine, err)
		}
		for _, one := range list.Executions {
			out, err := client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: one.ExecutionArn})
			if err != nil {
				return "", fmt.Errorf("looking at the execution %s: %w", aws.ToString(one.ExecutionArn), err)
			}
			var of worker.Stage
			if json.Unmarshal([]byte(aws.ToString(out.Input)), &of) == nil && len(of.Tasks) > 0 &&
				of.Tasks[0].Task.Work == j.task.Work && of.Tasks[0].Task.Job == j.task.Job {
				return aws.ToString(one.ExecutionArn), nil
			}
		}
		if in.NextToken = list.NextToken; in.NextToken == nil {
			return "", nil
		}
	}
}

func start(ctx context.Context, client stateMachines, j largeJob) (string, error) {
	text, err := json.Marshal(worker.Stages(j.task, j.atOnce, nil))
	if err != nil {
		return "", err
	}
	if len(text) > maxInput {
		return "", fmt.Errorf("the parts take %d KB of the %d KB that an execution is given: give fewer parts, or a shorter --work",
			len(text)>>10, maxInput>>10)
	}
	out, err := client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &j.machine, Input: aws.String(string(text))})
	if err != nil {
		return "", fmt.Errorf("starting an execution of %s: %w", j.machine, err)
	}
	return aws.ToString(out.ExecutionArn), nil
}
