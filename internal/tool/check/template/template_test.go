package template

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const sample = `Parameters:
  Size: {Type: Number, Default: 7, AllowedValues: [7, 8]}
  Open: {Type: String}
  Zones: {Type: CommaDelimitedList, Default: "a, b"}
  Image: {Type: "AWS::SSM::Parameter::Value<String>", Default: /path}
Mappings:
  ByStage: {prod: {Timeout: 30}}
Conditions:
  Seven: !Equals [!Ref Size, 7]
  NotSeven: !Not [!Condition Seven]
  Either: !Or [!Equals [!Ref Open, x], Condition: Seven]
  Both: !And [!Equals [!Ref Open, x], !Condition NotSeven]
  Doubt: !And [!Equals [!Ref Open, x], !Condition Seven]
  Round: !Not [!Condition Round]
Globals:
  Function: {Timeout: 60, Environment: {Variables: {SHARED: yes}}}
Resources:
  Table: {Type: AWS::DynamoDB::Table, Properties: &shared {TableName: t}}
  Copy: {Type: AWS::DynamoDB::Table, Properties: *shared}
  Gone: {Type: AWS::SQS::Queue, Condition: NotSeven}
  Maybe: {Type: AWS::SQS::Queue, Condition: Doubt}
  Function:
    Type: AWS::Serverless::Function
    DependsOn: [Other]
    Properties:
      Environment: {Variables: {OWN: mine}}
      Values:
        ref: !Ref Size
        long: {Ref: Size}
        open: !Ref Open
        image: !Ref Image
        zones: !Ref Zones
        nothing: !Ref AWS::NoValue
        region: !Ref AWS::Region
        table: !Ref Table
        gone: !Ref Gone
        stream: !GetAtt Table.StreamArn
        streamList: {"Fn::GetAtt": [Table, StreamArn]}
        ifSeven: !If [Seven, yes, no]
        ifNotSeven: !If [NotSeven, yes, no]
        ifEither: !If [Either, yes, no]
        ifBoth: !If [Both, yes, no]
        ifDoubt: !If [Doubt, yes, no]
        ifRound: !If [Round, yes, no]
        ifNothing: !If [Seven, !Ref AWS::NoValue, 1]
        sub: !Sub "${Size} of ${!Literal}"
        subOwn: !Sub ["${A}-${Size}", {A: !Ref Size}]
        subWhole: !Sub "${Table.StreamArn}"
        subPart: !Sub "${Table}/index"
        join: !Join ["-", [a, !Ref Size]]
        select: !Select [1, !Ref Zones]
        map: !FindInMap [ByStage, prod, Timeout]
        import: !ImportValue other
        text: |
          two
          lines
  Other: {Type: AWS::Serverless::Function, DependsOn: Table}
`

// show writes a resolved value in one line: an unknown value with its reason, a reference with <>.
func show(t *Template, n *Node) string {
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == Unknown:
		return "? " + n.Why
	case n.Kind == Reference:
		return "<" + strings.Trim(n.Name+"."+n.Attribute, ".") + ">"
	case n.Kind == List:
		var items []string
		for _, item := range n.Items {
			items = append(items, show(t, t.Resolve(item)))
		}
		return "[" + strings.Join(items, " ") + "]"
	}
	return n.Text
}

func TestFunctionsAreWorkedOutOrUnknown(t *testing.T) {
	want := map[string]string{
		"ref": "7", "long": "7", "zones": "[a b]", "nothing": "nothing", "table": "<Table>",
		"open":       "? parameter Open has no default; give it with --parameter Open=VALUE",
		"image":      "? parameter Image is read from Systems Manager while deploying",
		"region":     "? AWS::Region is only known while deploying",
		"gone":       "? there is no parameter and, with these parameters, no resource Gone",
		"stream":     "<Table.StreamArn>",
		"streamList": "<Table.StreamArn>",
		"ifSeven":    "yes", "ifNotSeven": "no", "ifEither": "yes", "ifBoth": "no", "ifNothing": "nothing",
		"ifDoubt": "? parameter Open has no default; give it with --parameter Open=VALUE",
		"ifRound": "? conditions refer to each other in a circle, or too often",
		"sub":     "7 of ${Literal}", "subOwn": "7-7", "subWhole": "<Table.StreamArn>",
		"subPart": "? ${Table} is only known while deploying",
		"join":    "a-7", "select": "b", "map": "30",
		"import": "? Fn::ImportValue is only worked out while deploying",
		"text":   "two\nlines\n",
	}
	tpl, err := Open([]byte(sample), nil)
	must.Succeed(t, err)
	f := tpl.Resource("Function")
	values := tpl.Property(f, "Values")
	must.Equal(t, len(values.Members), len(want))
	for _, m := range values.Members {
		must.Equal(t, show(tpl, tpl.Resolve(m.Value)), want[m.Name], m.Name)
	}
}

