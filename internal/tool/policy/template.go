package policy

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// Template is what a template makes, whatever its parameters are.
type Template struct {
	resources []resource
	// secret says that it reads a secret of Secrets Manager while it is deployed.
	secret bool
}

// resource has the name that the template gives it. If that is empty, CloudFormation names it.
type resource struct{ kind, id, name string }

// named says how an ARN names a resource, and which property of a template sets the name.
type named struct{ service, before, property string }

// kinds are the types of resources of Ingot's templates. Those without a service have no name.
var kinds = map[string]named{
	"AWS::CloudWatch::Alarm":           {"cloudwatch", "alarm:", "AlarmName"},
	"AWS::CloudWatch::CompositeAlarm":  {"cloudwatch", "alarm:", "AlarmName"},
	"AWS::CloudWatch::Dashboard":       {"cloudwatch", "dashboard/", "DashboardName"},
	"AWS::DynamoDB::Table":             {"dynamodb", "table/", "TableName"},
	"AWS::IAM::Role":                   {"iam", "role/", "RoleName"},
	"AWS::Lambda::EventSourceMapping":  {},
	"AWS::Logs::LogGroup":              {"logs", "log-group:", "LogGroupName"},
	"AWS::S3::Bucket":                  {"s3", "", "BucketName"},
	"AWS::S3::BucketPolicy":            {},
	"AWS::SQS::Queue":                  {"sqs", "", "QueueName"},
	"AWS::SQS::QueuePolicy":            {},
	"AWS::SecretsManager::Secret":      {"secretsmanager", "secret:", "Name"},
	"AWS::Scheduler::Schedule":         {"scheduler", "schedule/default/", "Name"},
	"AWS::Serverless::Function":        {"lambda", "function:", "FunctionName"},
	"AWS::Serverless::StateMachine":    {"states", "stateMachine:", "Name"},
	"AWS::StepFunctions::StateMachine": {"states", "stateMachine:", "StateMachineName"},
}

// ReadTemplate reads a template. The error is a [*template.SyntaxError].
func ReadTemplate(text []byte) (*Template, error) {
	root, err := template.Read(text)
	if err != nil {
		return nil, err
	}
	t := &Template{secret: bytes.Contains(text, []byte("{{resolve:secretsmanager:"))}
	for _, m := range membersOf(root, "Resources") {
		kind := ""
		if n := m.Value.Value("Type"); n != nil {
			kind = n.Text
		}
		r := resource{kind: kind, id: m.Name}
		for _, p := range membersOf(m.Value, "Properties") {
			if p.Name == kinds[kind].property && p.Value != nil {
				r.name = nameIn(p.Value, m.Name)
			}
		}
		t.resources = append(t.resources, r)
	}
	return t, nil
}

func membersOf(n *template.Node, name string) []template.Member {
	if v := n.Value(name); v != nil {
		return v.Members
	}
	return nil
}

// nameIn returns the name that a template gives, with the variables of a stack. A name that depends
// on anything else gets a placeholder.
func nameIn(n *template.Node, id string) string {
	text := n.Text
	if n.Kind == template.Call && n.Name == "Fn::Sub" && n.Argument != nil {
		text = n.Argument.Text
	}
	if text == "" || strings.Contains(stackVariables.Replace(text), "${") {
		return "NAME-OF-" + id
	}
	return text
}

// stackVariables are the variables of a name that this package knows.
var stackVariables = strings.NewReplacer("${AWS::StackName}", "", "${AWS::Region}", "", "${AWS::AccountId}", "")

// Unknown returns the resources whose types are not among those of Ingot's templates, as
// "ID (TYPE)".
func (t *Template) Unknown() (list []string) {
	for _, r := range t.resources {
		if _, ok := kinds[r.kind]; !ok {
			list = append(list, r.id+" ("+r.kind+")")
		}
	}
	return list
}

// deployment is a stack and what its template makes.
type deployment struct {
	ARNs
	*Template
}

// of returns the ARNs of the resources of some types. CloudFormation names a resource
// STACK-LOGICALID-RANDOM, and a secret LOGICALID-RANDOM; bucket names are in lower case
// (CloudFormation User Guide, "Name type"). So STACK-* would cover the stack STACK-dev too.
func (d deployment) of(types ...string) (list []string) {
	for _, r := range d.resources {
		if !slices.Contains(types, r.kind) {
			continue
		}
		name := r.name
		switch k := kinds[r.kind]; {
		case name != "":
			name = strings.NewReplacer("${AWS::StackName}", d.stack, "${AWS::Region}", d.region, "${AWS::AccountId}",
				d.account).Replace(name)
		case k.service == "secretsmanager":
			name = r.id + "-*"
		case k.service == "cloudwatch":
			name = d.stack + "-" + firstWord.FindString(r.id) + "*"
		case k.service == "s3":
			name = strings.ToLower(d.stack+"-"+r.id) + "-*"
			if d.stack == "STACK" {
				name = "STACK-IN-LOWER-CASE-" + strings.ToLower(r.id) + "-*"
			}
		default:
			name = d.stack + "-" + r.id + "-*"
		}
		if arn := d.named(kinds[r.kind], name); !slices.Contains(list, arn) {
			list = append(list, arn)
		}
	}
	return list
}

// firstWord is the first word of a logical id. Alarms are named by it alone: a policy with all of
// them would be longer than IAM allows.
var firstWord = regexp.MustCompile(`^[^a-z]*[a-z0-9]*`)

// named returns the ARN of a resource.
func (d deployment) named(k named, name string) string {
	switch {
	case k.service == "s3":
		return d.bucket(name)
	case k.service == "iam", k.before == "dashboard/":
		return d.global(k.service, k.before+name)
	}
	return d.arn(k.service, k.before+name)
}
