package integration

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// lambdaFunction holds the parts of a function's configuration that are read here.
type lambdaFunction struct {
	State, StateReason string
	Environment        struct{ Variables map[string]string }
}

// askLambda calls the endpoint's Lambda without the SDK, like CloudFormation.
func askLambda(t *testing.T, e *endpoint.Endpoint, method, path string, body any) (f lambdaFunction) {
	t.Helper()
	var text []byte
	var err error
	if body != nil {
		text, err = json.Marshal(body)
		must.Succeed(t, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, e.URL+"/2015-03-31/"+path, bytes.NewReader(text))
	must.Succeed(t, err)
	sign(request, "lambda")
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer response.Body.Close()
	if text, err = io.ReadAll(response.Body); err == nil && response.StatusCode < 300 && len(text) > 0 {
		err = json.Unmarshal(text, &f)
	}
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("Lambda %s %s: %s, %v: %s", method, path, response.Status, err, text)
	}
	return f
}

// needsLambda skips a test if the endpoint cannot run functions. It makes a minimal function, so an
// error from Lambda is not about our functions.
func needsLambda(t *testing.T, e *endpoint.Endpoint) {
	t.Helper()
	var code bytes.Buffer
	archive := zip.NewWriter(&code)
	_, err := archive.Create("bootstrap")
	must.Succeed(t, err)
	must.Succeed(t, archive.Close())
	probe := name(t)
	f := askLambda(t, e, http.MethodPost, "functions",
		map[string]any{"FunctionName": probe, "Runtime": "provided.al2023", "Handler": "bootstrap",
			"Role": "arn:aws:iam::000000000000:role/probe", "Code": map[string]any{"ZipFile": code.Bytes()}})
	for deadline := time.Now().Add(patience); f.State == "Pending"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("Lambda has not made a function within %v", patience)
		}
		f = askLambda(t, e, http.MethodGet, "functions/"+probe+"/configuration", nil)
	}
	if f.State != "Active" {
		t.Skipf("the Lambda of %s cannot run functions (%s); to have this test run, name one that can with %s: the image from the "+
			"registry, with Docker's socket inside",
			e.URL, f.StateReason, endpoint.URLVariable)
	}
}

// TestWholeDeployment follows docs/without.md as it is written. SAM builds and deploys, and
// everything else happens by itself.
func TestWholeDeployment(t *testing.T) {
	sampleshop.PipelineAtRoot(t, "..")
	e, clients := open(t)
	needsLambda(t, e)
	cli := findSAM(t)
	cli.overrides = append(cli.overrides, "Counting=receipts")
	d := cli.deploy(t, e, clients, cli.build(t, "lambda.norpc"))
	d.check(orders(t, 12))
	checkDay(t, d.store, 12)
}

// deploy deploys what sam has built. Then messages that are sent to the queue go through Lambda's
// own functions and mappings.
func (s *samCLI) deploy(t *testing.T, e *endpoint.Endpoint, clients *endpoint.Clients, built string) *deployed {
	t.Helper()
	stack := name(t)
	t.Cleanup(func() { cloudFormation{e.URL}.call(t, "DeleteStack", url.Values{"StackName": {stack}}) })
	s.run(t, []string{"AWS_ENDPOINT_URL=" + e.URL, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test"},
		"deploy", "--template-file", built, "--stack-name", stack, "--no-confirm-changeset")
	outputs := cloudFormation{e.URL}.outputs(t, stack)
	d := &deployed{T: t, clients: clients, queueURL: outputs["QueueUrl"], quarantine: outputs["QuarantineQueueUrl"]}
	d.read(s.root, askLambda(t, e, http.MethodGet, "functions/"+outputs["StreamsFunctionName"]+"/configuration", nil).Environment.Variables)
	return d
}
