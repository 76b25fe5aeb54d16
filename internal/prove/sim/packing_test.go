package sim

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// TestBlindCode shows that blind code meets bytes that are not a payload, in an item and in a
// stream record, and that it meets everything else as it is.
func TestBlindCode(t *testing.T) {
	w := newWorld(StillPlan(1), false)
	defer w.KillAll()
	w.plan.NewForm, w.plan.Packed = true, 2
	item := keyOfItem("ORDER#1", "ORDER")
	item["data"] = &types.AttributeValueMemberB{Value: []byte(model.ZstdMagic + "rest")}
	if _, err := w.ingot.Engine.DynamoDB().PutItem(context.Background(),
		&dynamodb.PutItemInput{TableName: aws.String(eventsTable), Item: item}); err != nil {
		t.Fatal(err)
	}
	f := newForm{w.ingot.Engine.DynamoDB(), w, w.packing.blind(1)}
	out, err := f.GetItem(context.Background(),
		&dynamodb.GetItemInput{TableName: aws.String(eventsTable), Key: keyOfItem("ORDER#1", "ORDER")})
	if err != nil || text(out.Item["data"]) != "00" || text(out.Item["PK"]) != "ORDER#1" {
		t.Errorf("blind code reads %v, %v", out, err)
	}
	const record = `{"data":{"B":"KLUv/XJlc3Q="},"id":{"S":"1"}}`
	for epoch, want := range map[int64]string{1: `{"data":{"B":"AA=="},"id":{"S":"1"}}`, 2: record} {
		must.Equal(t, string(w.packing.formFor(epoch, []byte(record))), want, epoch)
	}
}

// TestCheckPacked shows which forms of a payload are right.
func TestCheckPacked(t *testing.T) {
	const long = 2000
	img := func(epoch int64, size int, packed bool) *model.Image {
		data := strings.Repeat("x", size)
		out := &model.Image{Fact: order(1), Epoch: epoch, Data: data, Packed: packed,
			Whole: map[string]streamtypes.AttributeValue{"data": &streamtypes.AttributeValueMemberS{Value: data}}}
		if packed {
			out.Whole["data"] = &streamtypes.AttributeValueMemberB{Value: []byte(model.ZstdMagic)}
		}
		return out
	}
	for name, test := range map[string]struct {
		c     model.Change
		wrong bool
	}{
		"long, by code that compresses":         {model.Change{New: img(2, long, true)}, false},
		"long and left as it is":                {model.Change{New: img(2, long, false)}, true},
		"short and left as it is":               {model.Change{New: img(2, 200, false)}, false},
		"long, by code that does not":           {model.Change{New: img(1, long, false)}, false},
		"compressed by code that does not":      {model.Change{New: img(1, long, true)}, true},
		"compressed, and larger than it was":    {model.Change{New: img(2, 3, true)}, true},
		"touched by code that compresses":       {model.Change{Old: img(1, long, false), New: img(2, long, false)}, false},
		"compressed when it was touched":        {model.Change{Old: img(1, long, false), New: img(2, long, true)}, true},
		"no longer compressed when touched too": {model.Change{Old: img(2, long, true), New: img(2, long, false)}, true},
	} {
		w := newWorld(StillPlan(1), false)
		w.plan.Packed = 2
		w.packing.checkPacked(&test.c)
		must.Equal(t, w.Failure != nil, test.wrong, name, w.Failure)
		w.KillAll()
	}
}

func TestUnpack(t *testing.T) {
	for data, want := range map[string]string{`{"a":1}`: `{"a":1}`, model.ZstdMagic + "no frame": ""} {
		if got, packed := model.Unpack(data); got != want || packed != (want == "") {
			t.Errorf("%q reads as %q, %v", data, got, packed)
		}
	}
}
