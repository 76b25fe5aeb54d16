package docs

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/run/function"
)

// The pages about a stack.
const (
	deployPage = "docs/deploy.md"
	watchPage  = "docs/watch.md"
	repairPage = "docs/repair.md"
)

var alarm = regexp.MustCompile(`Properties: \{AlarmDescription: "(.+) See ` + regexp.QuoteMeta(excerpt.Page("watch.md#")) + `([a-z-]+)"`)

// TestEveryAlarmHasItsSection shows that each alarm of these templates has a section that begins
// with what the alarm says, and that there is no other section.
func TestEveryAlarmHasItsSection(t *testing.T) {
	parts := strings.Split(between(t, watchPage, "\n## Alarms\n", "\n## "), "\n### ")[1:]
	declared := read(t, sampleshop.Template) + read(t, "cmd/worker/template.yaml")
	alarms := alarm.FindAllStringSubmatch(declared, -1)
	// An alarm of which others are made has no actions and no section.
	n := len(regexp.MustCompile(`Type: AWS::CloudWatch::(Composite)?Alarm\n`).FindAllString(declared, -1)) -
		strings.Count(declared, "ActionsEnabled: false")
	if n != len(alarms) || n == 0 {
		t.Fatalf("%d alarms, of which %d name their section", n, len(alarms))
	}
	// The alarms of the indexes say the same, and share a section.
	alarms = slices.CompactFunc(alarms, func(a, b []string) bool { return slices.Equal(a[1:], b[1:]) })
	for i, m := range alarms {
		says, name := m[1], m[2]
		if i >= len(parts) || !strings.HasPrefix(parts[i], name+"\n") {
			t.Errorf("section %d is not that of alarm %d, %s; the order is the template's", i+1, i+1, name)
			continue
		}
		if !strings.HasPrefix(parts[i], name+"\n\n> "+says+"\n") {
			t.Errorf("%s does not begin with what the alarm says: %s", name, says)
		}
		must.Say(t, parts[i], "**What it means.**", "**Look at.**", "**Do.**", "**Do not**")
	}
	if len(parts) > len(alarms) {
		t.Errorf("%d sections for %d alarms", len(parts), len(alarms))
	}
}

func TestMetricTables(t *testing.T) {
	shared, own := []function.Metric{}, function.IngestMetrics()
	others := slices.DeleteFunc(function.StreamsMetrics(), func(m function.Metric) bool {
		at := slices.Index(own, m)
		if at >= 0 {
			shared, own = append(shared, m), slices.Delete(own, at, at+1)
		}
		return at >= 0
	})
	for marker, metrics := range map[string][]function.Metric{"shared metrics": shared, "ingest metrics": own,
		"part metrics": function.PartMetrics(), "array metrics": function.ArrayMetrics(), "put metrics": function.PutMetrics(),
		"payload metrics": function.PayloadMetrics(), "watch metrics": function.WatchMetrics(), "streams metrics": others} {
		var want [][]string
		for _, m := range metrics {
			want = append(want, []string{"`" + m.Name + "`", string(m.Unit), m.About})
		}
		compareTable(t, watchPage, marker, want)
	}
}

var ownMetric = regexp.MustCompile(`Namespace: Ingot,?\s+MetricName: (\w+),?\s+Dimensions: \[(.*?)\]`)

// dimensioned is a metric of Ingot's with its dimensions, as an alarm has them.
func dimensioned(name, of string) string {
	return name + " of {Name: service, Value: ingot}, {Name: function, Value: !Ref " + of + "}"
}

// TestAlarmsOnOwnMetrics shows that the functions of all stacks write those of Ingot's own metrics
// that alarms watch, under the same dimensions.
func TestAlarmsOnOwnMetrics(t *testing.T) {
	written := map[string]bool{}
	add := func(of, name string) {
		written[dimensioned(name, of)] = true
	}
	for of, metrics := range map[string][]function.Metric{"IngestFunction": function.IngestMetrics(),
		"StreamsFunction": slices.Concat(function.StreamsMetrics(), function.PayloadMetrics()), "WorkerFunction": function.WatchMetrics()} {
		for _, m := range metrics {
			add(of, m.Name)
		}
	}
	for of, file := range map[string]string{"CaptureFunction": "migrate/capture/capture.go", "PublishFunction": "publish/function.go"} {
		for _, name := range groups(regexp.MustCompile(`\{Name: "([A-Za-z]+)", Unit: emf\.`), read(t, file)) {
			add(of, name)
		}
	}
	watched := 0
	for _, file := range templates {
		text := read(t, file)
		for _, m := range ownMetric.FindAllStringSubmatch(text, -1) {
			if watched++; !written[m[1]+" of "+m[2]] {
				t.Errorf("%s: an alarm watches %s of %s: no such metric", file, m[1], m[2])
			}
		}
		watched -= strings.Count(text, "Namespace: Ingot")
	}
	must.Equal(t, watched, 0)
}

