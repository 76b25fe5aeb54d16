package integration

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/cloudformation"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// cloudFormation makes stacks at an endpoint. It calls CloudFormation without the SDK, because
// nothing else here needs that SDK.
type cloudFormation struct{ url string }

// stackAnswer holds the parts of a DescribeStacks answer that are read here.
type stackAnswer struct {
	Status  string `xml:"DescribeStacksResult>Stacks>member>StackStatus"`
	Reason  string `xml:"DescribeStacksResult>Stacks>member>StackStatusReason"`
	Outputs []struct {
		Name  string `xml:"OutputKey"`
		Value string `xml:"OutputValue"`
	} `xml:"DescribeStacksResult>Stacks>member>Outputs>member"`
}

func (c cloudFormation) call(t *testing.T, action string, values url.Values) (answer stackAnswer) {
	t.Helper()
	status, text := c.send(t, action, values)
	if status != http.StatusOK {
		t.Fatalf("CloudFormation %s: %d: %s", action, status, text)
	}
	must.Succeed(t, xml.Unmarshal(text, &answer))
	return answer
}

// send is call for what may be refused.
func (c cloudFormation) send(t *testing.T, action string, values url.Values) (status int, text []byte) {
	t.Helper()
	values.Set("Action", action)
	values.Set("Version", "2010-05-15")
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(values.Encode()))
	must.Succeed(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	sign(request, "cloudformation")
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	must.Succeed(t, err)
	return response.StatusCode, text
}

// docs/repair.md says that only AWS can tell whether a new stack takes over tables, because
// LocalStack cannot import. If this test fails, it can: then have a test run the page's commands.
func TestLocalStackImportsNothing(t *testing.T) {
	e, clients := open(t)
	if clients.SQS == nil {
		t.Skipf("%s has no queues, and the template declares one", e.URL)
	}
	queue, err := stack.Queue{Name: name(t)}.Create(ctx, clients.SQS)
	must.Succeed(t, err)
	const resource = "ResourcesToImport.member.1."
	status, text := cloudFormation{e.URL}.send(t, "CreateChangeSet", url.Values{
		"StackName": {name(t)}, "ChangeSetName": {"take-over"}, "ChangeSetType": {"IMPORT"},
		"TemplateBody":            {`{"Resources": {"Queue": {"Type": "AWS::SQS::Queue", "DeletionPolicy": "Retain"}}}`},
		resource + "ResourceType": {"AWS::SQS::Queue"}, resource + "LogicalResourceId": {"Queue"},
		resource + "ResourceIdentifier.entry.1.key": {"QueueUrl"}, resource + "ResourceIdentifier.entry.1.value": {queue}})
	if status == http.StatusOK {
		t.Errorf("%s takes an import: %s", e.URL, text)
	}
}

// sign names Region and service as a signature does. LocalStack reads them from there, but does not
// check the signature.
func sign(r *http.Request, service string) {
	r.Close = true // a connection that is kept open would outlive the tests
	r.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=test/20260101/"+endpoint.Region+"/"+service+"/aws4_request, SignedHeaders=host, Signature=none")
}

// create makes a stack and returns its outputs. It is deleted after the test.
func (c cloudFormation) create(t *testing.T, name, body string, parameters map[string]string) map[string]string {
	t.Helper()
	t.Cleanup(func() { c.call(t, "DeleteStack", url.Values{"StackName": {name}}) })
	values := url.Values{"StackName": {name}, "TemplateBody": {body}}
	n := 0
	for key, value := range parameters {
		n++
		values.Set(fmt.Sprintf("Parameters.member.%d.ParameterKey", n), key)
		values.Set(fmt.Sprintf("Parameters.member.%d.ParameterValue", n), value)
	}
	c.call(t, "CreateStack", values)
	return c.outputs(t, name)
}

