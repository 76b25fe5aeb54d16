package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// machine creates the state machine of the worker's template. LocalStack runs no Lambda here, so
// its tasks go to an activity, from which the test takes them for the worker.
func machine(t *testing.T, client *sfn.Client, name string) (arn, activity string) {
	t.Helper()
	made, err := client.CreateActivity(ctx, &sfn.CreateActivityInput{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	activity = *made.ActivityArn
	text, err := os.ReadFile("../cmd/worker/machine.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	var definition map[string]any
	if err := json.Unmarshal(text, &definition); err != nil {
		t.Fatal(err)
	}
	states := definition["States"].(map[string]any)
	for of, task := range map[string]string{"Segments": "ReadSegment", "Merges": "MergeBucket"} {
		inner := states[of].(map[string]any)["ItemProcessor"].(map[string]any)["States"].(map[string]any)[task].(map[string]any)
		if inner["Resource"] != "arn:${Partition}:states:::lambda:invoke" {
			t.Fatalf("the task is %v", inner)
		}
		inner["Resource"], inner["InputPath"] = activity, "$.task"
		delete(inner, "Parameters")
		if inner["ResultSelector"] != nil {
			inner["ResultSelector"] = map[string]any{"more.$": "$.more"}
		}
		inner["Retry"].([]any)[0].(map[string]any)["IntervalSeconds"] = 1
	}
	if text, err = json.Marshal(definition); err != nil {
		t.Fatal(err)
	}
	out, err := client.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: &name, Definition: aws.String(string(text)),
		RoleArn: aws.String("arn:aws:iam::000000000000:role/machine")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the endpoint may be somebody's own
		_, _ = client.DeleteStateMachine(ctx, &sfn.DeleteStateMachineInput{StateMachineArn: out.StateMachineArn})
		_, _ = client.DeleteActivity(ctx, &sfn.DeleteActivityInput{ActivityArn: &activity})
	})
	return *out.StateMachineArn, activity
}

// TestLarge verifies a table on a state machine: the built worker reads the segments and merges the
// buckets. Its first process is killed in the middle, and each third task is done twice at the same
// time.
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
	client := sfn.NewFromConfig(aws.Config{Region: endpoint.Region, BaseEndpoint: &e.URL,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	arn, activity := machine(t, client, d.stack+"-verify")
	bucket := d.stack + "-work"
	if err := stack.CreateArchive(ctx, d.clients.S3, bucket); err != nil {
		t.Fatal(err)
	}
	w := d.tool(e.URL, "..")
	if err := os.WriteFile(filepath.Join(w.dir, "pipeline.yaml"), []byte(visits), 0o600); err != nil {
		t.Fatal(err)
	}
	binary, err := build("worker")
	if err != nil {
		t.Fatal(err)
	}
	var said output
	begin := func() *runtimeapi.Process {
		return d.start(binary, map[string]string{"AWS_REGION": endpoint.Region, "AWS_ACCESS_KEY_ID": "test",
			"AWS_SECRET_ACCESS_KEY": "test", "AWS_LAMBDA_LOG_FORMAT": "JSON", "INGOT_ENDPOINT_URL": e.URL,
			"INGOT_TABLE": d.events, "INGOT_AGGREGATES_TABLE": d.totals,
			"INGOT_PIPELINE": filepath.Join(w.dir, "pipeline.yaml")}, &said)
	}
	taking, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	var tasks atomic.Int64
	for range 2 {
		workers.Go(func() {
			processes := []*runtimeapi.Process{begin(), begin()}
			for taking.Err() == nil {
				task, err := client.GetActivityTask(taking, &sfn.GetActivityTaskInput{ActivityArn: &activity})
				if err != nil || aws.ToString(task.TaskToken) == "" {
					continue
				}
				n := tasks.Add(1)
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
	defer workers.Wait()
	defer stop()
	line := "verify --segments 3 --large " + arn + " --work s3://" + bucket + "/first"
	for range 2 { // the folder can be used again
		stdout, stderr, code := w.run(t.Context(), line)
		if code != 0 || !strings.Contains(stdout, "60 items") || !strings.Contains(stdout, "no difference") {
			t.Fatalf("exit code %d after %d tasks\n%s%s\n%s", code, tasks.Load(), stdout, stderr, &said)
		}
	}
	d.damage("visits")
	if stdout, stderr, code := w.run(t.Context(), line); code != 3 || !strings.Contains(stdout, "visits") {
		t.Errorf("a total is changed by hand, and it says %d\n%s%s", code, stdout, stderr)
	}
}
