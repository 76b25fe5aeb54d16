package integration

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/internal/tool/watched"
)

// machine creates the state machine of the worker's template. LocalStack runs no Lambda here, so
// its tasks go to an activity, from which the test takes them for the worker.
func machine(t *testing.T, client *sfn.Client, name, totals string) (arn, activity string) {
	t.Helper()
	made, err := client.CreateActivity(ctx, &sfn.CreateActivityInput{Name: &name})
	must.Succeed(t, err)
	activity = *made.ActivityArn
	text := []byte(strings.NewReplacer("${Partition}", "aws", "${Worker}", "worker", "${WorkerName}", name, "${Totals}", totals).
		Replace(string(must.Read(t, "../cmd/worker/machine.asl.json"))))
	var definition map[string]any
	must.Succeed(t, json.Unmarshal(text, &definition))
	states := definition["States"].(map[string]any)
	begin := states["Begin"].(map[string]any)
	begin["Resource"], begin["Parameters"] = activity, begin["Parameters"].(map[string]any)["Payload"]
	delete(begin, "OutputPath")
	begin["Retry"].([]any)[0].(map[string]any)["MaxAttempts"] = 1
	part := states["Stage"].(map[string]any)["ItemProcessor"].(map[string]any)["States"].(map[string]any)["Part"].(map[string]any)
	if part["Resource"] != "arn:aws:states:::lambda:invoke" {
		t.Fatalf("the task is %v", part)
	}
	delete(part, "Parameters")
	part["Resource"], part["InputPath"], part["ResultSelector"] = activity, "$.task", map[string]any{"more.$": "$.more"}
	part["Retry"].([]any)[0].(map[string]any)["IntervalSeconds"] = 1
	text, err = json.Marshal(definition)
	must.Succeed(t, err)
	out, err := client.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: &name, Definition: aws.String(string(text)),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/machine")})
	must.Succeed(t, err)
	t.Cleanup(func() { // the endpoint may be somebody's own
		_, _ = client.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: out.StateMachineArn})
		_, _ = client.DeleteActivity(ctx, &sfn.DeleteActivityInput{ActivityArn: &activity})
	})
	return *out.StateMachineArn, activity
}

// crew is a state machine with its workers, and a bucket for sums.
type crew struct {
	client    *sfn.Client
	arn, work string
	tasks     atomic.Int64
	said      output
}

// workers deploys a state machine, and starts built workers for it until the test ends. Their first
// process is killed in the middle, and each third task is done twice at the same time.
func (d *deployed) workers(e *endpoint.Endpoint, w tool, more map[string]string) *crew {
	d.Helper()
	client := sfn.NewFromConfig(aws.Config{Region: endpoint.Region, BaseEndpoint: &e.URL,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	c := &crew{}
	arn, activity := machine(d.T, client, d.stack+"-verify", d.totals)
	bucket := d.stack + "-work"
	must.Succeed(d, stack.CreateArchive(ctx, d.clients.S3, bucket))
	c.client, c.arn, c.work = client, arn, "s3://"+bucket+"/work"
	binary, err := build("worker")
	must.Succeed(d, err)
	begin := func() *runtimeapi.Process {
		env := d.beside(w, e.URL, more)
		env["INGOT_PII_KEY"] = d.secret
		return d.start(binary, env, &c.said)
	}
	taking, stop := context.WithCancel(d.Context())
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			processes := []*runtimeapi.Process{begin(), begin()}
			for taking.Err() == nil {
				task, err := client.GetActivityTask(taking, &sfn.GetActivityTaskInput{ActivityArn: &activity})
				if err != nil || aws.ToString(task.TaskToken) == "" {
					continue
				}
				n := c.tasks.Add(1)
				if n == 2 { // it dies with a task in its hands
					processes[0].Kill()
					processes[0] = begin()
					_, _ = client.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: task.TaskToken, Error: aws.String("Killed")})
					continue
				}
				var twice sync.WaitGroup
				if n%3 == 0 {
					twice.Go(func() { _, _ = processes[1].Invoke(ctx, []byte(*task.Input), time.Minute) })
				}
				answer, err := processes[0].Invoke(ctx, []byte(*task.Input), time.Minute)
				twice.Wait()
				if err != nil {
					_, _ = client.SendTaskFailure(ctx, &sfn.SendTaskFailureInput{TaskToken: task.TaskToken, Error: aws.String("Failed"),
						Cause: aws.String(err.Error()[:min(len(err.Error()), 200)])})
					continue
				}
				_, _ = client.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: task.TaskToken, Output: aws.String(string(answer))})
			}
		})
	}
	d.Cleanup(func() { stop(); workers.Wait() })
	return c
}

