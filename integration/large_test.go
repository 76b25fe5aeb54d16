package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// machine creates the state machine of the worker's template. LocalStack runs no Lambda here, so
// its tasks go to an activity, from which the test takes them for the worker.
func machine(t *testing.T, client *sfn.Client, name string) (arn, activity string) {
	t.Helper()
	made, err := client.CreateActivity(ctx, &sfn.CreateActivityInput{Name: &name})
	must.Succeed(t, err)
	activity = *made.ActivityArn
	text := must.Read(t, "../cmd/worker/machine.asl.json")
	var definition map[string]any
	must.Succeed(t, json.Unmarshal(text, &definition))
	states := definition["States"].(map[string]any)
	part := states["Stage"].(map[string]any)["ItemProcessor"].(map[string]any)["States"].(map[string]any)["Part"].(map[string]any)
	if part["Resource"] != "arn:${Partition}:states:::lambda:invoke" {
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
	arn, work string
	tasks     atomic.Int64
	said      output
}

// workers deploys a state machine, and starts built workers for it until the test ends. Their first
// process is killed in the middle, and each third task is done twice at the same time.
func (d *deployed) workers(e *endpoint.Endpoint, w tool) *crew {
	d.Helper()
	client := sfn.NewFromConfig(aws.Config{Region: endpoint.Region, BaseEndpoint: &e.URL,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	c := &crew{}
	arn, activity := machine(d.T, client, d.stack+"-verify")
	bucket := d.stack + "-work"
	must.Succeed(d, stack.CreateArchive(ctx, d.clients.S3, bucket))
	c.arn, c.work = arn, "s3://"+bucket+"/work"
	binary, err := build("worker")
	must.Succeed(d, err)
	begin := func() *runtimeapi.Process {
		return d.start(binary, map[string]string{"AWS_REGION": endpoint.Region, "AWS_ACCESS_KEY_ID": "test",
			"AWS_SECRET_ACCESS_KEY": "test", "AWS_LAMBDA_LOG_FORMAT": "JSON", "INGOT_ENDPOINT_URL": e.URL,
			"INGOT_TABLE": d.events, "INGOT_AGGREGATES_TABLE": d.totals, "INGOT_PII_KEY": d.secret,
			"INGOT_PIPELINE": filepath.Join(w.dir, "pipeline.yaml")}, &c.said)
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

// TestLarge verifies a table on a state machine.
func TestLarge(t *testing.T) {
	e, _ := open(t)
	d := deploy(t, deployment{dir: layered(t, visits), binaries: functions(t),
		parameters: map[string]string{"Counting": "receipts", "EndpointUrl": e.URL}})
	var bodies []string
	for n := range 60 {
		bodies = append(bodies, fmt.Sprintf(`{"type":"visit","id":"v%d","site":"s%d","at":"2099-03-01T09:00:00Z"}`, n, n%7))
	}
	d.send(bodies...)
	deliver := func() error { _, err := d.stream.Poll(d.Context()); return err }
	d.until("every change is counted", deliver, func() bool { return d.stream.Drained() })
	w := d.tool(e.URL, "..")
	must.Write(t, filepath.Join(w.dir, "pipeline.yaml"), visits)
	c := d.workers(e, w)
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
