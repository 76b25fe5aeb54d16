package docs

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

const changingPage = "docs/changing.md"

// change is a change of one parameter of a live stack.
type change struct {
	parameter, from, to string
	with                string // another parameter and its value, without which the change does nothing
}

// changes are those of the table, in the order of template.yaml.
var changes = []change{
	{"Counting", "marks", "receipts", ""},
	{"MaximumConcurrency", "10", "50", ""},
	{"MinimumPollers", "0", "10", ""},
	{"MinimumPollers", "10", "20", ""},
	{"MaximumPollers", "200", "400", "MinimumPollers=10"},
	{"Architecture", "arm64", "x86_64", ""},
	{"MemorySize", "576", "1024", ""},
	{"LogLevel", "INFO", "DEBUG", ""},
	{"LogRetentionDays", "30", "7", ""},
	{"PiiKeySecretArn", "", "A", ""},
	{"PiiKeySecretArn", "A", "B", ""},
	{"Archive", "batches", "objects", ""},
	{"Archive", "batches", "none", ""},
	{"ArchiveDays", "0", "90", ""},
	{"Payloads", "none", "keep", ""},
	{"Payloads", "none", "keep", "ExistingPayloadBucket=A"},
	{"ExistingPayloadBucket", "", "A", "Payloads=keep"},
	{"ExistingPayloadBucket", "A", "B", "Payloads=keep"},
	{"PointerBucket", "", "A", ""},
	{"PointerBucket", "A", "B", ""},
	{"DeletionProtection", "false", "true", ""},
	{"KmsKeyArn", "", "A", ""},
	{"KmsKeyArn", "A", "B", ""},
	{"PermissionsBoundaryArn", "", "A", ""},
	{"PermissionsBoundaryArn", "A", "B", ""},
	{"ThrottledKeys", "hidden", "shown", ""},
	{"MaxReadUnits", "0", "1000", ""},
	{"MaxWriteUnits", "0", "1000", ""},
	{"Tracing", "PassThrough", "Active", ""},
	{"AlarmTopicArn", "", "A", ""},
	{"AlarmTopicArn", "A", "B", ""},
	{"EndpointUrl", "", "A", ""},
}

// effect is what CloudFormation does to the resources of a stack.
type effect struct{ updated, replaced, made, deleted, left []string }

// holdsData are the types that no change may replace or delete.
var holdsData = []string{"AWS::DynamoDB::Table", "AWS::SQS::Queue", "AWS::S3::Bucket", "AWS::SecretsManager::Secret"}

