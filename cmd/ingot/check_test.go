package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
)

// altered writes a copy of a file of the repository with one replacement.
func altered(t *testing.T, name, old, new string) string {
	t.Helper()
	dir, base := t.TempDir(), filepath.Base(name)
	must.Succeed(t, writeInto(dir, map[string]string{base: content(t, name),
		"cmd/ingest/main.go": "package main\n", "cmd/streams/main.go": "package main\n"}))
	path := filepath.Join(dir, base)
	change(t, path, old, new)
	return path
}

func TestCheckExitCodes(t *testing.T) {
	atRoot(t)
	broken := altered(t, "template.yaml", "DependsOn: StreamsFunction", "DependsOn: StreamsLogs")
	unclear := altered(t, "template.yaml", "VisibilityTimeout: 420", "VisibilityTimeout: !ImportValue v")
	mistaken := altered(t, "pipeline.yaml", "window: 1d", "window: 1x")
	garbled := altered(t, "pipeline.yaml", "ingot: 1 ", "ingot: [1 ")
	twice := altered(t, "pipeline.yaml", "epoch: 1 ", "epoch: 1\nepoch: 1\nretian: 1 ")
	empty := filepath.Join(t.TempDir(), "empty.yaml")
	write(t, empty, "")
	was := altered(t, "pipeline.yaml", `sk: "ORDER"`, `sk: "ORDR"`)
	for _, c := range []struct {
		name, line  string
		code        int
		out, errors string
	}{
		{"clean", "", exitFine, "pipeline.yaml and template.yaml: no mistakes\n", ""},
		{"a warning alone", "--template " + unclear, exitFine, "1 warning\n", ""},
		{"a mistake in the template", "--template " + broken, exitDifference,
			"; write DependsOn: [StreamsLogs, StreamsFunction]\n", ""},
		{"a mistake in the pipeline", "--pipeline " + mistaken, exitDifference, "1 mistake\n", ""},
		{"not YAML", "--pipeline " + garbled, exitDifference,
			":7:8: invalid YAML: the bracket that opens here is not closed; write ] where it ends\n", ""},
		{"an empty pipeline", "--pipeline " + empty, exitDifference,
			":1:1: the file declares nothing; write ingot: 1, epoch: 1 and events:\n", ""},
		{"an empty template", "--template " + empty, exitDifference, ":1:1: the file is empty; write a SAM template\n", ""},
		{"an empty deployed file", "--was " + empty, exitDifference, ":1:1: nothing was compared: ", ""},
		{"a name twice", "--pipeline " + twice, exitDifference, "2 mistakes\n", ""},
		{"a folder", "--pipeline .", exitUsage, "", ".: is a directory; name the pipeline with --pipeline FILE"},
		{"no name of a pipeline", "--pipeline=", exitUsage, "", "--pipeline is empty; name a file, or leave the option out"},
		{"no name of a template", "--template=", exitUsage, "", "--template is empty; name a file, or leave the option out"},
		{"no name of an earlier file", "--was=", exitUsage, "", "--was is empty; name a file, or leave the option out"},
		{"no such earlier file", "--was none.yaml", exitUsage, "",
			"none.yaml: no such file or directory; name the file that is deployed now with --was FILE"},
		{"a change", "--was " + was, exitDifference, "events.order.placed: key.sk was ORDR and is ORDER; drain the queue", ""},
		{"no such template", "--template none.yaml", exitUsage, "",
			"none.yaml: no such file or directory; name the template with --template FILE"},
		{"no such pipeline", "--pipeline none.yaml", exitUsage, "", "; name the pipeline with --pipeline FILE"},
		{"no such parameter", "--parameter Countin=marks", exitUsage, "", "no parameter Countin; it has Counting, "},
		{"half a parameter", "--parameter Counting", exitUsage, "", "write NAME=VALUE"},
		{"partitions", "--partitions 0", exitUsage, "", "give 1 to 10000"},
		{"a rate", "--rate 9000", exitFine, "  shards   9, one for each partition; each delivers 1,000 changes a second\n",
			""},
		{"a rate over partitions", "--rate 900 --partitions 3", exitFine,
			"  shards   3, one for each partition; each delivers 300 changes a second\n", ""},
		{"a rate that is too high", "--rate 9000 --parameter MemorySize=256", exitDifference,
			"; write MemorySize: ", ""},
		{"a rate of nothing", "--rate -1", exitUsage, "", "--rate -1: give changes a second, at most 10000000"},
		{"code that is not there", "--template " + altered(t, "template.yaml", "CodeUri: cmd/ingest/", "CodeUri: cmd/ingst/"),
			exitDifference, "ingst, which sam build needs for IngestFunction; write CodeUri: cmd/ingest/\n", ""},
		{"code that a person builds",
			"--template " + altered(t, "template.yaml", "      CodeUri: cmd/streams/\n",
				"      CodeUri: build/streams/\n      PackageType: Zip\n"), exitDifference,
			"/build/streams, which sam build needs for StreamsFunction; write CodeUri: cmd/streams/\n", ""},
		{"an argument", "template.yaml", exitUsage, "", `takes no argument "template.yaml"`},
		{"a misspelled flag", "--tempalte x", exitUsage, "", "did you mean --template?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := tool(t, "check "+c.line).says(t, c.code, c.errors).prints(t, c.out)
			must.Equal(t, r.errors == "", c.errors == "", r.errors)
		})
	}
}