// flags are those of a command that lets the workers do the work.
func (c *crew) flags() string {
	return " --segments 3 --buckets 2 --large " + c.arn + " --work " + c.work
}

// visited deploys visits to seven sites, and counts n of them.
func visited(t *testing.T, e *endpoint.Endpoint, n int, counting string, window time.Duration) (*deployed, tool) {
	t.Helper()
	d := deploy(t, deployment{dir: layered(t, visits), binaries: functions(t), window: window,
		parameters: map[string]string{"Counting": counting, "EndpointUrl": e.URL}})
	d.send(visitBodies(n)...)
	d.until("every change is counted", d.count, func() bool { return d.stream.Drained() })
	w := d.tool(e.URL, "..")
	must.Write(t, filepath.Join(w.dir, "pipeline.yaml"), visits)
	return d, w
}

// TestLarge verifies a table on a state machine.
func TestLarge(t *testing.T) {
	e, _ := open(t)
	d, w := visited(t, e, 60, "receipts", 0)
	c := d.workers(e, w, nil)
	line := "verify" + c.flags()
	verify := func(line string, code int, words ...string) {
		t.Helper()
		stdout, stderr, is := w.run(t.Context(), line)
		for _, word := range words {
			if is != code || !strings.Contains(stdout, word) ||
				!strings.Contains(stderr, "the workers run about 0.0 hours in all, 0.0000 dollars") {
				t.Fatalf("%s: exit code %d after %d tasks\n%s%s\n%s", line, is, c.tasks.Load(), stdout, stderr, &c.said)
			}
		}
	}
	for range 2 { // the folder can be used again
		verify(line, 0, "60 items", "no difference")
	}
	d.damage("visits")
	verify(line, 3, "visits")
	verify(line+" --twice --patience 1ms", 6, "visits") // nobody knows how far the streams function is: see toolDifferences
}

// TestSchedule runs what the schedule of cmd/worker starts. A difference that somebody has made in
// a total at rest is found in one run, and a run that fails is counted without the worker.
func TestSchedule(t *testing.T) {
	slow.Test(t, "a run has 389 parts, and LocalStack starts an execution for each")
	t.Parallel()
	e, _ := open(t)
	d, w := visited(t, e, 20, "marks", 2*time.Second)
	lambda := httptest.NewServer(mappings.New(mappings.Mapping{UUID: "u", Function: "streams", Source: d.streamARN}))
	t.Cleanup(lambda.Close)
	c := d.workers(e, w, map[string]string{"VERIFY_WORK": "s3://" + d.stack + "-work/watch", "VERIFY_STREAMS": "streams",
		"AWS_ENDPOINT_URL_LAMBDA": lambda.URL})
	run := func(scheduled string, want types.ExecutionStatus) *watched.Last {
		t.Helper()
		started, err := c.client.StartExecution(ctx, &sfn.StartExecutionInput{StateMachineArn: &c.arn,
			Input: aws.String(`{"scheduled": "` + scheduled + `"}`)})
		must.Succeed(t, err)
		var out *sfn.DescribeExecutionOutput
		d.until("the run ends", d.count, func() bool {
			out, err = c.client.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: started.ExecutionArn})
			return err == nil && out.Status != types.ExecutionStatusRunning
		})
		if out.Status != want {
			t.Fatalf("%s after %d tasks: %s %s\n%s", out.Status, c.tasks.Load(), aws.ToString(out.Error), aws.ToString(out.Cause), &c.said)
		}
		last, err := watched.Read(ctx, d.clients.DynamoDB, d.totals)
		must.Succeed(t, err)
		return last
	}
	last := run("2099-03-02T06:00:00Z", types.ExecutionStatusSucceeded)
	if last.Events != 20 || last.Differing != 0 || last.Undecided != 0 {
		t.Errorf("%+v", last)
	}
	d.damage("visits")
	last = run("2099-03-09T06:00:00Z", types.ExecutionStatusSucceeded)
	if last.Differing != 1 || last.Undecided != 0 || last.At != "2099-03-09T06:00:00Z" || c.said.sum("TotalsDiffering") == 0 {
		t.Errorf("%+v\n%s", last, &c.said)
	}
	for n, at := range []string{"next week", "the week after", "the week after"} { // the worker knows no such time
		if last = run(at, types.ExecutionStatusFailed); last.Failed != min(n+1, 2) || last.FailedAt != at {
			t.Errorf("%+v", last)
		}
	}
}
