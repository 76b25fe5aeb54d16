package docs

import (
	"encoding/json"
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
		case s.Type == "Fail":
			must.Equal(t, name, "Failed")
		}
		if s.Next == "Failed" {
			must.Equal(t, name, "TellFailure")
		}
	}
	asked, count, tell := m.States["WasItScheduled"], m.States["CountFailure"], m.States["TellFailure"]
	must.Equal(t, asked.Choices[0].Variable+" "+asked.Choices[0].Next, "$$.Execution.Input.scheduled CountFailure")
	must.Equal(t, count.Next+" "+tell.Next, "TellFailure Failed")
	must.Equal(t, len(count.Catch), 1)
	must.Match(t, count.Catch[0].ErrorEquals, []string{"DynamoDB.ConditionalCheckFailedException"})
	must.Equal(t, len(tell.Catch), 0)
}
