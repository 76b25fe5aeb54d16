package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// scored asks for a partition of the index of ranked totals as the store does.
func (w *table) scored(limit int32) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{TableName: &w.name, IndexName: aws.String(lanes.RankIndex), ScanIndexForward: aws.Bool(false),
		Limit:                  &limit,
		KeyConditionExpression: aws.String("#rank = :in"), ExpressionAttributeNames: map[string]string{"#rank": lanes.RankAttribute},
		ExpressionAttributeValues: attrs{":in": s(w.pk())}}
}

// score moves the score of a total as the store does.
func (w *table) score(sk, amount string) error {
	_, err := w.update(w.key(sk), "ADD #n0 :n, #n1 :score SET #n2 = :rank", "",
		map[string]string{"#n0": "n", "#n1": lanes.ScoreAttribute, "#n2": lanes.RankAttribute},
		attrs{":n": n("1"), ":score": n(amount), ":rank": s(w.pk())})
	return err
}

// ranking waits until the index has the totals in an order, and returns the last answer.
func (w *table) ranking(want string) []map[string]types.AttributeValue {
	w.Helper()
	var items []map[string]types.AttributeValue
	var got []string
	w.h.Until(w, "the order is "+want, func() bool {
		out, err := w.db.Query(ctx, w.scored(1000))
		held(w, err)
		items, got = out.Items, nil
		for _, item := range items {
			got = append(got, textOf(item["SK"]))
		}
		return strings.Join(got, " ") == want
	})
	return items
}

// ranks checks the index that is in order of a number and holds keys only.
func ranks(t *testing.T, h *Harness) {
	newTable(t, h).each(t, map[string]func(*table){
		"in order of the number": func(w *table) {
			for i, score := range []string{"5", "-3", "40", "0", "-0.5", "1E+20", "5.000001", "-1E+20"} {
				held(w, w.score(fmt.Sprint(i), score))
			}
			w.ranking("5 2 6 0 3 4 1 7")
			for sk, amount := range map[string]string{"0": "-9", "1": "3.25", "7": "1E+20"} { // to -4, 0.25 and 0
				held(w, w.score(sk, amount))
			}
			w.put(w.key("2"))                                       // without a score it has no place
			w.put(w.item("5", attrs{lanes.ScoreAttribute: n("9")})) // nor without a partition
			held(w, w.score("3", "0.125"))
			w.ranking("6 1 3 7 4 0")
		},
		"page by page, with keys only": func(w *table) {
			for i, score := range []string{"3", "20", "100", "-7"} {
				held(w, w.score(fmt.Sprint(i), score))
			}
			for _, item := range w.ranking("2 1 0 3") {
				if len(item) != 4 || item[lanes.ScoreAttribute] == nil || textOf(item[lanes.RankAttribute]) != w.pk() {
					w.Errorf("%v is more or less than its keys", item)
				}
			}
			for limit := range int32(4) {
				if got := strings.Join(w.answer(w.scored(limit+1), "SK"), " "); got != "2 1 0 3" {
					w.Errorf("limit %d: %s", limit+1, got)
				}
			}
			in := w.scored(1)
			in.ExclusiveStartKey = w.item("1", attrs{lanes.RankAttribute: s(w.pk()), lanes.ScoreAttribute: n("20.0")})
			if got := strings.Join(w.answer(in, "SK"), " "); got != "0 3" {
				w.Errorf("behind 20.0: %s", got)
			}
		},
		"what is not a number is refused": func(w *table) {
			held(w, w.score("1", "1"))
			refused(w, w.bare(w.key("1"), "SET #v = :v", "", map[string]string{"#v": lanes.ScoreAttribute}, attrs{":v": s("1")}),
				pick(w, h, "an index key of another type", "ValidationException", ""))
		},
	})
}
