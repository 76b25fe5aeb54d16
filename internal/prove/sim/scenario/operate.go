package scenario

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// deploy gives another pipeline to both functions, or to one of them.
func (w *world) deploy(a *arguments, out *report) error {
	file, function, secret := a.word(), a.word(), a.pair("secret")
	plan, err := w.load(file, secret)
	if err != nil {
		return err
	}
	for _, name := range []string{"streams", "ingest"} {
		if function == "" || function == name {
			w.plans[name] = plan
			line := fmt.Sprintf("%s runs %s.yaml, epoch %d", name, file, plan.Epoch())
			if secret != "" {
				line += ", with the secret " + secret
			}
			out.linef("%s", line)
		}
	}
	return nil
}

// load compiles a pipeline. The secret of hmac is always the same unless a script gives another.
func (w *world) load(file, secret string) (*pipeline.Pipeline, error) {
	return pipeline.Load(w.files, file+".yaml", pipeline.Secret([]byte(cmp.Or(secret, "the secret of the scenarios"))))
}

// touch does the first half of a rebuild.
func (w *world) touch(_ *arguments, out *report) error {
	st, err := w.store("streams")
	if err != nil {
		return err
	}
	w.passes = map[string]tables.Pass{}
	for _, def := range w.plans["streams"].Definitions() {
		head, err := st.Head(context.Background(), def)
		if err != nil {
			return err
		}
		if head != nil && head.Building {
			if w.passes[def.Name], err = repair.Of(st).BeginPass(context.Background(), def); err != nil {
				return err
			}
		}
	}
	t, err := repair.Of(st).Touch(context.Background())
	out.linef("%d of %d items got the stamp %d", t.Touched, t.Scanned, w.plans["streams"].Epoch())
	return err
}

// finish does the second half of a rebuild.
func (w *world) finish(a *arguments, out *report) error {
	def, ok := w.plans["streams"].Definition(a.word())
	if !ok {
		return fmt.Errorf("there is no such aggregate")
	}
	st, err := w.store("streams")
	if err != nil {
		return err
	}
	differences, err := verify.Finish(context.Background(), w.plans["streams"], st, w.passes[def.Name], w.Clock.Now())
	switch {
	case err != nil:
		out.linef("refused: %v", err)
	case len(differences) > 0:
		for _, d := range differences {
			out.linef("refused: %s", d.What+" of "+d.Total+" differs")
		}
	default:
		out.linef("%s is complete", generation(def.Name, def.Since))
	}
	return nil
}

// remove lets a person delete an item.
func (w *world) remove(a *arguments, out *report) error {
	pk := a.word()
	items, err := w.scan(eventsTable)
	if err != nil {
		return err
	}
	for _, item := range items {
		if text(item["PK"]) == pk {
			_, err := w.Engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: aws.String(eventsTable),
				Key: attributes{"PK": item["PK"], "SK": item["SK"]}})
			out.linef("%s is removed", pk)
			return err
		}
	}
	return fmt.Errorf("there is no item %s", pk)
}

// put lets somebody else write into the events table.
func (w *world) put(a *arguments, out *report) error {
	pk, sk := a.word(), a.word()
	item := attributes{"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk}}
	for _, pair := range a.left {
		name, value, _ := strings.Cut(pair, "=")
		item[name] = &types.AttributeValueMemberS{Value: value}
	}
	a.left = nil
	_, err := w.Engine.DynamoDB().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(eventsTable), Item: item})
	out.linef("%s is put", pk)
	return err
}

// tamper lets somebody change a total by hand.
func (w *world) tamper(a *arguments, out *report) error {
	name := a.word()
	if len(a.left) != 1 {
		return fmt.Errorf("says one value")
	}
	value, number, _ := strings.Cut(a.left[0], "=")
	a.left = nil
	return w.alter(name, func(at string, in *dynamodb.UpdateItemInput) {
		in.UpdateExpression, in.ExpressionAttributeNames = aws.String("SET #v = :v"), map[string]string{"#v": value}
		in.ExpressionAttributeValues = attributes{":v": &types.AttributeValueMemberN{Value: number}}
		out.linef("%s of %s is now %s", value, at, number)
	})
}

// alter updates the first total of an aggregate by hand. how gets the name that a scenario uses for
// the total.
func (w *world) alter(name string, how func(at string, in *dynamodb.UpdateItemInput)) error {
	items, err := w.scan(totals)
	if err != nil {
		return err
	}
	for _, item := range items {
		if strings.HasPrefix(text(item["PK"]), "A#"+name+"#") {
			in := &dynamodb.UpdateItemInput{TableName: aws.String(totals), Key: attributes{"PK": item["PK"], "SK": item["SK"]}}
			how(w.names.address(text(item["PK"]), text(item["SK"])), in)
			_, err := w.Engine.DynamoDB().UpdateItem(context.Background(), in)
			return err
		}
	}
	return fmt.Errorf("there is no total of %s", name)
}

// fill makes the first total of an aggregate as large as many marks would.
func (w *world) fill(a *arguments, out *report) error {
	name := a.word()
	size, err := strconv.Atoi(a.word())
	if err != nil {
		return err
	}
	return w.alter(name, func(at string, in *dynamodb.UpdateItemInput) {
		in.UpdateExpression = aws.String("SET attachment = :v")
		in.ExpressionAttributeValues = attributes{":v": &types.AttributeValueMemberB{Value: make([]byte, size<<10)}}
		out.linef("%s takes %d KB more", at, size)
	})
}

// verify checks the tables with the verifier that users have.
func (w *world) verify(_ *arguments, out *report) error {
	st, err := w.store("streams")
	if err != nil {
		return err
	}
	r, err := verify.Totals(context.Background(), w.plans["streams"], st, w.Clock.Now())
	if err != nil {
		return err
	}
	for _, d := range r.Differences {
		has, wants := d.Has, d.Wants
		if d.What == "fp" {
			has, wants = short(has, 4), short(wants, 4)
		}
		out.linef("%s: %s is %s, and its items add up to %s", d.Total, d.What, has, wants)
	}
	for _, flagged := range r.Flagged {
		out.linef("flagged: %s", w.names.people(flagged, 130))
	}
	for _, odd := range r.Unreadable {
		out.linef("odd: %s", w.names.people(odd, 130))
	}
	out.linef("%d %s, %d %s, %d %s", r.Items, plural(r.Items, "item"), r.Totals, plural(r.Totals, "total"), len(r.Differences),
		plural(len(r.Differences), "difference"))
	return nil
}
