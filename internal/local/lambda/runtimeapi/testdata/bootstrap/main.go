// Command bootstrap is a function that does what it is told. The tests of runtimeapi use it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type order struct {
	Do   string `json:"do"`
	Text string `json:"text"`
	Size int    `json:"size"`
}

func main() {
	switch os.Getenv("START") {
	case "exit":
		os.Exit(3)
	case "hang":
		hang()
	case "report":
		post("init/error", `{"errorType":"Config.Missing","errorMessage":"INGOT_TABLE is not set"}`)
		os.Exit(1)
	}
	fmt.Println("started")
	lambda.Start(handle)
}

func handle(ctx context.Context, o order) (any, error) {
	switch o.Do {
	case "echo":
		return o.Text, nil
	case "fail":
		return nil, errors.New(o.Text)
	case "panic":
		panic(o.Text)
	case "exit":
		os.Exit(7)
	case "hang":
		fmt.Println("hanging")
		hang()
	case "big":
		return strings.Repeat("x", o.Size), nil
	case "stream":
		return io.MultiReader(strings.NewReader(o.Text), broken{}), nil
	case "env":
		return os.Environ(), nil
	case "context":
		return describe(ctx), nil
	case "misuse":
		return misuse(ctx), nil
	}
	return nil, fmt.Errorf("cannot do %q", o.Do)
}

// hang never returns. (An empty select would be seen as a deadlock and end the process.)
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("source ran dry") }

func describe(ctx context.Context) map[string]string {
	lc, _ := lambdacontext.FromContext(ctx)
	deadline, _ := ctx.Deadline()
	return map[string]string{
		"id": lc.AwsRequestID, "arn": lc.InvokedFunctionArn, "trace": os.Getenv("_X_AMZN_TRACE_ID"),
		"deadline": deadline.UTC().Format(time.RFC3339Nano), "name": lambdacontext.FunctionName,
		"memory": fmt.Sprint(lambdacontext.MemoryLimitInMB),
	}
}

// misuse breaks the protocol in every way it knows while an invocation is in progress.
func misuse(ctx context.Context) []string {
	lc, _ := lambdacontext.FromContext(ctx)
	return []string{
		get("invocation/next"),
		post("invocation/nobody/response", "{}"),
		post("invocation/nobody/error", "{}"),
		post("init/error", "{}"),
		post("invocation/"+lc.AwsRequestID+"/restart", "{}"),
		get("invocation/" + lc.AwsRequestID + "/response"),
		post("invocation/"+lc.AwsRequestID+"/response", `"first"`),
		post("invocation/"+lc.AwsRequestID+"/response", `"second"`),
	}
}

func get(path string) string { return status(http.Get(url(path))) }

func post(path, body string) string {
	return status(http.Post(url(path), "application/json", bytes.NewReader([]byte(body))))
}

func url(path string) string {
	return "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/" + path
}

// status returns the status code and errorType. It also prints them, because an answer may not get
// through.
func status(res *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	var report struct {
		Type string `json:"errorType"`
	}
	_ = json.NewDecoder(res.Body).Decode(&report)
	s := strings.TrimSpace(fmt.Sprintf("%d %s", res.StatusCode, report.Type))
	fmt.Println("status", s)
	return s
}
