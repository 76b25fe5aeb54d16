package integration

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/stack"
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

// emptyFunction is the archive of a function that does nothing.
func emptyFunction(t *testing.T) []byte {
	t.Helper()
	var code bytes.Buffer
	archive := zip.NewWriter(&code)
	_, err := archive.Create("bootstrap")
	must.Succeed(t, err)
	must.Succeed(t, archive.Close())
	return code.Bytes()
}

// needsLambda skips a test if the endpoint cannot run functions. It makes a minimal function, so an
// error from Lambda is not about our functions.
func needsLambda(t *testing.T, e *endpoint.Endpoint) {
	t.Helper()
	probe := name(t)
	f := askLambda(t, e, http.MethodPost, "functions",
		map[string]any{"FunctionName": probe, "Runtime": "provided.al2023", "Handler": "bootstrap",
			"Role": "arn:aws:iam::000000000000:role/probe", "Code": map[string]any{"ZipFile": emptyFunction(t)}})
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

// TestStackOnLocalStack follows docs/without.md as far as the image allows. As it is, template.yaml
// is refused for the alarm that the page takes out. Without it, everything is made, up to the first
// function if the image cannot run one.
func TestStackOnLocalStack(t *testing.T) {
	sampleshop.PipelineAtRoot(t, "..")
	e, clients := open(t)
	must.Succeed(t, stack.CreateArchive(ctx, clients.S3, "code"))
	put := &s3.PutObjectInput{Bucket: aws.String("code"), Key: aws.String("x.zip"), Body: bytes.NewReader(emptyFunction(t))}
	_, err := clients.S3.PutObject(ctx, put)
	must.Succeed(t, err)
	page := must.Read(t, "../docs/without.md")
	command := regexp.MustCompile(`(?m)^sed -i\.bak .*StreamsDroppedAlarm.* template\.yaml$`).Find(page)
	dir := t.TempDir()
	file := filepath.Join(dir, "template.yaml")
	whole := regexp.MustCompile(`CodeUri: \S+`).ReplaceAllString(string(must.Read(t, "../template.yaml")), "CodeUri: s3://code/x.zip")
	must.Write(t, file, whole)
	edit := exec.CommandContext(ctx, "bash", "-c", string(command))
	edit.Dir = dir
	if out, err := edit.CombinedOutput(); err != nil || command == nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
	c, named := cloudFormation{e.URL}, name(t)
	create := func(stack, body string) (int, []byte) {
		t.Cleanup(func() { c.send(t, "DeleteStack", url.Values{"StackName": {stack}}) })
		return c.send(t, "CreateStack", url.Values{"StackName": {stack}, "TemplateBody": {body},
			"Capabilities.member.1": {"CAPABILITY_IAM"}, "Capabilities.member.2": {"CAPABILITY_AUTO_EXPAND"},
			"Parameters.member.1.ParameterKey": {"Counting"}, "Parameters.member.1.ParameterValue": {"receipts"}})
	}
	status, text := create(named+"-refused", whole)
	if status == http.StatusOK || !bytes.Contains(text, []byte("StreamsFunctionChanges")) {
		t.Errorf("the template as it is: %d, %s; if LocalStack takes it by now, take the command off the page", status, text)
	}
	status, text = create(named, string(must.Read(t, file)))
	if status != http.StatusOK {
		t.Fatalf("%d: %s", status, text)
	}
	answer := c.call(t, "DescribeStacks", url.Values{"StackName": {named}})
	for deadline := time.Now().Add(patience); strings.HasSuffix(answer.Status, "IN_PROGRESS"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the stack is %s after %v", answer.Status, patience)
		}
		answer = c.call(t, "DescribeStacks", url.Values{"StackName": {named}})
	}
	_, text = c.send(t, "DescribeStackEvents", url.Values{"StackName": {named}})
	if answer.Status != "CREATE_COMPLETE" && !bytes.Contains(text, []byte("Error while creating lambda")) {
		t.Errorf("%s: %s: %s", answer.Status, answer.Reason, text)
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
	built := cli.build(t, "lambda.norpc")
	before, after, found := strings.Cut(string(must.Read(t, built)), "\n  StreamsDroppedAlarm:\n") // as the page says
	next := regexp.MustCompile(`(?m)^  \w`).FindStringIndex(after)
	if !found || next == nil {
		t.Fatal("sam has built a template without StreamsDroppedAlarm")
	}
	must.Write(t, built, before+"\n"+after[next[0]:])
	d := cli.deploy(t, e, clients, built)
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
