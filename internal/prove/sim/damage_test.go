package sim

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

func TestLetters(t *testing.T) {
	l := newLetters()
	odd := `{"pk":"ODD#1","sk":"-","sequenceNumbers":["12"],"reason":"undecodable-record"}`
	l.take(odd, 2)
	l.take(odd, 1)
	l.take(`{"pk":"A#live#1#0","sk":"-","sequenceNumbers":["5","6"],"reason":"refused-update"}`, 1)
	l.take(`{"type":"order","sequenceNumbers":7}`, 1)
	if l.odd["ODD#1|-|"+model.Pad("12")] != 1 || len(l.odd) != 1 {
		t.Errorf("odd: %v", l.odd)
	}
	if !l.refused["A#live#1#0|-|"+model.Pad("5")] || !l.refused["A#live#1#0|-|"+model.Pad("6")] || len(l.refused) != 2 {
		t.Errorf("refused: %v", l.refused)
	}
}

// TestCheckDamaged shows what must become of the changes that the mark of a damaged total has
// passed. The first of them may be in quarantine with a flag on the total. The others must be
// counted.
func TestCheckDamaged(t *testing.T) {
	const pk = "A#live#1#0"
	tests := map[string]struct {
		fp      int64
		letters []string
		flagged bool
		want    Check
	}{
		"all are counted":                  {10 + 1 + 2 + 4, nil, false, ""},
		"none is, and all are kept":        {10, []string{"1", "2", "3"}, true, ""},
		"none is, and one is not kept":     {10, []string{"1", "3"}, true, Unkept},
		"none is, and nothing says so":     {10, []string{"1", "2", "3"}, false, Unkept},
		"it is full, and its head says so": {10, []string{"1", "2", "3"}, false, ""},
		"the last is, the others are kept": {10 + 4, []string{"1", "2"}, true, ""},
		"the first is alone":               {10 + 1, []string{"1", "2", "3"}, true, Miscounted},
		"something else":                   {99, []string{"1", "2", "3"}, true, Miscounted},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(StillPlan(1), false)
			defer w.KillAll()
			item := keyed(pk)
			item["fp"] = &types.AttributeValueMemberN{Value: fmt.Sprint(test.fp)}
			if test.flagged {
				item["flag"] = &types.AttributeValueMemberS{Value: "refused"}
			}
			if _, err := w.ingot.Engine.DynamoDB().PutItem(context.Background(),
				&dynamodb.PutItemInput{TableName: aws.String(totals), Item: item}); err != nil {
				t.Fatal(err)
			}
			s := w.model.Slot(pk+"|-", 0)
			s.Damaged, s.FP = true, big.NewInt(10)
			if s.Filled = name == "it is full, and its head says so"; s.Filled {
				head := keyed("G#live#1")
				head["flag"] = &types.AttributeValueMemberS{Value: "refused"}
				if _, err := w.ingot.Engine.DynamoDB().PutItem(context.Background(),
					&dynamodb.PutItemInput{TableName: aws.String(totals), Item: head}); err != nil {
					t.Fatal(err)
				}
			}
			for i, fp := range []int64{1, 2, 4} {
				(&model.Step{Seq: model.Pad(fmt.Sprint(i + 1)), Slot: s, FP: big.NewInt(fp), FPX: new(big.Int)}).Apply()
			}
			for _, seq := range test.letters {
				w.trouble.letters.refused[s.Key+"|"+model.Pad(seq)] = true
			}
			w.damage.checkDamaged(s)
			if got := w.Failure; (got == nil) != (test.want == "") || got != nil && got.Check != test.want {
				t.Errorf("got %v, want %q", got, test.want)
			}
		})
	}
}
