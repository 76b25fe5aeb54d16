package main

import (
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// An erased event does not come back, and what else holds it is listed.
func TestErase(t *testing.T) {
	w := newDevWorld(t)
	w.send(0, oldSale)
	w.send(1, newSale)
	id := w.pull()[0]
	const image = `{"PK":{"S":"SALE#1"},"SK":{"S":"-"},"type":{"S":"sale"},"id":{"S":"1"},"at":{"S":"2026-01-02T03:04:05.000000000Z"},"epoch":{"N":"1"},` +
		`"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"data":{"S":"{}"}}`
	name := "expired/" + event.Key{PK: "SALE#1", SK: "-"}.Hash() + "/abc.json"
	_, err := w.dev.Engine().S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(stack.Bucket), Key: &name,
		Body: strings.NewReader(image)})
	must.Succeed(t, err)

	w.run(2, "erase sale id=1 --local")
	sameText(t, "erase-dry.txt", w.run(0, "erase sale id=1 --dry-run --local").out, id)
	got := w.run(0, "erase sale id=1 --yes --local --letters letters")
	sameText(t, "erase.txt", got.out, id)
	must.Say(t, got.errors, "ingot: this changes ingot dev with ")
	w.send(1, oldSale, newSale) // both are Duplicates now
	must.Equal(t, w.run(3, "get sale id=1 --local").errors, "ingot: the event under SALE#1 / - was erased, and its key is barred\n")
	write(t, "again.ndjson", oldSale+"\n"+newSale+"\n")
	w.run(3, "send again.ndjson --wait --local").prints(t, "0 events stored, 2 erased before, so the key is barred\n")
	w.run(0, "quarantine drop letters --yes --local", id)
	out := w.erases(0, "--pk SALE#1 --sk - --yes")
	if ev := out.Events[0]; ev.Erased == nil || *ev.Erased || !ev.Barred || len(ev.Archive) != 1 || ev.Archive[0].Name != name ||
		*out.Quarantine != 0 || ev.PK != "SALE#1" {
		t.Errorf("%+v %+v", out, ev)
	}
	// A key that nobody has used is barred in advance. Its value comes from standard input.
	pipedWith(t, w.env, "7\n", "erase sale id=@- --yes --local").says(t, 0).prints(t, "SALE#7\n", "none was stored")
	for want, line := range map[string]string{
		"the nearest is sale":      "sael id=1",
		"id is missing":            "sale",
		"write FIELD=VALUE":        "sale 1",
		"given twice":              "sale id=1 id=2",
		"id is":                    "sale id=",
		"both --pk and --sk":       "--pk SALE#1",
		"and nothing else":         "sale --pk a --sk b",
		"write ingot erase TYPE":   "",
		"ingot quarantine pull no": "sale id=1 --letters no",
	} {
		code := 2
		if strings.HasSuffix(want, " no") {
			code = 6
		}
		must.Say(t, w.run(code, "erase --yes --local "+line).errors, want)
	}
	must.Succeed(t, os.RemoveAll("letters"))
}