func TestCheckWithoutATemplateSaysSo(t *testing.T) {
	atRoot(t)
	must.Succeed(t, os.Remove("template.yaml"))
	r := piped(t, "", "check")
	if r.code != exitFine || !strings.Contains(r.errors, "there is no template.yaml here: its rules were not checked") ||
		!strings.HasSuffix(r.out, "\npipeline.yaml: no mistakes\n") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.errors)
	}
}

func TestCheckJSON(t *testing.T) {
	atRoot(t)
	broken := altered(t, "template.yaml", "maxReceiveCount: 10", "maxReceiveCount: 3")
	r := piped(t, "", "check --output json --template", broken)
	var report check.Report
	r.says(t, exitDifference).reads(t, &report)
	garbled := altered(t, "pipeline.yaml", "ingot: 1 ", "ingot: [1 ")
	var unread check.Report
	tool(t, "check --output json --pipeline "+garbled).says(t, exitDifference).reads(t, &unread)
	if len(unread.Findings) != 1 || unread.Findings[0].Line != 7 || unread.Findings[0].Instead == "" || unread.Types == nil {
		t.Errorf("invalid YAML: %+v", unread)
	}
	if len(report.Findings) != 1 || report.Findings[0].Rule != "redrive" || report.Findings[0].Severity != rules.Mistake ||
		len(report.Totals) != 4 {
		t.Errorf("%+v", report)
	}
}

// Events are planned line by line, from a file or from standard input. A Poison is as bad as a
// mistake.
func TestCheckEvents(t *testing.T) {
	atRoot(t)
	const good = `{"type":"order.placed","merchant_id":"m-1","order_id":"o-1","customer_id":"c-1","product_id":"p-1","quantity":1,"currency":"EUR","total_cents":500,"placed_at":"2026-03-14T09:00:00Z"}` + "\n"
	file := filepath.Join(t.TempDir(), "sample.ndjson")
	write(t, file, good+good)
	mistaken := altered(t, "pipeline.yaml", "window: 1d", "window: 1x")
	byKind := altered(t, "pipeline.yaml", `type: "{type}"`, `type: "{@attribute.kind}"`)
	published := filepath.Join(t.TempDir(), "publish.yaml")
	write(t, published, "publish: 1\nsource: shop\npublications: {orders: {from: [order.placed], when: quantities > 1, to: \"${TO}\"}}\n")
	batch := must.Read(t, filepath.Join("events", "ingest-many.json"))
	var lambda bytes.Buffer
	must.Succeed(t, json.Compact(&lambda, batch))
	for _, c := range []struct {
		name, stdin string
		line        string
		code        int
		out, errors string
	}{
		{"attributes", good, "--events - --now 2026-03-15T00:00:00Z --pipeline " + byKind + " --attribute kind=order.placed",
			exitFine, "  1  Inserted  order.placed\n", ""},
		{"without the attribute", good, "--events - --pipeline " + byKind, exitDifference,
			"1 event of standard input would be Poison\n", ""},
		{"a batch", lambda.String(), "--events -", exitFine, "standard input: 5 events, as if", ""},
		{"a batch with attributes", lambda.String(), "--events - --attribute a=b", exitUsage, "",
			"standard input:1: it is a batch, whose messages have attributes of their own; leave out --attribute"},
		{"a bad attribute", good, "--events - --attribute a", exitUsage, "", `--attribute "a": write NAME=VALUE`},
		{"attributes of nothing", "", "--attribute a=b", exitUsage, "", "--attribute is for the events of --events"},
		{"a file", "", "--events " + file + " --now 2026-03-15T00:00:00Z", exitFine, "  1  Duplicate  order.placed\n", ""},
		{"standard input", good, "--events - --now 2026-03-15T00:00:00Z", exitFine, "standard input: 1 event, as if",
			""},
		{"expired is not a mistake", good, "--events - --now 2027-03-15T00:00:00Z", exitFine,
			"1  Expired (past-expiry)  order.placed", ""},
		{"poison", "{}\n", "--events -", exitDifference, "no mistakes; 1 event of standard input would be Poison\n", ""},
		{"an array", "[" + strings.TrimSpace(good) + "]", "--events -", exitDifference,
			"would be Poison; write each event as one JSON object on a line of its own; jq -c '.[]' makes that of an array\n", ""},
		{"a field of publish.yaml that no event has", good, "--events - --publish " + published, exitFine,
			"read by publication orders; did you mean quantity?\n", ""},
		{"nothing", "", "--events -", exitFine, "standard input: 0 events", ""},
		{"a mistaken pipeline", good, "--events - --pipeline " + mistaken, exitDifference, "1 mistake\n",
			"the sample events were not checked, because "},
		{"no such file", "", "--events none", exitUsage, "",
			"none: no such file or directory; name a file with one event a line with --events FILE, or - for standard input"},
		{"no name", "", "--events=", exitUsage, "", "--events is empty; name a file, or leave the option out"},
		{"no time", "", "--events - --now today", exitUsage, "", "write a time as in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := piped(t, c.stdin, "check "+c.line).says(t, c.code, c.errors).prints(t, c.out)
			must.Equal(t, r.errors == "", c.errors == "", r.errors)
			r.lacks(t, "c-1")
		})
	}
	r := piped(t, good, "check --events - --now 2026-03-15T00:00:00Z --output json")
	var report check.Report
	r.reads(t, &report)
	if report.Events == nil || report.Events.Lines != 1 || report.Events.Items.Count != 1 {
		t.Errorf("%+v", report)
	}
}
