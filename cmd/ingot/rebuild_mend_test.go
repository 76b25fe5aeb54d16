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
	got := w.run(exitFine, "rebuild mend --local")
	must.Say(t, got.errors, "this changes ingot dev")
	must.Equal(t, got.out, "mended: sales since 1\n1 total mended, 0 not\n")
	must.Equal(t, w.run(exitFine, "verify --local").out, "5 items, 1 total: no difference\n")
	w.run(exitFine, "rebuild mend sales --local --output json").prints(t, `"mended": []`)
	for _, expired := range []string{"SET fpx = :v", "SET fpx = :v, flag = PK"} { // some of its events have expired
		w.alter(expired, "7")
		w.run(exitDifference, "rebuild mend --local").prints(t,
			"not mended: sales since 1: it holds events that have expired, so it cannot be computed again\n0 totals mended, 1 not\n")
	}
	must.Say(t, w.run(exitDifference, "rebuild sales --local").errors, "1 total not proven: ingot verify names what is flagged")
	got = w.run(exitRefused, "rebuild --accept --local")
	must.Say(t, got.errors, "flagged: sales since 1: A#sales#1#0\n", "write --yes to accept these flags")
	must.Equal(t, got.out, "")
	who := command.Caller(t.Context(), &target.Target{Kind: target.KindLocal})
	must.Equal(t, w.run(exitFine, "rebuild --accept sales --local --yes").out,
		"accepted: sales since 1: A#sales#1#0\n1 flag accepted by "+who+"\n")
	accepted := regexp.MustCompile(`flag: accepted \S+ by ` + regexp.QuoteMeta(who) + `: A#sales#1#0`)
	if got := w.run(exitFine, "totals sales --local"); !accepted.MatchString(got.out) {
		t.Errorf("%s", got.out)
	}
	must.Equal(t, w.run(exitFine, "rebuild mend --local").out, "0 totals mended, 0 not\n")
	w.alter("SET fpx = :v, flag = PK", "7")
	w.run(exitDifference, "rebuild mend --local")
	must.Say(t, w.run(exitUsage, "rebuild --local -- mend").errors, `no aggregate "mend"`)
	must.Say(t, w.run(exitUsage, "rebuild --all --accept --local").errors, "write one of them")
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
	w.run(exitFine, "rebuild --accept sales --local --yes").prints(t,
		"2 flags accepted by ", "accepted: sales since 1: odd\n").lacks(t, "ann")
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
	w.run(exitFine, "rebuild --accept --local --yes").prints(t, "accepted: tills since 1: flagged again\n1 flag accepted by ")
}
