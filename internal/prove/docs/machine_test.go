package docs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// state is a state of the machine of cmd/worker, as far as tests look at it.
type state struct {
	Type, Resource, Next, Default string
	Catch                         []struct {
		ErrorEquals []string
		Next        string
	}
	Choices       []struct{ Variable, Next string }
	Parameters    json.RawMessage
	ItemProcessor machine
}

type machine struct {
	StartAt         string
	States          map[string]state
	ProcessorConfig struct{ Mode string }
}

// The role of the state machine allows what its states do, and nothing more: a Distributed Map
// starts, looks at and stops executions of its own machine (Step Functions Developer Guide, "IAM
// policies for using Distributed Map states"). That of the schedule allows to start it.
func TestRoleOfTheMachine(t *testing.T) {
	tpl := opened(t, "cmd/worker/template.yaml", nil)
	machine := tpl.Resource("Machine")
	given := tpl.Property(machine, "DefinitionSubstitutions")
	of := func(name string) string { return resourceOf(given.Member(strings.Trim(name, "${}")).Value) }
	need := map[string]bool{}
	var look func(states map[string]state)
	look = func(states map[string]state) {
		for name, s := range states {
			var p struct {
				FunctionName, TableName, Namespace string
				Key                                struct{ PK struct{ S string } }
			}
			if s.Parameters != nil {
				must.Succeed(t, json.Unmarshal(s.Parameters, &p))
			}
			_, call, _ := strings.Cut(s.Resource, ":states:::")
			switch {
			case call == "lambda:invoke":
				need["lambda:InvokeFunction "+of(p.FunctionName)] = true
			case call == "dynamodb:updateItem":
				must.Equal(t, of(p.TableName), "AggregatesTable")
				need["dynamodb:UpdateItem dynamodb:table/totals "+p.Key.PK.S] = true
			case call == "aws-sdk:cloudwatch:putMetricData":
				need["cloudwatch:PutMetricData * "+p.Namespace] = true
			case s.ItemProcessor.ProcessorConfig.Mode == "DISTRIBUTED":
				its := tpl.Property(machine).Member("Name").Value.Argument.Text
				for _, action := range []string{"StartExecution", "DescribeExecution", "StopExecution"} {
					need["states:"+action+" states:stateMachine:"+its+" states:execution:"+its+":* states:execution:"+its+"/*"] = true
				}
				look(s.ItemProcessor.States)
			case s.Resource != "" || s.Type == "Map":
				t.Errorf("what does %s need?", name)
			}
		}
	}
	look(theMachine(t).States)
	must.Match(t, rightsOf(t, tpl, "MachineRole"), slices.Sorted(maps.Keys(need)))

	target := tpl.Property(tpl.Resource("VerifySchedule"), "Target")
	must.Match(t, rightsOf(t, tpl, "ScheduleRole"), []string{"states:StartExecution Machine"})
	must.Equal(t, resourceOf(target.Member("Arn").Value), "Machine")
	must.Equal(t, resourceOf(target.Member("RoleArn").Value), "ScheduleRole.Arn")
}

func theMachine(t *testing.T) (m machine) {
	t.Helper()
	must.Succeed(t, json.Unmarshal([]byte(read(t, "cmd/worker/machine.asl.json")), &m))
	return m
}

// toldFailure returns the metric of a run that failed, as [metricOf] does. It has the unit that the
// worker writes it with.
func toldFailure(t *testing.T, tpl *template.Template) string {
	t.Helper()
	var told struct {
		Namespace  string
		MetricData []struct {
			MetricName, Unit string
			Dimensions       []struct{ Name, Value string }
			Value            string `json:"Value.$"`
		}
	}
	must.Succeed(t, json.Unmarshal(theMachine(t).States["TellFailure"].Parameters, &told))
	m := told.MetricData[0]
	var names []string
	for _, d := range m.Dimensions {
		names = append(names, strings.TrimSuffix(d.Name+"="+d.Value, "=${WorkerName}"))
	}
	must.Equal(t, strings.Join(names, " "), dimensionsOf(function.Namespace, m.MetricName))
	must.Equal(t, m.Value, "$.failed.runs")
	must.Equal(t, slices.ContainsFunc(function.WatchMetrics(), func(w function.Metric) bool {
		return w.Name == m.MetricName && string(w.Unit) == m.Unit
	}), true)
	of := tpl.Property(tpl.Resource("Machine"), "DefinitionSubstitutions", "WorkerName")
	return told.Namespace + " " + m.MetricName + " " + of.Name
}

// Whatever fails in a run of the schedule is counted, and then told. A run that is counted already
// is not told again.
func TestEveryFailureIsTold(t *testing.T) {
	m := theMachine(t)
	const all = "States.ALL"
	for name, s := range m.States {
		switch {
		case name == "CountFailure" || name == "TellFailure":
		case s.Type == "Task" || s.Type == "Map":
			if len(s.Catch) != 1 || !slices.Equal(s.Catch[0].ErrorEquals, []string{all}) || s.Catch[0].Next != "WasItScheduled" {
				t.Errorf("what fails in %s is caught by %+v", name, s.Catch)
			}
		}
		if s.Next == "Failed" {
			must.Equal(t, name, "TellFailure")
		}
	}
	asked, count := m.States["WasItScheduled"], m.States["CountFailure"]
	must.Equal(t, asked.Choices[0].Variable+" "+asked.Choices[0].Next, "$$.Execution.Input.scheduled CountFailure")
	must.Equal(t, count.Next+" "+m.States["TellFailure"].Next, "TellFailure Failed")
	must.Equal(t, len(count.Catch), 1)
	must.Match(t, count.Catch[0].ErrorEquals, []string{"DynamoDB.ConditionalCheckFailedException"})
}
