// Package targettest stands in for the parts of AWS that the engine does not have, for the tests of
// the tool. [Cloud] answers for all services at one address: CloudFormation describes its stacks,
// Lambda has event source mappings and functions that can be called, CloudWatch has quiet alarms,
// no data and empty logs, and Secrets Manager and STS answer what the tool asks them. The engine
// answers for the rest.
package targettest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/wire"
)

// KnownStack is a stack that CloudFormation knows.
type KnownStack struct {
	Name       string
	Status     string // empty: UPDATE_COMPLETE
	Protected  bool   // from deletion
	Parameters map[string]string
	Outputs    map[string]string
}

// Cloud answers as AWS does, at one address for all services. Its fields are set before the first
// request.
type Cloud struct {
	Engine  *embedded.Engine
	Account string
	Region  string
	Stacks  []KnownStack
	// Refuse returns the code of an error for a request that the engine does not answer, or
	// nothing. nil refuses nothing. The action is the name of the permission, such as
	// "lambda:InvokeFunction". Lambda's mappings have a Refuse of their own.
	Refuse func(action string) (code string)
	// Role returns the role of a request, by the access key of its credentials. The engine judges
	// the requests that it answers, and Cloud judges the others. nil allows all.
	Role func(accessKey string) *iam.Role
	// Mappings answers for Lambda's event source mappings. nil: there are none.
	Mappings http.Handler
	// Invoke is called for a function. It returns an answer, or what kept the function from
	// answering. nil: a function answers with nothing.
	Invoke func(function string, payload []byte) (answer, problem string)
	// Secrets are the texts of Secrets Manager, by ARN.
	Secrets map[string]string

	once sync.Once
	wire http.Handler
}

// ServeHTTP answers a request for any service.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.once.Do(func() { c.wire = wire.New(c.Engine) })
	call, code, message := c.call(r), "", ""
	action := call.Action
	service, name, _ := strings.Cut(action, ":")
	if m := accessKey.FindStringSubmatch(r.Header.Get("Authorization")); c.Role != nil && m != nil {
		role := c.Role(m[1])
		r = r.WithContext(iam.As(r.Context(), role))
		var denied *smithy.GenericAPIError
		needs := action != "" && service != "sts" // GetCallerIdentity needs no permission
		if role != nil && needs && errors.As(role.Deny(call), &denied) {
			code, message = denied.Code, denied.Message
		}
	}
	if c.Refuse != nil && action != "" {
		code, message = c.Refuse(action), "User: arn:aws:iam::"+c.Account+":user/jo is not authorized to perform: "+action
	}
	switch {
	case code != "":
		refuse(w, service, code, message)
	case service == "cloudformation":
		c.cloudFormation(w, r, name)
	case service == "sts":
		fmt.Fprintf(w, `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>arn:aws:iam::%[1]s:user/jo</Arn>`+
			`<Account>%[1]s</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`, c.Account)
	case service == "cloudwatch":
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		w.Header().Set("Content-Type", "application/cbor")
		_, _ = w.Write(cbor.Encode(c.cloudWatch(name))) // the client may be gone
	case service == "logs": // nothing is in them
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		fmt.Fprint(w, `{"events":[]}`)
	case service == "secretsmanager":
		c.secret(w, r)
	case action == "lambda:InvokeFunction":
		c.invoke(w, r)
	case service == "lambda" && c.Mappings != nil:
		c.Mappings.ServeHTTP(w, r)
	default:
		c.wire.ServeHTTP(w, r)
	}
}

// cloudWatch has no data. Each stack has one alarm, which is quiet.
func (c *Cloud) cloudWatch(name string) cbor.Map {
	if name != "DescribeAlarms" {
		return cbor.Map{}
	}
	var list cbor.List
	for _, s := range c.Stacks {
		list = append(list, cbor.Map{"AlarmName": cbor.String(s.Name + "-QueueAgeAlarm"), "StateValue": cbor.String("OK")})
	}
	return cbor.Map{"MetricAlarms": list}
}

// accessKey is in the signature of each request.
var accessKey = regexp.MustCompile(`Credential=(\w+)/`)

const invocations = "/2015-03-31/functions/"

// jsonServices are the services that are named in X-Amz-Target, and that the engine does not have.
var jsonServices = map[string]string{"secretsmanager": "secretsmanager", "Logs_20140328": "logs"}