func TestGivenParametersTakeTheDefaultsPlace(t *testing.T) {
	tpl, err := Open([]byte(sample), map[string]string{"Size": "8", "Open": "x"})
	must.Succeed(t, err)
	f := tpl.Resource("Function")
	for name, want := range map[string]string{"ref": "8", "open": "x", "ifBoth": "yes", "ifDoubt": "no", "gone": "<Gone>"} {
		must.Equal(t, show(tpl, tpl.Property(f, "Values", name)), want, name)
	}
}

func TestResourcesGlobalsAndOrder(t *testing.T) {
	tpl, err := Open([]byte(sample), nil)
	must.Succeed(t, err)
	var names []string
	for _, r := range tpl.Resources() {
		names = append(names, r.Name)
	}
	must.Equal(t, strings.Join(names, " "), "Table Copy Maybe Function Other")
	if tpl.Resource("Maybe").Doubt == "" {
		t.Error("no doubt about a resource whose condition cannot be told")
	}
	f := tpl.Resource("Function")
	for path, want := range map[string]string{"Timeout": "60", "Environment.Variables.SHARED": "yes", "Environment.Variables.OWN": "mine",
		"Environment.Variables.NONE": "nothing"} {
		must.Equal(t, show(tpl, tpl.Property(f, strings.Split(path, ".")...)), want, path)
	}
	must.Equal(t, show(tpl, tpl.Property(tpl.Resource("Copy"), "TableName")), "t")
	must.Equal(t, strings.Join(tpl.DependsOn(f), " "), "Other Table")
}

func TestBadTemplates(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"text", "just text\n", "1:1: it has no Resources: not a SAM or CloudFormation template; write Resources: with the tables, " +
			"queues and functions, or name the template with --template"},
		{"brackets too deep", strings.Repeat("[", 200_000), "1:1: invalid YAML: brackets nest 200000 deep, and at most 1000 are read"},
		{"two documents", "A: 1\n---\nB: 1\n",
			"3:1: a second YAML document begins here; write one document, without this --- and what follows it"},
	} {
		_, err := Open([]byte(c.text), nil)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// If each function names the next one twice, evaluating them all would take for ever.
func TestWorkIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("Conditions:\n")
	for i := range 60 {
		fmt.Fprintf(&b, "  C%d: !And [!Condition C%d, !Condition C%d]\n", i, i+1, i+1)
	}
	b.WriteString("Resources:\n  R: {Type: T, Condition: C0}\n")
	tpl, err := Open([]byte(b.String()), nil)
	must.Succeed(t, err)
	if r := tpl.Resource("R"); r == nil || r.Doubt == "" {
		t.Error("no doubt about a condition that cannot be worked out")
	}
}

func FuzzOpen(f *testing.F) {
	corpus.Add(f)
	f.Add(sample)
	f.Add("Resources: {A: !Ref A, B: {Type: [], Properties: !If [], DependsOn: {}}}")
	f.Add("Resources:\n  A: &a\n    <<: *a\n    Properties: {B: !GetAtt , C: !Sub {}, D: !Join [1], E: !Select [x, [y]]}\n")
	f.Add("{\"Resources\": {\"A\": {\"Condition\": {}, \"Properties\": {\"B\": {\"Fn::FindInMap\": [null, null, null]}}}}, \"Parameters\": {\"P\": null}, \"Mappings\": []}")
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := Open([]byte(text), nil)
		if err != nil {
			return
		}
		for _, r := range tpl.Resources() {
			for _, name := range []string{"B", "C", "D", "E", "Properties", "Values"} {
				show(tpl, tpl.Property(r, name))
			}
			tpl.DependsOn(r)
		}
	})
}