// outputs waits until a stack is made, and returns its outputs.
func (c cloudFormation) outputs(t *testing.T, name string) map[string]string {
	t.Helper()
	answer := c.call(t, "DescribeStacks", url.Values{"StackName": {name}})
	for deadline := time.Now().Add(patience); answer.Status == "CREATE_IN_PROGRESS"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the stack %s is not made within %v", name, patience)
		}
		answer = c.call(t, "DescribeStacks", url.Values{"StackName": {name}})
	}
	if answer.Status != "CREATE_COMPLETE" {
		t.Fatalf("the stack %s: %s: %s", name, answer.Status, answer.Reason)
	}
	outputs := map[string]string{}
	for _, o := range answer.Outputs {
		outputs[o.Name] = o.Value
	}
	return outputs
}

// withoutLambda is what a template declares for services other than Lambda: tables, queues, bucket
// and secret, each exactly as declared. Its outputs are the template's outputs that refer only to
// these, and all variables that the functions would have.
type withoutLambda struct {
	body      string
	variables map[string]map[string]string // by function and variable: the output that has its value
	layer     string                       // the folder of its layer; empty if it has none
}

var services = []string{"AWS::DynamoDB::", "AWS::S3::", "AWS::SecretsManager::", "AWS::SQS::"}

func readTemplate(t *testing.T, text []byte) *withoutLambda {
	t.Helper()
	root, err := template.Read(text)
	must.Succeed(t, err)
	w := &withoutLambda{variables: map[string]map[string]string{}}
	resources, outputs := map[string]any{}, map[string]any{}
	for _, r := range member(root, "Resources").Members {
		kind := member(r.Value, "Type").Text
		switch {
		case kind == "AWS::Serverless::Function":
			w.variables[r.Name] = map[string]string{}
			for _, from := range []*template.Node{member(root, "Globals", "Function"), member(r.Value, "Properties")} {
				for _, v := range member(from, "Environment", "Variables").Members {
					output := fmt.Sprintf("Variable%d", len(outputs))
					w.variables[r.Name][v.Name] = output
					outputs[output] = map[string]any{"Value": cloudformation.JSON(v.Value)}
				}
			}
		case kind == "AWS::Serverless::LayerVersion":
			w.layer = member(r.Value, "Properties", "ContentUri").Text
		case slices.ContainsFunc(services, func(prefix string) bool { return strings.HasPrefix(kind, prefix) }):
			declared := cloudformation.JSON(r.Value).(map[string]any)
			delete(declared, "DeletionPolicy") // what a test makes must go with the test
			resources[r.Name] = declared
		}
	}
	for _, o := range member(root, "Outputs").Members {
		if value := member(o.Value, "Value"); value.Kind == template.Call && value.Argument != nil {
			of, _, _ := strings.Cut(value.Argument.Text, ".") // !Ref of a resource, or !GetAtt of its attribute
			if resources[of] != nil {
				outputs[o.Name] = map[string]any{"Value": cloudformation.JSON(value)}
			}
		}
	}
	body, err := json.Marshal(map[string]any{"Parameters": cloudformation.JSON(member(root, "Parameters")),
		"Conditions": cloudformation.JSON(member(root, "Conditions")), "Resources": resources, "Outputs": outputs})
	must.Succeed(t, err)
	w.body = string(body)
	return w
}

// withNames returns the template with further outputs.
func (w *withoutLambda) withNames(t *testing.T, names map[string]string) string {
	t.Helper()
	var body map[string]any
	must.Succeed(t, json.Unmarshal([]byte(w.body), &body))
	for output, value := range names {
		body["Outputs"].(map[string]any)[output] = map[string]any{"Value": value}
	}
	text, err := json.Marshal(body)
	must.Succeed(t, err)
	return string(text)
}

// member follows names into a mapping. The result is empty if one of them is missing.
func member(n *template.Node, names ...string) *template.Node {
	for _, name := range names {
		m := n.Member(name)
		if m == nil || m.Value == nil {
			return &template.Node{}
		}
		n = m.Value
	}
	return n
}