// effectOf compares the resources before and after a change. What becomes of a resource that leaves
// the stack, or that is replaced, is in its policies (CloudFormation Template Reference,
// "DeletionPolicy attribute" and "UpdateReplacePolicy attribute").
func effectOf(t *testing.T, before, after map[string]declaration) (e effect) {
	t.Helper()
	e.replaced = replacedIn(t, before, after)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was := before[name]
		is, stays := after[name]
		switch {
		case !stays && strings.HasPrefix(was.policies["DeletionPolicy"], "Retain"):
			e.left = append(e.left, name)
		case !stays:
			must.Equal(t, slices.Contains(holdsData, was.kind), false, name, "would be deleted")
			e.deleted = append(e.deleted, name)
		case slices.Contains(e.replaced, name):
			must.Equal(t, was.policies["UpdateReplacePolicy"], "", name, "is replaced, and the table says that the old one is deleted")
			must.Equal(t, slices.Contains(holdsData, was.kind), false, name, "would be replaced")
		case len(changed(was, is, e.replaced)) > 0:
			e.updated = append(e.updated, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, was := before[name]; !was {
			e.made = append(e.made, name)
		}
	}
	return e
}

// replacedIn returns the resources that are replaced: one of the properties changes that the schema
// of their type calls create-only, "Update requires: Replacement" (CloudFormation User Guide,
// "Understand update behaviors of stack resources").
func replacedIn(t *testing.T, before, after map[string]declaration) (replaced []string) {
	t.Helper()
	known := schemas(t)
	for n := -1; n < len(replaced); { // until no other one follows from those
		n = len(replaced)
		for _, name := range slices.Sorted(maps.Keys(before)) {
			was, is := before[name], after[name]
			s, found := known[was.kind]
			if !found {
				t.Fatalf("testdata/schemas.json lacks %s", was.kind)
			}
			needed := slices.ContainsFunc(changed(was, is, replaced), func(property string) bool {
				return slices.Contains(slices.Concat(s.CreateOnly, s.Conditional), "/properties/"+property)
			})
			if is.kind != "" && needed && !slices.Contains(replaced, name) {
				replaced = append(replaced, name)
			}
		}
	}
	return replaced
}

// changed returns the properties that change, also because what they refer to is replaced.
func changed(was, is declaration, replaced []string) (properties []string) {
	all := maps.Clone(was.properties)
	maps.Copy(all, is.properties)
	for property := range all {
		text := is.properties[property]
		for _, name := range replaced {
			text = regexp.MustCompile(`!`+name+`\b`).ReplaceAllString(text, "the new $0")
		}
		if text != was.properties[property] {
			properties = append(properties, property)
		}
	}
	return properties
}

// String leaves out what is updated in place, unless that is all.
func (e effect) String() string {
	var parts []string
	for _, p := range []struct {
		does  string
		names []string
	}{{"replaces %s, and deletes the old one", e.replaced}, {"makes %s", e.made}, {"deletes %s", e.deleted},
		{"leaves %s in the account, outside the stack", e.left}} {
		if names := listed(p.names); names != "" {
			parts = append(parts, fmt.Sprintf(p.does, names))
		}
	}
	if len(parts) == 0 && len(e.updated) > 0 {
		return "updates in place"
	}
	return strings.Join(parts, "; ")
}

// listed lists resources. More than three alarms are named together.
func listed(names []string) string {
	isAlarm := func(name string) bool { return strings.HasSuffix(name, "Alarm") }
	others := slices.DeleteFunc(slices.Clone(names), isAlarm)
	alarms := len(names) - len(others)
	if alarms <= 3 {
		others = names
	}
	list := ""
	for _, name := range others {
		list += ", `" + name + "`"
	}
	if alarms > 3 {
		list += ", the alarms"
	}
	return strings.TrimPrefix(list, ", ")
}

// parameters returns both sets of parameters of a change.
func (c change) parameters() (from, to map[string]string) {
	from, to = map[string]string{c.parameter: c.from}, map[string]string{c.parameter: c.to}
	if name, value, given := strings.Cut(c.with, "="); given {
		from[name], to[name] = value, value
	}
	return from, to
}

// rowsOf returns what is computed of the rows of some changes of one parameter: the change, and
// what CloudFormation does. If all of them do the same, they have one row.
func rowsOf(t *testing.T, all []change) (rows [][]string) {
	t.Helper()
	same := true
	for _, c := range all {
		from, to := c.parameters()
		before, after := transformed(t, sampleshop.Template, from), transformed(t, sampleshop.Template, to)
		there, back := effectOf(t, before, after).String(), effectOf(t, after, before).String()
		if there == back {
			rows = append(rows, []string{c.name() + ", or back", there})
		} else {
			back := []string{change{c.parameter, c.to, c.from, c.with}.name(), back}
			rows = append(rows, []string{c.name(), there}, back)
		}
		same = same && there == back && there == rows[0][1]
	}
	if same {
		return [][]string{{"`" + all[0].parameter + "`" + all[0].beside(), rows[0][1]}}
	}
	return rows
}

func (c change) name() string {
	value := func(text string) string {
		if text == "" {
			return "empty"
		}
		return "`" + text + "`"
	}
	return fmt.Sprintf("`%s`: %s to %s", c.parameter, value(c.from), value(c.to)) + c.beside()
}

func (c change) beside() string {
	if c.with == "" {
		return ""
	}
	return ", with `" + c.with + "`"
}

// TestChangesOfParameters computes what a change of each parameter does to a live stack, and
// compares it with the table of docs/changing.md. The last column says what that means: it is
// written by hand, and -update keeps it.
func TestChangesOfParameters(t *testing.T) {
	var rows [][]string
	seen := map[string][]string{}
	for rest := changes; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(c change) bool { return c.parameter != rest[0].parameter })
		if n < 0 {
			n = len(rest)
		}
		rows = append(rows, rowsOf(t, rest[:n])...)
		for _, c := range rest[:n] {
			seen[c.parameter] = append(seen[c.parameter], c.from, c.to)
		}
		rest = rest[n:]
	}
	for _, p := range opened(t, sampleshop.Template, nil).Parameters() {
		if len(seen[p.Name]) == 0 {
			t.Errorf("no row changes %s", p.Name)
		}
		for _, value := range p.Allowed {
			if len(p.Allowed) <= 3 && !slices.Contains(seen[p.Name], value) {
				t.Errorf("no row changes %s to %s", p.Name, value)
			}
		}
	}
	compareRows(t, "changes of parameters", rows)
}

