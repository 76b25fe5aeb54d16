package docs

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// declaration is a resource as CloudFormation gets it, after the transform of SAM.
type declaration struct {
	kind string
	// properties are those that the resource has with these parameters, each as a text that tells
	// two values apart.
	properties map[string]string
	// policies are DeletionPolicy and UpdateReplacePolicy.
	policies map[string]string
}

// transformed returns the resources of a template with these parameters, by logical id.
//
// Of the transform of SAM it knows what the templates use
// (https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/sam-specification-generated-resources.html):
// a function gets the properties of Globals, and each of its events becomes a mapping, which is
// called as the function and the event. integration.TestWholeDeployment has SAM itself transform
// template.yaml.
func transformed(t *testing.T, file string, given map[string]string) map[string]declaration {
	t.Helper()
	tpl, all := opened(t, file, given), wholeOf(t, []byte(read(t, file)))
	f := former{t, tpl, map[string]bool{}}
	for _, r := range tpl.Resources() {
		if events := tpl.Property(r, "Events"); events != nil {
			for _, event := range events.Members {
				f.mappings[r.Name+event.Name] = true
			}
		}
	}
	resources := map[string]declaration{}
	for _, r := range tpl.Resources() {
		node := tpl.Get(all, "Resources", r.Name)
		d := declaration{r.Type, map[string]string{}, map[string]string{}}
		for _, policy := range []string{"DeletionPolicy", "UpdateReplacePolicy"} {
			if n := tpl.Get(node, policy); n != nil {
				d.policies[policy] = n.Text
			}
		}
		f.add(&d, tpl.Get(node, "Properties"))
		switch r.Type {
		case "AWS::Serverless::Function":
			d.kind = "AWS::Lambda::Function"
			f.add(&d, tpl.Get(all, "Globals", "Function"))
			delete(d.properties, "Events")
			f.events(resources, r.Name, tpl.Get(node, "Properties", "Events"))
		case "AWS::Serverless::StateMachine":
			d.kind = "AWS::StepFunctions::StateMachine"
		}
		resources[r.Name] = d
	}
	return resources
}

// events adds the mappings of a function.
func (f former) events(resources map[string]declaration, function string, events *template.Node) {
	if events == nil {
		return
	}
	for _, event := range events.Members {
		m := declaration{kind: "AWS::Lambda::EventSourceMapping", properties: map[string]string{"FunctionName": "!" + function}}
		f.add(&m, f.tpl.Get(event.Value, "Properties"))
		resources[function+event.Name] = m
	}
}

// former writes values of a template as texts.
type former struct {
	t   *testing.T
	tpl *template.Template
	// mappings are the resources that the transform adds.
	mappings map[string]bool
}

// renamed are the properties of SAM that have another name in CloudFormation.
var renamed = map[string]string{"AWS::Lambda::EventSourceMapping Stream": "EventSourceArn",
	"AWS::Lambda::EventSourceMapping Queue": "EventSourceArn", "AWS::Serverless::StateMachine Name": "StateMachineName"}

func (f former) add(d *declaration, properties *template.Node) {
	if properties == nil {
		return
	}
	for _, m := range properties.Members {
		name := m.Name
		if other := renamed[d.kind+" "+name]; other != "" {
			name = other
		}
		if text := f.form(m.Value); text != "" {
			d.properties[name] += text
		}
	}
}

var substituted = regexp.MustCompile(`\$\{([^!}]+)\}`)

// form returns the text of a value. It is empty for AWS::NoValue.
func (f former) form(n *template.Node) string {
	switch {
	case n == nil:
		return ""
	case n.Kind == template.Scalar:
		return strconv.Quote(n.Text)
	case n.Kind == template.Reference:
		return "!" + strings.TrimSuffix(n.Name+"."+n.Attribute, ".")
	case n.Kind == template.List:
		var items []string
		for _, item := range n.Items {
			items = append(items, f.form(item))
		}
		return "[" + strings.Join(slices.DeleteFunc(items, func(text string) bool { return text == "" }), " ") + "]"
	case n.Kind == template.Map:
		text := "{"
		for _, m := range n.Members {
			if value := f.form(m.Value); value != "" {
				text += m.Name + ": " + value + " "
			}
		}
		return text + "}"
	case n.Kind == template.Call && n.Name == "Ref" && f.isKnown(n.Argument.Text):
		return "!" + n.Argument.Text
	case n.Kind == template.Call && n.Name == "Fn::If":
		return f.form(f.branch(n.Argument.Items))
	case n.Kind == template.Call && n.Name == "Fn::Sub":
		return f.substitute(n.Argument)
	case n.Kind == template.Call && (n.Name == "Ref" || n.Name == "Fn::GetAtt"):
		return f.form(f.tpl.Resolve(n))
	case n.Kind == template.Call:
		return n.Name + f.form(n.Argument)
	}
	f.t.Fatalf("line %d: %s", n.Line, n.Why)
	return ""
}

// isKnown reports whether a name is one of those that the template does not declare.
func (f former) isKnown(name string) bool {
	return f.mappings[name] || strings.HasPrefix(name, "AWS::") && name != "AWS::NoValue"
}

// branch returns the value that an Fn::If chooses, as it stands in the file.
func (f former) branch(items []*template.Node) *template.Node {
	number := func(i int) *template.Node { return &template.Node{Kind: template.Scalar, Text: strconv.Itoa(i)} }
	chosen := f.tpl.Resolve(&template.Node{Position: items[0].Position, Kind: template.Call, Name: "Fn::If",
		Argument: &template.Node{Kind: template.List, Items: []*template.Node{items[0], number(1), number(2)}}})
	i, err := strconv.Atoi(chosen.Text)
	must.Succeed(f.t, err)
	return items[i]
}

func (f former) substitute(argument *template.Node) string {
	text, own := argument, (*template.Node)(nil)
	if len(argument.Items) == 2 {
		text, own = argument.Items[0], argument.Items[1]
	}
	return strconv.Quote(substituted.ReplaceAllStringFunc(text.Text, func(variable string) string {
		name := substituted.FindStringSubmatch(variable)[1]
		if m := own.Member(name); m != nil {
			return f.form(m.Value)
		}
		function := "Ref"
		if strings.Contains(name, ".") {
			function = "Fn::GetAtt"
		}
		return f.form(&template.Node{Position: argument.Position, Kind: template.Call, Name: function,
			Argument: &template.Node{Kind: template.Scalar, Text: name}})
	}))
}

// schema is what testdata/schemas.json has of the schema of a type.
type schema struct {
	CreateOnly  []string `json:"createOnlyProperties"`
	Conditional []string `json:"conditionalCreateOnlyProperties"`
	Identifier  []string `json:"primaryIdentifier"`
}

func schemas(t *testing.T) map[string]schema {
	t.Helper()
	var file struct{ Types map[string]schema }
	must.Succeed(t, json.Unmarshal(must.Read(t, "testdata/schemas.json"), &file))
	return file.Types
}
