package docs

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// decided are the roles of the templates, and the parameters that decide about their statements.
var decided = []struct {
	role, file string
	when       map[iam.When]map[string]string
}{
	{"IngestRole", "template.yaml", map[iam.When]map[string]string{iam.Payloads: {"Payloads": "keep"},
		iam.Pointers: {"PointerBucket": "pointers"}}},
	{"StreamsRole", "template.yaml", map[iam.When]map[string]string{iam.Payloads: {"Payloads": "keep"}}},
	{"CaptureRole", "cmd/migrate/template.yaml", map[iam.When]map[string]string{iam.Payloads: {"PayloadBucket": stack.Payloads},
		iam.Back: {"EventsStreamArn": "arn:aws:dynamodb:r:1:table/events/stream/x"}}},
	{"PublishRole", "cmd/publish/template.yaml", map[iam.When]map[string]string{iam.Payloads: {"PayloadBucket": stack.Payloads}}},
	{"WorkerRole", "cmd/worker/template.yaml", map[iam.When]map[string]string{iam.Old: {"OldTable": "old"},
		iam.Payloads: {"OldTable": "old", "PayloadBucket": stack.Payloads}}},
}

// The roles by which requests to the engine are judged are those of the templates.
func TestRolesAreThoseOfTheTemplates(t *testing.T) {
	var all []iam.RoleInTemplate
	for _, d := range decided {
		r := iam.RoleInTemplate{Name: d.role}
		seen := map[string]bool{}
		for _, when := range []iam.When{"", iam.Old, iam.Back, iam.Pointers, iam.Payloads} {
			given, decides := d.when[when]
			if !decides && when != "" {
				continue
			}
			for _, s := range statementsOf(t, opened(t, d.file, given), d.role) {
				key, err := json.Marshal(s)
				must.Succeed(t, err)
				if !seen[string(key)] {
					seen[string(key)] = true
					r.Statements = append(r.Statements, iam.StatementInTemplate{When: when, Statement: s})
				}
			}
		}
		all = append(all, r)
	}
	text, err := json.MarshalIndent(all, "", " ")
	must.Succeed(t, err)
	golden.File(t, filepath.Join(root, "internal/local/iam/roles.json"), string(text)+"\n")
}

func statementsOf(t *testing.T, tpl *template.Template, role string) (list []iam.Statement) {
	t.Helper()
	for _, policy := range tpl.Property(tpl.Resource(role), "Policies").Items {
		for _, n := range tpl.Items(tpl.Get(policy, "PolicyDocument", "Statement")) {
			s := iam.Statement{Actions: textsOf(tpl, tpl.Get(n, "Action"))}
			on := n.Member("Resource").Value
			if on.Kind != template.List {
				on = &template.Node{Items: []*template.Node{on}}
			}
			for _, resource := range on.Items {
				s.Resources = append(s.Resources, resourceOf(resource))
			}
			for _, operator := range []string{"StringEquals", "StringLike"} {
				if keys := tpl.Get(n, "Condition", "ForAllValues:"+operator, "dynamodb:LeadingKeys"); keys != nil {
					s.Keys = textsOf(tpl, keys)
				}
			}
			if namespace := tpl.Get(n, "Condition", "StringEquals", "cloudwatch:namespace"); namespace != nil {
				s.Keys = textsOf(tpl, namespace)
			}
			list = append(list, s)
		}
	}
	return list
}

// rightsOf lists what a role allows: actions, with what they are allowed on.
func rightsOf(t *testing.T, tpl *template.Template, role string) (list []string) {
	t.Helper()
	for _, r := range (&iam.Role{Statements: statementsOf(t, tpl, role)}).Rights() {
		list = append(list, r.Action+" "+r.On)
	}
	slices.Sort(list)
	return list
}

