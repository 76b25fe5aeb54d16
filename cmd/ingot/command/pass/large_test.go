package pass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
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

func job(told *[]string, progress *int) largeJob {
	return largeJob{machine: "arn:m", atOnce: 5,
		task: worker.Task{Job: worker.Look, Segments: 3, Buckets: 2, Work: "s3://b/w", About: "tables"},
		env:  env.Env{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }},
		tell: func(format string, _ ...any) { *told = append(*told, format) },
		progress: func(context.Context) error {
			*progress++
			return nil
		}}
}

const runs, succeeded = types.ExecutionStatusRunning, types.ExecutionStatusSucceeded

// An execution has a task for each segment and each bucket, and is followed to its end.
func TestStarted(t *testing.T) {
	m := &machine{states: []types.ExecutionStatus{runs, runs, succeeded}}
	var told []string
	progress := 0
	if err := runLarge(t.Context(), m, job(&told, &progress)); err != nil || progress != 2 || m.started != 1 {
		t.Fatalf("%v, %d looks, %d started", err, progress, m.started)
	}
	type stage struct {
		Tasks  []struct{ Task worker.Task }
		AtOnce int
		Next   *stage
	}
	var in *stage
	must.Succeed(t, json.Unmarshal([]byte(m.inputs[0]), &in))
	var got []string
	for ; in != nil; in = in.Next {
		last := in.Tasks[len(in.Tasks)-1].Task
		got = append(got, fmt.Sprintf("%d %s at most %d at once, the last %d in %s", len(in.Tasks), last.Step, in.AtOnce, last.Part,
			last.Work))
	}
	want := []string{"3 totals at most 5 at once, the last 2 in s3://b/w", "3 segment at most 5 at once, the last 2 in s3://b/w",
		"2 merge at most 5 at once, the last 1 in s3://b/w"}
	must.Match(t, got, want)
}

// The largest execution fits into its input.
func TestMostParts(t *testing.T) {
	m := &machine{states: []types.ExecutionStatus{succeeded}}
	j := job(new([]string), new(int))
	j.task = worker.Task{Job: worker.Look, Segments: 300, Buckets: 100,
		Work:  "s3://" + strings.Repeat("b", 63) + "/" + strings.Repeat("w", 40),
		About: "111122223333 eu-central-1 " + strings.Repeat("t", 40), Rate: 12345.678}
	must.Equal(t, allParts(j.task), mostParts)
	if err := runLarge(t.Context(), m, j); err != nil || m.started != 1 {
		t.Errorf("%d started, %v", m.started, err)
	}
	j.task.Work += strings.Repeat("w", 900)
	if err := runLarge(t.Context(), m, j); err == nil || m.started != 1 || !strings.Contains(err.Error(), "a shorter --work") {
		t.Errorf("%d started, %v", m.started, err)
	}
}

// One that runs for the same work is followed. One for other work is not.
func TestFollowed(t *testing.T) {
	for _, c := range []struct {
		job, work string
		started   int
	}{{worker.Look, "s3://b/w", 0}, {worker.Look, "s3://b/other", 1}, {worker.Compare, "s3://b/w", 1}} {
		text, err := json.Marshal(map[string]any{"tasks": []any{map[string]any{"task": worker.Task{Job: c.job, Work: c.work}}}})
		must.Succeed(t, err)
		m := &machine{states: []types.ExecutionStatus{succeeded}, inputs: []string{string(text)}}
		var told []string
		progress := 0
		if err := runLarge(t.Context(), m, job(&told, &progress)); err != nil || m.started != c.started || len(told) != 1 {
			t.Errorf("%+v: %v, %d started, told %q", c, err, m.started, told)
		}
	}
}

// A person who stops an execution by hand is told how to go on. If the command is stopped, the
// execution is not.
func TestStopped(t *testing.T) {
	for _, state := range []types.ExecutionStatus{types.ExecutionStatusAborted, types.ExecutionStatusFailed,
		types.ExecutionStatusTimedOut} {
		m := &machine{states: []types.ExecutionStatus{runs, state}}
		var told []string
		progress := 0
		err := runLarge(t.Context(), m, job(&told, &progress))
		must.Fail(t, err, string(state), "because; the same command starts another")
	}
	ctx, stop := context.WithCancel(t.Context())
	m := &machine{states: []types.ExecutionStatus{runs}}
	var told []string
	progress := 0
	j := job(&told, &progress)
	j.progress = func(context.Context) error { stop(); return nil }
	if err := runLarge(ctx, m, j); !errors.Is(err, context.Canceled) || len(told) != 1 || !strings.Contains(told[0], "leaves it running") {
		t.Errorf("%v, told %q", err, told)
	}
}