// TestChangesOfParametersBeside is the same for the templates of the other stacks. Their table has
// only the changes that do more than update resources in place.
func TestChangesOfParametersBeside(t *testing.T) {
	var rows [][]string
	for _, stack := range []string{"migrate", "publish", "worker"} {
		file := "cmd/" + stack + "/template.yaml"
		declared := wholeOf(t, []byte(read(t, file))).Member("Parameters").Value
		given := map[string]string{}
		for _, m := range declared.Members {
			if m.Value.Member("Default") == nil {
				given[m.Name] = "x"
			}
		}
		for _, m := range declared.Members {
			for _, values := range samples(m.Value) {
				from, to := maps.Clone(given), maps.Clone(given)
				from[m.Name], to[m.Name] = values[0], values[1]
				e := effectOf(t, transformed(t, file, from), transformed(t, file, to))
				if len(e.replaced)+len(e.made)+len(e.deleted)+len(e.left) > 0 {
					name := strings.Replace(change{m.Name, values[0], values[1], ""}.name(), "`: ", "` of "+stack+": ", 1)
					rows = append(rows, []string{name, e.String()})
				}
			}
		}
	}
	compareRows(t, "changes of parameters beside", rows)
}

// samples returns changes of a parameter: from each allowed value to each other one, or between
// empty, if it may be empty, and two values.
func samples(parameter *template.Node) (list [][2]string) {
	values := []string{"A", "B"}
	if m := parameter.Member("Default"); m != nil {
		if values = append(values, m.Value.Text); m.Value.Text != "" {
			values = values[2:]
		}
		if n, err := strconv.Atoi(m.Value.Text); err == nil {
			values = append(values, strconv.Itoa(n+1))
		}
	}
	if m := parameter.Member("AllowedValues"); m != nil {
		values = nil
		for _, item := range m.Value.Items {
			values = append(values, item.Text)
		}
	}
	for _, from := range values {
		for _, to := range values {
			if from != to && [2]string{from, to} != [2]string{"B", "A"} && !(to == "" && from == "B") && !(from == "" && to == "B") {
				list = append(list, [2]string{from, to})
			}
		}
	}
	return list
}

// compareRows compares the first columns of a table of docs/changing.md. The last one must not be
// empty. Under -update it writes the first ones again.
func compareRows(t *testing.T, marker string, rows [][]string) {
	t.Helper()
	means := map[string]string{}
	shown := table(t, changingPage, marker)
	for _, row := range shown {
		if row[2] == "" {
			t.Errorf("%s: what does it mean?", row[0])
		}
		means[row[0]] = row[2]
	}
	for i, row := range rows {
		rows[i] = append(row, means[row[0]])
	}
	if golden.Update() {
		golden.File(t, filepath.Join(root, changingPage), strings.Replace(read(t, changingPage), asText(shown), asText(rows), 1))
		return
	}
	compareTable(t, changingPage, marker, rows)
}