// Who reads and writes what is encrypted with a key of one's own is allowed to use that key, and
// without one no role has a right of a key. The state machine changes an item, and makes no key.
func TestRightsOfKeys(t *testing.T) {
	want := []string{"MachineRole kms:Decrypt KmsKeyArn", "PublishRole kms:Decrypt TargetKmsKeyArn",
		"PublishRole kms:GenerateDataKey TargetKmsKeyArn"}
	for _, d := range decided {
		want = append(want, d.role+" kms:Decrypt KmsKeyArn", d.role+" kms:GenerateDataKey KmsKeyArn")
	}
	var got []string
	roles := 2 // those of the state machine and of its schedule
	for _, file := range templates {
		for _, parameter := range []string{"", "KmsKeyArn", "TargetKmsKeyArn"} {
			given := map[string]string{parameter: ownKey}
			if parameter == "" {
				given = nil
			} else if !strings.Contains(read(t, file), "\n  "+parameter+":") {
				continue
			}
			tpl := opened(t, file, given)
			for _, r := range tpl.Resources() {
				if r.Type != "AWS::IAM::Role" {
					continue
				}
				if given == nil {
					roles--
				}
				for _, right := range rightsOf(t, tpl, r.Name) {
					if !strings.HasPrefix(right, "kms:") {
						continue
					}
					if got = append(got, r.Name+" "+right); given == nil || !strings.HasSuffix(right, " "+parameter) {
						t.Errorf("with %q, %s has %s", parameter, r.Name, right)
					}
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	must.Match(t, got, want)
	must.Equal(t, roles+len(decided), 0, "tests do not know the rights of every role")
}

func itemsOf(tpl *template.Template, n *template.Node) []*template.Node {
	if n.Kind == template.List {
		return tpl.Items(n)
	}
	return []*template.Node{n}
}

func textsOf(tpl *template.Template, n *template.Node) (list []string) {
	for _, item := range itemsOf(tpl, n) {
		list = append(list, item.Text)
	}
	return list
}

// resources are the names of the world for what the templates name.
var resources = strings.NewReplacer("EventsTable.StreamArn", "dynamodb:table/events/stream/*",
	"EventsStreamArn", "dynamodb:table/events/stream/*", "OldStreamArn", "dynamodb:table/old/stream/*",
	"EventsTable.Arn", "dynamodb:table/events", "AggregatesTable.Arn", "dynamodb:table/totals", "${EventsTable}", "events",
	"${AggregatesTable}", "totals", "${OldTable}", "old", "IngestQueue.Arn", "sqs:events*",
	"QuarantineQueue.Arn", "sqs:quarantine", "${ArchiveBucket.Arn}", "s3:archive", "${PayloadBucket.Arn}", "s3:payloads",
	"PayloadBucket.Arn", "s3:payloads", "${PayloadBucket}", "payloads", "${PointerBucket}", "large*", "PublishTo", "sqs:next", "${Name}",
	"quarantine", "${WorkBucket.Arn}", "s3:work", "WorkBucket.Arn", "s3:work")

var region = regexp.MustCompile(`arn:\$\{AWS::Partition\}:(\w+):(?:\$\{AWS::Region\})?:(?:\$\{AWS::AccountId\})?:`)

// resourceOf returns the resource that a node names: the text of an ARN, or what a function reads,
// as in "EventsTable.Arn".
func resourceOf(n *template.Node) string {
	text := n.Text
	if n.Kind == template.Call {
		text = n.Argument.Text
		for i, item := range n.Argument.Items {
			if i == 0 {
				text = item.Text
			} else if n.Name == "Fn::GetAtt" {
				text += "." + item.Text
			}
		}
	}
	return resources.Replace(region.ReplaceAllString(text, "$1:"))
}

// dynamodb:ListStreams knows no resources: on a stream, a statement allows nothing (Service
// Authorization Reference, DynamoDB). Rights of X-Ray are for functions that can be traced.
func TestRightsWithoutResources(t *testing.T) {
	for _, d := range decided {
		text := read(t, d.file)
		for _, given := range append(slices.Collect(maps.Values(d.when)), nil) {
			for _, s := range statementsOf(t, opened(t, d.file, given), d.role) {
				if slices.Contains(s.Actions, "dynamodb:ListStreams") {
					must.Match(t, s.Resources, []string{"*"})
				}
				if strings.HasPrefix(s.Actions[0], "xray:") && !strings.Contains(text, "\n    Tracing: ") {
					t.Errorf("%s allows %v, and its function is not traced", d.role, s.Actions)
				}
			}
		}
	}
}
