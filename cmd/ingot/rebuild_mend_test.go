package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// A damaged total is mended in place, and a flag is accepted only with --yes.
func TestMendAndAccept(t *testing.T) {
	w := newDevWorld(t)
	w.sales(5)
	w.alter("ADD cents :v, fp :v", "1")
	w.run(exitDifference, "verify --local")
	if got := w.run(exitFine, "rebuild mend --local"); got.out != "mended: sales since 1\n1 total mended, 0 not\n" ||
		!strings.Contains(got.errors, "this changes ingot dev") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	if got := w.run(exitFine, "verify --local"); got.out != "5 items, 1 total: no difference\n" {
		t.Errorf("%s", got.out)
	}
	if got := w.run(exitFine, "rebuild mend sales --local --output json"); !strings.Contains(got.out, `"mended": []`) {
		t.Errorf("there was nothing to mend: %s", got.out)
	}
	for _, expired := range []string{"SET fpx = :v", "SET fpx = :v, flag = PK"} { // some of its events have expired
		w.alter(expired, "7")
		if got := w.run(exitDifference, "rebuild mend --local"); !strings.Contains(got.out,
			"not mended: sales since 1: it holds events that have expired, so it cannot be computed again\n0 totals mended, 1 not\n") {
			t.Errorf("%s", got.out)
		}
	}
	if got := w.run(exitDifference, "rebuild sales --local"); !strings.Contains(got.errors,
		"1 total not proven: ingot verify names what is flagged") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	if got := w.run(exitRefused, "rebuild --accept --local"); got.out != "" ||
		!strings.Contains(got.errors, "flagged: sales since 1: A#sales#1#0\n") ||
		!strings.Contains(got.errors, "write --yes to accept these flags") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	who := command.Caller(t.Context(), &target.Target{Kind: target.KindLocal})
	if got := w.run(exitFine, "rebuild --accept sales --local --yes"); got.out !=
		"accepted: sales since 1: A#sales#1#0\n1 flag accepted by "+who+"\n" {
		t.Errorf("%s%s", got.out, got.errors)
	}
	accepted := regexp.MustCompile(`flag: accepted \S+ by ` + regexp.QuoteMeta(who) + `: A#sales#1#0`)
	if got := w.run(exitFine, "totals sales --local"); !accepted.MatchString(got.out) {
		t.Errorf("%s", got.out)
	}
	if got := w.run(exitFine, "rebuild mend --local"); got.out != "0 totals mended, 0 not\n" {
		t.Errorf("after that: %s", got.out)
	}
	w.alter("SET fpx = :v, flag = PK", "7")
	w.run(exitDifference, "rebuild mend --local")
	if got := w.run(exitUsage, "rebuild --local -- mend"); !strings.Contains(got.errors, `no aggregate "mend"`) {
		t.Errorf("%s", got.errors)
	}
	if got := w.run(exitUsage, "rebuild --all --accept --local"); !strings.Contains(got.errors, "write one of them") {
		t.Errorf("%s", got.errors)
	}
}

// flag flags an item of the aggregates table.
func (w *devWorld) flag(key event.Key, text string) {
	w.t.Helper()
	_, err := w.dev.Engine().DynamoDB().UpdateItem(w.t.Context(), &dynamodb.UpdateItemInput{TableName: new(stack.Aggregates),
		Key: testworld.Key(key.PK, key.SK), UpdateExpression: new("SET flag = :v"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":v": &types.AttributeValueMemberS{Value: text}}})
	must.Succeed(w.t, err)
}

// hears is a writer that calls a function for what is written.
type hears func(text string)

func (h hears) Write(b []byte) (int, error) {
	h(string(b))
	return len(b), nil
}

// Only the flags of the aggregates that are named are accepted, in this generation, and only those
// that were shown.
func TestAcceptsWhatWasShown(t *testing.T) {
	w := newDevWorldOf(t, letterSpec+"  tills: {since: 1, spread: 3, onExpire: keep, from: {sale: {values: {sales: count}}}}\n")
	sales, _ := w.dev.Pipeline().Definition("sales")
	till := event.Key{PK: "A#tills#1#2", SK: "-"}
	w.flag(event.Key{PK: "A#sales#1#0", SK: "-"}, `"ann@example.com" is gone`)
	w.flag(lanes.HeadKey(sales), "odd")
	w.flag(till, "not named")
	w.flag(event.Key{PK: "A#sales#2#0", SK: "-"}, "of another generation")
	if got := w.run(exitFine, "rebuild --accept sales --local --yes"); !strings.Contains(got.out, "2 flags accepted by ") ||
		!strings.Contains(got.out, "accepted: sales since 1: odd\n") || strings.Contains(got.out, "ann") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	var out, said bytes.Buffer
	a := appOf(cli.IO{Env: func(string) (string, bool) { return "", false }, Stdin: strings.NewReader(""), Stdout: &out,
		Stderr: io.MultiWriter(&said, hears(func(text string) {
			if strings.Contains(text, "this changes") {
				w.flag(till, "flagged again")
			}
		}))})
	if code := execute(t.Context(), a, []string{"rebuild", "--accept", "--local", "--yes"}); code != exitDifference ||
		!strings.HasPrefix(out.String(), "0 flags accepted by ") ||
		!strings.Contains(said.String(), "not accepted, because its flag has changed meanwhile: tills since 1; run the command again\n") {
		t.Errorf("exit code %d: %s%s", code, out.String(), said.String())
	}
	if got := w.run(exitFine, "rebuild --accept --local --yes"); !strings.Contains(got.out,
		"accepted: tills since 1: flagged again\n1 flag accepted by ") {
		t.Errorf("%s%s", got.out, got.errors)
	}
}
