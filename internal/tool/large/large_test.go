package large_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/tool/large"
	"github.com/ingot-events/ingot/worker"
)

// machine is a state machine whose executions have these states, one for each look.
type machine struct {
	inputs  []string // of the executions that run, by number
	started int
	states  []types.ExecutionStatus
	looks   int
}

func (m *machine) StartExecution(_ context.Context, in *sfn.StartExecutionInput,
	_ ...func(*sfn.Options)) (*sfn.StartExecutionOutput, error) {
	m.started++
	m.inputs = append(m.inputs, *in.Input)
	return &sfn.StartExecutionOutput{ExecutionArn: aws.String("new")}, nil
}

func (m *machine) ListExecutions(context.Context, *sfn.ListExecutionsInput, ...func(*sfn.Options)) (*sfn.ListExecutionsOutput, error) {
	out := &sfn.ListExecutionsOutput{}
	for range m.inputs {
		out.Executions = append(out.Executions, types.ExecutionListItem{ExecutionArn: aws.String("old")})
	}
	return out, nil
}

func (m *machine) DescribeExecution(_ context.Context, in *sfn.DescribeExecutionInput,
	_ ...func(*sfn.Options)) (*sfn.DescribeExecutionOutput, error) {
	if *in.ExecutionArn == "old" && m.looks == 0 && m.started == 0 {
		m.looks = -1
		return &sfn.DescribeExecutionOutput{Input: &m.inputs[0]}, nil
	}
	m.looks = max(0, m.looks)
	state := m.states[min(m.looks, len(m.states)-1)]
	m.looks++
	return &sfn.DescribeExecutionOutput{Status: state, Error: aws.String("why"), Cause: aws.String("because"),
		Input: aws.String(strings.Join(m.inputs, ""))}, nil
}

func job(told *[]string, progress *int) large.Job {
	return large.Job{Machine: "arn:m", AtOnce: 5, Task: worker.Task{Segments: 3, Buckets: 2, Work: "s3://b/w", About: "tables"},
		Env:  env.Env{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
		Tell: func(format string, _ ...any) { *told = append(*told, format) },
		Progress: func(context.Context) error {
			*progress++
			return nil
		}}
}

const running, succeeded = types.ExecutionStatusRunning, types.ExecutionStatusSucceeded

// An execution has a task for each segment and each bucket, and is followed to its end.
func TestStarted(t *testing.T) {
	m := &machine{states: []types.ExecutionStatus{running, running, succeeded}}
	var told []string
	progress := 0
	if err := large.Run(t.Context(), m, job(&told, &progress)); err != nil || progress != 2 || m.started != 1 {
		t.Fatalf("%v, %d looks, %d started", err, progress, m.started)
	}
	var in struct {
		Segments, Merges []struct{ Task worker.Task }
		AtOnce           int
	}
	if err := json.Unmarshal([]byte(m.inputs[0]), &in); err != nil || in.AtOnce != 5 || len(in.Segments) != 3 || len(in.Merges) != 2 ||
		in.Segments[2].Task.Step != worker.Segment || in.Segments[2].Task.Part != 2 || in.Merges[1].Task.Step != worker.Merge ||
		in.Merges[1].Task.Work != "s3://b/w" {
		t.Errorf("%s, %v", m.inputs[0], err)
	}
}

// One that runs for the same work is followed. One for other work is not.
func TestFollowed(t *testing.T) {
	for work, started := range map[string]int{"s3://b/w": 0, "s3://b/other": 1} {
		text, err := json.Marshal(map[string]any{"segments": []any{map[string]any{"task": worker.Task{Work: work}}}})
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{states: []types.ExecutionStatus{succeeded}, inputs: []string{string(text)}}
		var told []string
		progress := 0
		if err := large.Run(t.Context(), m, job(&told, &progress)); err != nil || m.started != started || len(told) != 1 {
			t.Errorf("%s: %v, %d started, told %q", work, err, m.started, told)
		}
	}
}

// A person who stops an execution by hand is told how to go on. If the command is stopped, the
// execution is not.
func TestStopped(t *testing.T) {
	for _, state := range []types.ExecutionStatus{types.ExecutionStatusAborted, types.ExecutionStatusFailed,
		types.ExecutionStatusTimedOut} {
		m := &machine{states: []types.ExecutionStatus{running, state}}
		var told []string
		progress := 0
		err := large.Run(t.Context(), m, job(&told, &progress))
		if err == nil || !strings.Contains(err.Error(), string(state)) ||
			!strings.Contains(err.Error(), "because; the same command starts another") {
			t.Errorf("%s: %v", state, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	m := &machine{states: []types.ExecutionStatus{running}}
	var told []string
	progress := 0
	j := job(&told, &progress)
	j.Progress = func(context.Context) error { stop(); return nil }
	if err := large.Run(ctx, m, j); !errors.Is(err, context.Canceled) || len(told) != 1 || !strings.Contains(told[0], "leaves it running") {
		t.Errorf("%v, told %q", err, told)
	}
}
