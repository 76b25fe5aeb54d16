package docs

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/prove/peers/cloudformation"
)

// answers are what AWS says of stacks that were deleted: two of the name that the page has, of
// which the second is the last, and one of another name.
const answers = `
aws() {
  echo "aws $*" >> calls
  case "$2" in
  list-stacks) echo '{"StackSummaries": [
    {"StackName": "shop", "StackId": "shop/first", "DeletionTime": "2026-03-01T10:00:00Z"},
    {"StackName": "shop", "StackId": "shop/last", "DeletionTime": "2026-03-02T10:00:00Z"},
    {"StackName": "other", "StackId": "other/last", "DeletionTime": "2026-03-03T10:00:00Z"}]}' ;;
  describe-stacks) cat parameters-of-old ;;
  get-template) cat template-of-old ;;
  list-stack-resources) cat resources-of-old ;;
  esac
}
make() { echo "make $*" >> calls; }
`

// imported is a resource that an import names (CloudFormation API Reference, "ResourceToImport").
type imported struct {
	Kind string            `json:"ResourceType"`
	Name string            `json:"LogicalResourceId"`
	ID   map[string]string `json:"ResourceIdentifier"`
}

// TestTakingOverTables runs the commands with which a new stack takes over what an old one left,
// and checks what they hand to CloudFormation by the rules of an import (CloudFormation User Guide,
// "Import AWS resources into a CloudFormation stack"): the template has no outputs, each of its
// resources has a DeletionPolicy and is imported, and each is identified by what the schema of its
// type says.
func TestTakingOverTables(t *testing.T) {
	need(t, "bash", "jq")
	for name, c := range map[string]struct {
		given            map[string]string
		buckets, secrets int
	}{
		"as it is":                {nil, 1, 1},
		"payloads":                {map[string]string{"Payloads": "keep"}, 2, 1},
		"what others have made":   {map[string]string{"Payloads": "keep", "ExistingPayloadBucket": "old", "PiiKeySecretArn": "arn"}, 1, 0},
		"protection from removal": {map[string]string{"DeletionProtection": "true"}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			kinds := testTakeOver(t, c.given)
			must.Equal(t, kinds["AWS::DynamoDB::Table"], 2)
			must.Equal(t, kinds["AWS::SQS::Queue"], 3)
			must.Equal(t, kinds["AWS::S3::Bucket"], c.buckets)
			must.Equal(t, kinds["AWS::SecretsManager::Secret"], c.secrets)
		})
	}
}

// testTakeOver returns how many resources of each type are imported.
func testTakeOver(t *testing.T, given map[string]string) (kinds map[string]int) {
	dir := t.TempDir()
	deleted := oldStack(t, dir, given)
	run(t, dir, "bash", "-euc", answers+takingOver(t))
	file := func(name string) []byte { return must.Read(t, filepath.Join(dir, name)) }
	calls := string(file("calls"))
	must.Say(t, calls, "get-template --stack-name shop/last --template-stage Processed ", "list-stack-resources --stack-name shop/last\n",
		"create-change-set --stack-name shop --change-set-name take-over --change-set-type IMPORT --template-body file://template.json "+
			"--parameters file://parameters.json --resources-to-import file://import.json\n",
		"execute-change-set --stack-name shop --change-set-name take-over\n", "make deploy ")
	must.Match(t, file("parameters.json"), file("parameters-of-old"))

	var list []imported
	must.Succeed(t, json.Unmarshal(file("import.json"), &list))
	text := file("template.json")
	if len(text) > 51_200 { // of --template-body (CloudFormation User Guide, "Understand CloudFormation quotas")
		t.Errorf("the template has %d bytes", len(text))
	}
	checkImport(t, text, given, importedNames(t, list, deleted))
	kinds = map[string]int{}
	for _, r := range list {
		kinds[r.Kind]++
	}
	return kinds
}

// takingOver returns the commands of the page.
func takingOver(t *testing.T) string {
	t.Helper()
	section := between(t, repairPage, "\n### Taking over tables\n", "\n## ")
	commands := ""
	for _, b := range blocksOf(t, repairPage, "sh") {
		if strings.Contains(section, b.text) {
			commands += b.text
		}
	}
	return commands
}

// oldStack writes what AWS says of the deleted stack, and returns its resources with their types.
func oldStack(t *testing.T, dir string, given map[string]string) map[string]declaration {
	t.Helper()
	write := func(name string, value any) {
		text, err := json.Marshal(value)
		must.Succeed(t, err)
		must.Write(t, filepath.Join(dir, name), string(text))
	}
	old := cloudformation.JSON(wholeOf(t, []byte(read(t, sampleshop.Template)))).(map[string]any)
	delete(old, "Transform") // what the transform takes away
	delete(old, "Globals")
	write("template-of-old", old)
	parameters := []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		parameters = append(parameters, map[string]string{"ParameterKey": name, "ParameterValue": given[name]})
	}
	write("parameters-of-old", parameters)
	resources, listed := transformed(t, sampleshop.Template, given), []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(resources)) {
		status := "DELETE_COMPLETE"
		if strings.HasPrefix(resources[name].policies["DeletionPolicy"], "Retain") {
			status = "DELETE_SKIPPED"
		}
		listed = append(listed, map[string]string{"LogicalResourceId": name, "ResourceType": resources[name].kind,
			"PhysicalResourceId": "the " + name, "ResourceStatus": status})
	}
	write("resources-of-old", map[string]any{"StackResourceSummaries": listed})
	return resources
}

// importedNames returns the logical ids of what is imported.
func importedNames(t *testing.T, list []imported, deleted map[string]declaration) (names []string) {
	t.Helper()
	known := schemas(t)
	for _, r := range list {
		id, found := strings.CutPrefix(known[r.Kind].Identifier[0], "/properties/")
		must.Equal(t, found, true)
		must.Match(t, r.ID, map[string]string{id: "the " + r.Name}, r.Name)
		must.Equal(t, r.Kind, deleted[r.Name].kind)
		names = append(names, r.Name)
	}
	return names
}

// checkImport checks the template of an import. A resource is identified by the import alone: if
// the template had its name too, the deployment that follows would take it away, and so replace the
// resource. (The CDK imports without names too:
// https://docs.aws.amazon.com/cdk/v2/guide/ref-cli-cmd-import.html.)
func checkImport(t *testing.T, text []byte, given map[string]string, names []string) {
	t.Helper()
	tpl := openedText(t, text, given)
	outputs, _ := tpl.Outputs()
	must.Equal(t, len(outputs), 0)
	all, declared := wholeOf(t, text), wholeOf(t, []byte(read(t, sampleshop.Template)))
	known, inTemplate := schemas(t), []string{}
	for _, r := range tpl.Resources() {
		inTemplate = append(inTemplate, r.Name)
		node := tpl.Get(all, "Resources", r.Name)
		must.Equal(t, tpl.Get(node, "DeletionPolicy").Text, "Retain", r.Name) // a failed import deletes nothing
		properties := tpl.Get(node, "Properties")
		for _, m := range properties.Members {
			must.Equal(t, slices.Contains(known[r.Type].CreateOnly, "/properties/"+m.Name), false, r.Name, "has", m.Name)
		}
		former{t, tpl, nil}.form(properties) // refers to nothing that is not there
		must.Match(t, cloudformation.JSON(properties), cloudformation.JSON(tpl.Get(declared, "Resources", r.Name, "Properties")), r.Name)
	}
	slices.Sort(inTemplate)
	must.Match(t, inTemplate, names)
}
