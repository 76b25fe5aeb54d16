package main

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/explain"
	"github.com/ingot-events/ingot/internal/tool/show"
)

const order = `{"type":"order.placed","merchant_id":"m-1","order_id":"o-1","customer_id":"c-1","product_id":"p-1","quantity":1,"currency":"EUR","total_cents":500,"placed_at":"2099-03-14T09:00:00Z"}`

func TestExplainExitCodes(t *testing.T) {
	atRoot(t)
	mistaken := altered(t, "pipeline.yaml", "window: 1d", "window: 1x")
	for _, c := range []struct {
		name, stdin string
		line        string
		code        int
		out, errors string
	}{
		{"stored", order + "\n", "-", exitFine, "key        ORDER#m-1#o-1\n", ""},
		{"poison", "{}", "-", exitDifference, "Poison (missing-field): quarantined", ""},
		{"poison of a type", strings.Replace(order, `"order_id":"o-1",`, "", 1), "-", exitDifference,
			"\ntype      order.placed\n", ""},
		{"an envelope in attributes", strings.Replace(order, `"type":"order.placed",`, "", 1),
			"- --attribute ce-specversion=1.0 --attribute ce-id=1 --attribute ce-source=s --attribute ce-type=order.placed",
			exitFine, "CloudEvent (binary)", ""},
		{"expired", "", "events/ingest-expired.json", exitDifference, "Expired (past-expiry): quarantined", ""},
		{"in its time", "", "events/ingest-expired.json --now 2020-03-15T00:00:00Z", exitFine, "Inserted", ""},
		{"one of many", "", "events/ingest-poison-among-good.json", exitDifference, "message 3 of 3", ""},
		{"from quarantine", order,
			`- --attribute ingot={"verdict":"Conflict","reason":"digest-differs","detail":"different"}`, exitDifference,
			"quarantined  Conflict (digest-differs)\nbecause      different\n", ""},
		{"an empty queue", "", "-", exitFine, "There is no message in it.\n", ""},
		{"no messages", `{"Messages":[]}`, "-", exitFine, "There is no message in it.\n", ""},
		{"attributes of nothing", "\n", "- --attribute a=b", exitFine, "There is no message in it.\n", ""},
		{"a stream's batch", "", "events/streams-insert.json", exitUsage, "", "this is a batch of a table's stream"},
		{"attributes for a batch", "", "events/ingest-one.json --attribute a=b", exitUsage, "", "leave out --attribute"},
		{"half an attribute", order, "- --attribute a", exitUsage, "", "write NAME=VALUE"},
		{"no argument", "", "", exitUsage, "", "name one event file, or - for standard input"},
		{"no name of a pipeline", order, "- --pipeline=", exitUsage, "",
			"--pipeline is empty; name a file, or leave the option out"},
		{"Latin-1", "{\"city\":\"K\xf6ln\"}", "-", exitUsage, "", "this is not UTF-8, and messages are; save it as UTF-8"},
		{"UTF-16", "\xff\xfe{\x00", "-", exitUsage, "", "this is UTF-16, and messages are UTF-8; save it as UTF-8"},
		{"two events", order + "\n" + order + "\n", "-", exitFine, "message 2 of 2\nverdict    Duplicate: nothing is written\n",
			""},
		{"two events in attributes", strings.Repeat(strings.Replace(order, `"type":"order.placed",`, "", 1)+"\n", 2),
			"- --attribute ce-specversion=1.0 --attribute ce-id=1 --attribute ce-source=s --attribute ce-type=order.placed",
			exitFine, "message 2 of 2\nverdict    Duplicate", ""},
		{"two events in one line", order + order + "\n", "-", exitDifference,
			"of the file\nadvice   a second JSON value begins there; write each event on a line of its own", ""},
		{"no such file", "", "none.json", exitUsage, "", "none.json: no such file or directory; name an event file"},
		{"no such pipeline", order, "- --pipeline none.yaml", exitUsage, "", "; name the pipeline with --pipeline FILE"},
		{"a mistaken pipeline", order, "- --pipeline " + mistaken, exitUsage, "", "is not a duration"},
		{"counting", order, "- --counting both", exitUsage, "", "write marks or receipts"},
		{"now", order, "- --now today", exitUsage, "", "write a time as in"},
		{"partitions", order, "- --partitions -1", exitUsage, "", "give 1 to 10000"},
		{"a misspelled flag", "", "--atribute x", exitUsage, "", "did you mean --attribute?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := piped(t, c.stdin, "explain "+c.line).says(t, c.code, c.errors).prints(t, c.out)
			must.Equal(t, r.errors == "", c.errors == "", r.errors)
		})
	}
	tool(t, "explain", "").says(t, exitUsage, "name one event file, or - for standard input")
}

// The stand-in is named if it is used, and only then. A real key makes other hashes.
func TestExplainSaysWhoseKeyItUses(t *testing.T) {
	atRoot(t)
	stand := piped(t, order, "explain -")
	own := pipedWith(t, map[string]string{"INGOT_PII_KEY": "a real key"}, order, "explain -")
	if !strings.Contains(stand.out, `made with the key "`+show.StandIn+`"`) || strings.Contains(own.out, "stand-in") {
		t.Errorf("without a key:\n%swith one:\n%s", stand.out, own.out)
	}
	line := func(text string) string {
		_, after, _ := strings.Cut(text, "GSI1")
		first, _, _ := strings.Cut(after, "\n")
		return first
	}
	if line(stand.out) == line(own.out) {
		t.Errorf("the same hash with two keys: %s", line(own.out))
	}
	clicks := altered(t, "pipeline.yaml", "{customer_id | hmac}\"       #", "{customer_id}\"       #")
	clicks = altered(t, clicks, "[order.placed, order.refunded], index: GSI1", "[order.placed], index: GSI1")
	piped(t, order, "explain - --pipeline", clicks).prints(t, "stand-in")
}

func TestExplainJSON(t *testing.T) {
	atRoot(t)
	r := piped(t, "", "explain events/ingest-conflict.json --output json")
	var report explain.Report
	r.says(t, exitDifference).reads(t, &report)
	if len(report.Messages) != 2 || report.Messages[0].Verdict != "Inserted" || report.Messages[1].Reason != "digest-differs" ||
		!report.StandInKey || report.Messages[0].Item.WriteUnits != 3 {
		t.Errorf("%+v", report)
	}
}