// call returns what IAM asks for a request that the engine does not answer. It is empty for others.
func (c *Cloud) call(r *http.Request) iam.Call {
	path := r.URL.Path
	service, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	switch {
	case jsonServices[service] != "":
		var in struct{ SecretID, LogGroupName string }
		text, _ := io.ReadAll(r.Body) // of a client on this machine
		r.Body = io.NopCloser(bytes.NewReader(text))
		_ = json.Unmarshal(text, &in) // of the SDK
		resource := "logs:log-group:" + in.LogGroupName + ":*"
		if in.SecretID != "" {
			resource = "secretsmanager:secret:" + in.SecretID[strings.LastIndexByte(in.SecretID, ':')+1:]
		}
		return iam.Call{Action: jsonServices[service] + ":" + name, Resource: resource}
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded"):
		if r.FormValue("Action") == "GetCallerIdentity" {
			return iam.Call{Action: "sts:GetCallerIdentity"}
		}
		return iam.Call{Action: "cloudformation:" + r.FormValue("Action"),
			Resource: "cloudformation:stack/" + r.FormValue("StackName") + "/1"}
	case strings.HasPrefix(path, "/service/GraniteServiceVersion20100801/operation/"):
		return iam.Call{Action: "cloudwatch:" + path[strings.LastIndexByte(path, '/')+1:], Resource: "cloudwatch:*"}
	case strings.HasPrefix(path, invocations):
		return iam.Call{Action: "lambda:InvokeFunction", Resource: "lambda:function:" + functionOf(r)}
	case mappings.Answers(r):
		return iam.Call{Action: "lambda:" + mappingAction(r), Resource: "lambda:*"}
	case service == "" && r.URL.Query().Has("versions"):
		return iam.Call{Action: "s3:ListBucketVersions", Resource: "s3:" + strings.Trim(path, "/")}
	}
	return iam.Call{}
}

func functionOf(r *http.Request) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, invocations), "/")
	return name
}

// mappingAction returns the permission for a request about event source mappings.
func mappingAction(r *http.Request) string {
	id := strings.Trim(strings.TrimPrefix(r.URL.Path, mappings.Prefixes[0]), "/")
	switch tags := strings.HasPrefix(r.URL.Path, mappings.Prefixes[1]); {
	case strings.HasPrefix(r.URL.Path, mappings.Prefixes[2]):
		return "GetAccountSettings"
	case tags && r.Method == http.MethodGet:
		return "ListTags"
	case tags && r.Method == http.MethodPost:
		return "TagResource"
	case tags:
		return "UntagResource"
	case r.Method == http.MethodPut:
		return "UpdateEventSourceMapping"
	case id == "":
		return "ListEventSourceMappings"
	}
	return "GetEventSourceMapping"
}

// refuse answers with an error in the service's own form.
func refuse(w http.ResponseWriter, service, code, message string) {
	switch service {
	case "cloudwatch":
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		w.Header().Set("Content-Type", "application/cbor")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write(cbor.Encode(cbor.Map{"__type": cbor.String(code), "message": cbor.String(message)})) // the client may be gone
	case "cloudformation", "sts":
		fault(w, http.StatusForbidden, code, message)
	case "s3":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<Error><Code>%s</Code><Message>%s</Message></Error>`, code, escaped(message))
	default:
		w.Header().Set("X-Amzn-Errortype", code)
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "message": message}) // the client may be gone
	}
}

// cloudFormation describes a stack.
func (c *Cloud) cloudFormation(w http.ResponseWriter, r *http.Request, action string) {
	w.Header().Set("Content-Type", "text/xml")
	if action != "DescribeStacks" {
		fault(w, http.StatusBadRequest, "InvalidAction", "no action "+action)
		return
	}
	name := r.FormValue("StackName")
	for _, s := range c.Stacks {
		if s.Name == name {
			c.describe(w, s)
			return
		}
	}
	fault(w, http.StatusBadRequest, "ValidationError", "Stack with id "+name+" does not exist")
}

func (c *Cloud) secret(w http.ResponseWriter, r *http.Request) {
	var in struct{ SecretID string }
	_ = json.NewDecoder(r.Body).Decode(&in) // the SDK writes JSON
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	text, ok := c.Secrets[in.SecretID]
	answer := map[string]string{"ARN": in.SecretID, "SecretString": text}
	if !ok {
		w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException")
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]string{"message": "Secrets Manager can't find the specified secret."}
	}
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

func (c *Cloud) invoke(w http.ResponseWriter, r *http.Request) {
	payload, _ := io.ReadAll(r.Body) // of a client on this machine
	answer, problem := "null", ""
	if c.Invoke != nil {
		answer, problem = c.Invoke(functionOf(r), payload)
	}
	if problem != "" {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answer = problem
	}
	_, _ = io.WriteString(w, answer) // the client may be gone
}

func fault(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w,
		`<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
		code, escaped(message))
}

func escaped(text string) string {
	var s strings.Builder
	_ = xml.EscapeText(&s, []byte(text)) // into memory
	return s.String()
}

func (c *Cloud) describe(w http.ResponseWriter, s KnownStack) {
	fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>%s</StackName><StackStatus>%s</StackStatus>`,
		escaped(s.Name), cmp.Or(s.Status, "UPDATE_COMPLETE"))
	fmt.Fprintf(w,
		`<StackId>arn:aws:cloudformation:%s:%s:stack/%s/1</StackId><EnableTerminationProtection>%t</EnableTerminationProtection>`, c.Region,
		c.Account, escaped(s.Name), s.Protected)
	fmt.Fprint(w, `<Parameters>`)
	for name, value := range s.Parameters {
		fmt.Fprintf(w, `<member><ParameterKey>%s</ParameterKey><ParameterValue>%s</ParameterValue></member>`, escaped(name), escaped(value))
	}
	fmt.Fprint(w, `</Parameters><Outputs>`)
	for name, value := range s.Outputs {
		fmt.Fprintf(w, `<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>`, escaped(name), escaped(value))
	}
	fmt.Fprint(w, `</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
}