// TestDashboard shows that each metric of the dashboard exists: the functions write it under these
// dimensions, or an alarm watches it too.
func TestDashboard(t *testing.T) {
	text := read(t, sampleshop.Template)
	body := between(t, sampleshop.Template, "DashboardBody: !Sub |\n", "\n\n")
	var dashboard struct {
		Widgets []struct{ Properties struct{ Metrics [][]any } }
	}
	must.Succeed(t, json.Unmarshal([]byte(body), &dashboard))
	own := map[string][]function.Metric{"${IngestFunction}": function.IngestMetrics(), "${StreamsFunction}": function.StreamsMetrics()}
	metrics := 0
	for _, w := range dashboard.Widgets {
		for _, m := range w.Properties.Metrics {
			if _, computed := m[0].(map[string]any); computed {
				continue
			}
			metrics++
			name := m[1].(string)
			if m[0] != "Ingot" {
				if watched := fmt.Sprintf("Namespace: %s, MetricName: %s", m[0], name); !strings.Contains(text, watched) {
					t.Errorf("no alarm watches %s of %s", name, m[0])
				}
				continue
			}
			if m[2] != "service" || m[3] != "ingot" || m[4] != "function" ||
				!slices.ContainsFunc(own[m[5].(string)], func(o function.Metric) bool { return o.Name == name }) {
				t.Errorf("nothing writes %v", m)
			}
		}
	}
	if metrics < 30 {
		t.Errorf("%d metrics", metrics)
	}
}

// TestAlarmWithFloors shows that the alarm which the guide has for pipelines with floors adds up
// the messages of every verdict that leads to quarantine, except those that a floor refuses.
func TestAlarmWithFloors(t *testing.T) {
	found := map[string]bool{}
	for _, b := range blocksOf(t, watchPage, "yaml template") {
		if strings.HasPrefix(b.text, "  QuarantineAlarm:") {
			for _, m := range ownMetric.FindAllStringSubmatch(b.text, -1) {
				found[m[1]+" of "+m[2]] = true
			}
		}
	}
	want := map[string]bool{}
	watch := func(metrics []function.Metric, name, of string) {
		if !slices.ContainsFunc(metrics, func(m function.Metric) bool { return m.Name == name }) {
			t.Errorf("there is no metric %s", name)
		}
		want[dimensioned(name, of)] = true
	}
	for _, v := range event.Verdicts {
		if v.Quarantined() && v != event.Rejected {
			watch(function.IngestMetrics(), v.String(), "IngestFunction")
		}
	}
	watch(function.PutMetrics(), "RejectedByTotal", "IngestFunction")
	watch(function.StreamsMetrics(), "Quarantined", "StreamsFunction")
	must.Match(t, found, want)
}

var variable = regexp.MustCompile(`"(INGOT_[A-Z_]+)"`)

// TestEnvironmentTable shows that every variable that the functions read is documented, and no
// other.
func TestEnvironmentTable(t *testing.T) {
	var documented []string
	for _, row := range table(t, deployPage, "environment") {
		documented = append(documented, code(row[0]))
	}
	used := groups(variable, read(t, "internal/run/function/settings.go"))
	slices.Sort(documented)
	slices.Sort(used)
	must.Match(t, documented, slices.Compact(used))
}

var reason = regexp.MustCompile(`event\.Reason = "([a-z-]+)"|Reason = "([a-z-]+)"`)

// TestEveryReasonIsExplained shows that the table has every reason for which a message or record
// can be quarantined, and no reason that does not exist.
func TestEveryReasonIsExplained(t *testing.T) {
	page := between(t, repairPage, "## Handling quarantine", "\n## ")
	elsewhereExplained := []string{ // reasons of what goes back, and of what is done
		string(event.Barred), string(event.Throttled), string(event.Unproven), string(event.Unattempted), string(event.Refused),
		string(event.NewerStamp), string(event.UnwantedType), string(event.PayloadUnread), string(event.PayloadUnstored),
	}
	known := 0
	for _, file := range []string{"event/verdict.go", "handler/quarantine/record.go"} {
		for _, m := range reason.FindAllStringSubmatch(read(t, file), -1) {
			name := m[1] + m[2]
			if slices.Contains(elsewhereExplained, name) {
				continue
			}
			if known++; !strings.Contains(page, "`"+name+"`") {
				t.Errorf("the reason %s is not explained", name)
			}
		}
	}
	if known < 14 {
		t.Errorf("only %d reasons found in the code", known)
	}
}

// TestQuotedLogLines shows that log lines that the page quotes are in the code, so that a search
// finds them.
func TestQuotedLogLines(t *testing.T) {
	var sources strings.Builder
	for _, folder := range []string{"handler", "internal/run/function", "store"} {
		files, err := fs.Glob(os.DirFS(filepath.Join(root, folder)), "*.go")
		must.Succeed(t, err)
		for _, file := range files {
			sources.WriteString(read(t, folder+"/"+file))
		}
	}
	for _, text := range []string{oneLine(t, watchPage), sources.String()} {
		must.Say(t, text, "delivered again; the first of its batch", "quarantine failed; the message stays in its queue",
			"the batch goes on from there", "the whole batch failed and is delivered again", "names no shard", "carries epoch",
			"start: refused")
	}
}

var (
	index      = regexp.MustCompile(`- IndexName: (GSI\w+)\n`)
	indexAlarm = regexp.MustCompile(
		`MetricName: WriteThrottleEvents,\s+Dimensions: \[\{Name: TableName, Value: !Ref EventsTable\}, \{Name: GlobalSecondaryIndexName, Value: (\w+)\}\]`)
)

// TestEveryIndexHasAnAlarm shows that every index of the events table that the template declares
// has an alarm. The index of ranked totals has none: what it refuses holds up the stream, which has
// one. CloudWatch counts the throttles of an index only under the index.
func TestEveryIndexHasAnAlarm(t *testing.T) {
	template := read(t, sampleshop.Template)
	declared, watched := groups(index, template), groups(indexAlarm, template)
	slices.Sort(declared)
	slices.Sort(watched)
	must.Match(t, watched, declared)
	must.Equal(t, len(declared) > 0, true)
}
