package sim

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// TestOldCodeMayOnlyRetry shows what older code may do with a message whose key holds something
// that only newer code can read. It may say nothing about the message.
func TestOldCodeMayOnlyRetry(t *testing.T) {
	for name, test := range map[string]struct {
		img     model.Image
		allowed string
	}{
		"the same in bytes, a newer stamp":  {model.Image{Fact: order(1), InBytes: true, Epoch: 2}, "Retry"},
		"another in bytes, a newer stamp":   {model.Image{Fact: order(2), InBytes: true, Epoch: 2}, "Retry"},
		"the same in bytes, its own stamp":  {model.Image{Fact: order(1), InBytes: true, Epoch: 1}, "Duplicate"},
		"the same as text, a newer stamp":   {model.Image{Fact: order(1), Epoch: 2}, "Duplicate"},
		"another in bytes, an older stamp":  {model.Image{Fact: order(2), InBytes: true}, "Conflict"},
		"barred by newer code, as they all": {model.Image{Fact: order(1), Barred: true, Epoch: 2}, "Duplicate"},
	} {
		w, inv := judged(t, nil, nil)
		inv.epoch, inv.Faults, inv.Deadline = 1, 0, w.Now.Add(functionTimeout)
		img := test.img
		w.model.Keys[order(1).Key()] = &model.History{States: []model.State{{Image: &img}}}
		got := ""
		for _, verdict := range []string{"Inserted", "Updated", "Duplicate", "Stale", "Conflict", "Expired", "Retry"} {
			if w.verdicts.undeserved(inv, &message{body: "b", fact: order(1)}, verdict) == "" {
				got += " " + verdict
			}
		}
		if got != " "+test.allowed {
			t.Errorf("%s: allowed are%s, want %s", name, got, test.allowed)
		}
	}
}

// TestNewForm shows that newer code stores payloads as bytes, and that it reads both forms.
func TestNewForm(t *testing.T) {
	w := newWorld(StillPlan(1), false)
	defer w.KillAll()
	f := newForm{w.ingot.Engine.DynamoDB(), w, false}
	const payload = `{"id":"1","of":"ü"}`
	item := keyOfItem("ORDER#1", "ORDER")
	item["data"] = &types.AttributeValueMemberS{Value: payload}
	if _, err := f.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(eventsTable), Item: item}); err != nil {
		t.Fatal(err)
	}
	if got := w.read(eventsTable, "ORDER#1", "ORDER")["data"]; text(got) != "7b226964223a2231222c226f66223a22c3bc227d" {
		t.Errorf("stored is %s", text(got))
	}
	out, err := f.Scan(context.Background(), &dynamodb.ScanInput{TableName: aws.String(eventsTable)})
	if err != nil || len(out.Items) != 1 || text(out.Items[0]["data"]) != payload {
		t.Errorf("read is %v, %v", out, err)
	}
	batch := `[{"dynamodb":{"NewImage":{"at":{"S":"x"},"data":{"B":"eyJpZCI6IjEiLCJvZiI6IsO8In0="}}}},{"data":{"S":"{}"}}]`
	if got, want := string(readable([]byte(batch))), strings.Replace(batch, `{"B":"eyJpZCI6IjEiLCJvZiI6IsO8In0="}`,
		`{"S":"{\"id\":\"1\",\"of\":\"ü\"}"}`, 1); got != want {
		t.Errorf("a batch is\n%s, want\n%s", got, want)
	}
}

// TestCheckRecordLetter shows that a letter about a record needs a reason of its own.
func TestCheckRecordLetter(t *testing.T) {
	letter := func(reason string) string {
		return `{"pk":"ORDER#1","sk":"ORDER","sequenceNumbers":["12"],"reason":"` + reason + `"}`
	}
	name := "ORDER#1|ORDER|" + model.Pad("12")
	for what, test := range map[string]struct {
		body     string
		odd      []string
		stranded map[string]*strandedRecord
		want     Check
	}{
		"odd":                          {letter("undecodable-record"), []string{name}, nil, ""},
		"odd, and it is not":           {letter("undecodable-record"), nil, nil, Undeserved},
		"given up":                     {letter("given-up"), nil, map[string]*strandedRecord{"12": {name: name, givenUp: true}}, ""},
		"given up, and not by anybody": {letter("given-up"), nil, map[string]*strandedRecord{"12": {name: name}}, Undeserved},
		"given up is another": {letter("given-up"), nil, map[string]*strandedRecord{"13": {name: name, givenUp: true}},
			Undeserved},
		"given up, of another item": {letter("given-up"), nil, map[string]*strandedRecord{"12": {name: "ORDER#2", givenUp: true}},
			Undeserved},
		"refused":   {letter("refused-update"), nil, nil, ""},
		"no letter": {`"sequenceNumbers":`, nil, nil, Undeserved},
	} {
		w := newWorld(StillPlan(1), false)
		w.trouble.odds.records, w.stuck.stranded.records = test.odd, test.stranded
		w.trouble.checkRecordLetter(test.body)
		if got := w.Failure; (got == nil) != (test.want == "") || got != nil && got.Check != test.want {
			t.Errorf("%s: %v, want %q", what, got, test.want)
		}
		w.KillAll()
	}
}
