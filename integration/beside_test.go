package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
)

// TestBesideFacts runs, on real clients, what stands beside facts: moves that need their account,
// the last status of each account, sessions that say when they end, a list of totals, and several
// keys in one read.
func TestBesideFacts(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) { besideFacts(newWorld(t, b, aggregate.Marks, moves)) })
}

// moves adds accounts and what moves them.
func moves(w *world) {
	w.spec.Events = map[string]pipeline.EventSpec{
		"account": {ID: "{account}", At: "{at}", Key: pipeline.KeySpec{PK: "ACCOUNT#{account}", SK: "ACCOUNT"}},
		"move": {ID: "{move}", At: "{at}", Key: pipeline.KeySpec{PK: "MOVE#{move}", SK: "MOVE"}, Retain: 90 * day,
			Requires: []pipeline.RequireSpec{{Type: "account", Key: map[string]string{"account": "{account}"}}}},
		"status": {Part: pipeline.PartSpec{Of: "move", With: []string{"account", "status"}}, ID: "{account}",
			Key: pipeline.KeySpec{PK: "ACCOUNT#{account}", SK: "STATUS"}, Mode: "latest", Revision: "{@at}"},
		"session": {ID: "{session}", At: "{at}", Key: pipeline.KeySpec{PK: "SESSION#{session}", SK: "SESSION"}, Retain: day,
			Expires: "{until}"},
	}
	w.spec.Aggregates = map[string]pipeline.AggregateSpec{
		"spent": {Since: 1, OnExpire: "subtract", By: map[string]string{"account": "{account}", "shop": "{shop}"},
			Rank: pipeline.RankSpec{Value: "cents", Within: []string{"account"}},
			From: map[string]pipeline.FromSpec{"move": {Values: map[string]string{"cents": "sum cents"}}}},
	}
	w.spec.Patterns = map[string]pipeline.PatternSpec{"spent": {Total: "spent", Top: 10}, "moves": {Read: []string{"move"}},
		"session": {Read: []string{"session"}}, "status": {Read: []string{"status"}}}
}

func besideFacts(w *world) {
	receives := 0
	take := func(failed int, bodies ...string) {
		w.Helper()
		var e events.SQSEvent
		receives++
		for i, body := range bodies {
			e.Records = append(e.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: body,
				Attributes: map[string]string{"ApproximateReceiveCount": "1"}, EventSourceARN: "arn:aws:sqs:us-east-1:000000000000:in"})
		}
		response, err := w.ingest.Handle(ctx, e)
		if err != nil || len(response.BatchItemFailures) != failed {
			w.Fatalf("batch %d: %d failures, want %d; %v; verdicts %v", receives, len(response.BatchItemFailures), failed, err, w.verdicts)
		}
	}
	move := func(id, account, shop string, hours, cents int) string {
		return fmt.Sprintf(`{"type":"move","move":%q,"account":%q,"shop":%q,"at":%q,"status":"after %s","cents":%d}`, id, account, shop,
			began.Add(time.Duration(hours)*time.Hour).Format(time.RFC3339), id, cents)
	}
	account := fmt.Sprintf(`{"type":"account","account":"a","at":%q}`, began.Format(time.RFC3339))
	take(1, move("1", "a", "x", 1, 30)) // before its account
	take(0, move("2", "a", "y", 5, 700), move("1", "a", "x", 1, 30), account)
	take(0, move("1", "a", "x", 1, 30), move("3", "a", "x", 2, 5)) // one again, and one that is older than the newest
	until := began.Add(2 * time.Hour).Format(time.RFC3339)
	take(0, fmt.Sprintf(`{"type":"session","session":"s","at":%q,"until":%q}`, began.Format(time.RFC3339), until))
	w.drain(w.mapping(w.backend.streams), 6)

	reader := query.Of(w.store)
	status := func(want string) {
		w.Helper()
		got, err := reader.Read(ctx, "status", query.Ask{Values: map[string][]string{"account": {"a"}}, Consistent: true})
		must.Succeed(w, err)
		if len(got.Items) != 1 || !strings.Contains(got.Items[0].Data, `"`+want+`"`) {
			w.Errorf("the status is %+v, want %s", got.Items, want)
		}
	}
	status("after 2")
	list, err := reader.Read(ctx, "spent", query.Ask{Values: map[string][]string{"account": {"a"}}})
	must.Succeed(w, err)
	shops := ""
	for _, total := range list.Totals {
		shops += fmt.Sprint(total.By["shop"], total.Values["cents"], " ")
	}
	must.Equal(w, shops, "y700 x35 ")
	several, err := reader.Read(ctx, "moves", query.Ask{Values: map[string][]string{"move": {"3", "none", "1"}}})
	must.Succeed(w, err)
	if len(several.Items) != 2 || several.Items[0].ID != "3" {
		w.Errorf("%+v", several.Items)
	}
	found, err := reader.Read(ctx, "session", query.Ask{Values: map[string][]string{"session": {"s"}}})
	must.Succeed(w, err)
	if len(found.Items) != 1 || found.Items[0].ExpiresAt != began.Add(2*time.Hour).Unix() {
		w.Errorf("%+v", found.Items)
	}
	_, err = repair.Of(w.store).Erase(ctx, event.Key{PK: "MOVE#2", SK: "MOVE"})
	must.Succeed(w, err)
	take(0, move("2", "a", "y", 5, 700), move("3", "a", "x", 2, 5))
	status("after 3")
	w.drain(w.mapping(w.backend.streams), 8)
}
