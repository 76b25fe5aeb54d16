package sim

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/verify"
)

// damage is what a person spoils in the totals, which a verification must find.
type damage struct {
	*World
	damaged []*model.Slot // totals that a person has spoiled
}

// damagedMost limits the damage to one total in each world.
const damagedMost = 1

// damage lets a person spoil a total, so that some or all updates of it are refused from then on.
// The person turns a value into text, or makes the item as large as an item can be.
func (w *damage) damage() {
	if len(w.damaged) >= damagedMost {
		return
	}
	var there []string
	for key, s := range w.model.Slots {
		if s.Applied > 0 && firstGeneration(key) {
			there = append(there, key)
		}
	}
	if len(there) == 0 {
		return
	}
	slices.Sort(there)
	s := w.model.Slots[there[w.Rng.IntN(len(there))]]
	if w.Chance(0.5) {
		w.mistype(s)
	} else {
		w.fill(s)
	}
}

// firstGeneration reports whether a total was there from the first epoch on. A later generation
// that is being rebuilt could never be completed if one of its totals refused its changes.
func firstGeneration(key string) bool {
	pk, _, _ := strings.Cut(key, "|")
	name, _, _ := model.SlotName(key)
	return strings.HasPrefix(pk, "A#"+name+"#1#")
}

func (w *damage) mistype(s *model.Slot) {
	names := append(sortedKeys(s.Values), "n")
	if len(s.Max) > 0 && w.Chance(0.5) { // no condition on it holds any more
		names = sortedKeys(s.Max)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "i:score" }) // the table refuses an index key of another type
	name := names[w.Rng.IntN(len(names))]
	if w.spoil(s, name, &types.AttributeValueMemberS{Value: "see the ledger"}) {
		w.Fault(mistyped, s.Key+" "+name)
	}
}

// A filled total has at most slack bytes left, which is enough for a flag. Equally often it has at
// most little bytes left, which is not even enough for one more digit.
const slack, little = 400, 40

func (w *damage) fill(s *model.Slot) {
	const name = "attachment"
	pk, sk, _ := strings.Cut(s.Key, "|")
	used := len(name)
	for attribute, v := range w.read(totals, pk, sk) {
		used += len(attribute) + sizeOf(v)
	}
	content := make([]byte, event.MaxItem-used-w.Rng.IntN([]int{slack, little}[w.Rng.IntN(2)]))
	if s.Filled = true; w.spoil(s, name, &types.AttributeValueMemberB{Value: content}) {
		w.Fault(filled, fmt.Sprintf("%s with %d bytes", s.Key, len(content)))
	}
}

func sizeOf(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return itemform.NumberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	}
	return 0
}

// spoil sets an attribute of a total.
func (w *damage) spoil(s *model.Slot, name string, v types.AttributeValue) bool {
	pk, sk, _ := strings.Cut(s.Key, "|")
	_, err := w.ingot.Engine.DynamoDB().UpdateItem(context.Background(), &dynamodb.UpdateItemInput{TableName: aws.String(totals),
		Key:              keyOfItem(pk, sk),
		UpdateExpression: aws.String("SET #a = :v"), ConditionExpression: aws.String("attribute_exists(PK)"),
		ExpressionAttributeNames: map[string]string{"#a": name}, ExpressionAttributeValues: map[string]types.AttributeValue{":v": v}})
	if err != nil {
		w.Fail(Broken, "damaging %s: %v", s.Key, err)
		return false
	}
	s.Damaged = true
	w.damaged = append(w.damaged, s)
	return true
}

// checkDamaged looks at a damaged total whose marks or receipts have passed more changes. Each of
// them must either be counted, which the fingerprint shows, or be in quarantine with a flag on the
// total. A change that was refused earlier may lie below what a later update counted. So the first
// of the changes may be missing.
func (w *damage) checkDamaged(s *model.Slot) {
	pk, sk, _ := strings.Cut(s.Key, "|")
	item := w.read(totals, pk, sk)
	fp, fpx := number(item["fp"]), number(item["fpx"])
	counted, closed := new(big.Int).Sub(fp, s.FP), new(big.Int).Sub(fpx, s.FPX)
	for _, step := range s.Waiting {
		counted.Sub(counted, step.FP)
		closed.Sub(closed, step.FPX)
	}
	refused := 0
	for ; counted.Sign() != 0 || closed.Sign() != 0; refused++ {
		if refused == len(s.Waiting) {
			w.Fail(Miscounted, "%s is damaged, and its changes cannot add up to its fingerprint", s.Key)
			return
		}
		counted.Add(counted, s.Waiting[refused].FP)
		closed.Add(closed, s.Waiting[refused].FPX)
	}
	w.checkRefused(s, s.Waiting[:refused], item["flag"] != nil)
	s.FP, s.FPX, s.Waiting = fp, fpx, nil
}

// checkRefused checks that the changes that a total did not take are in quarantine, and that the
// total is flagged. If the total is full, its head may be flagged instead.
func (w *damage) checkRefused(s *model.Slot, steps []*model.Step, flagged bool) {
	for _, step := range steps {
		if !w.trouble.letters.refused[s.Key+"|"+step.Seq] {
			w.Fail(Unkept, "%s did not take change %s, which is not in quarantine", s.Key, step.Seq)
			return
		}
	}
	if len(steps) == 0 || flagged {
		return
	}
	name, _, _ := model.SlotName(s.Key)
	if def, ok := w.pipelineOf(1).Definition(name); !s.Filled || !ok || !w.trouble.flaggedHead(def) {
		w.Fail(Unkept, "%s did not take change %s, and neither it nor its head is flagged", s.Key, steps[0].Seq)
	}
}

// checkLeftOut checks, at rest, the changes that the marks of a damaged total have not passed
// because the total is too full for a mark. (Under receipts, each change has a receipt all the
// same.)
func (w *damage) checkLeftOut(s *model.Slot) {
	for _, l := range s.Lanes {
		w.checkRefused(s, l.Steps[l.Applied:], false)
	}
}

// spoiledTotal reports whether a difference is about a damaged total. Nothing is promised about the
// values of such a total.
func (w *damage) spoiledTotal(d verify.Difference) bool {
	return slices.ContainsFunc(w.damaged, func(s *model.Slot) bool { return d.Total == model.TotalText(s.Key) })
}
