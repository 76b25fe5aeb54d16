package sim

import (
	"context"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// TestCheckOffloaded shows where a payload must be, when, and what an item must keep of it.
func TestCheckOffloaded(t *testing.T) {
	f := order(5)
	f.Note = 120
	short := order(5)
	for name, c := range map[string]struct {
		f      model.Fact
		old    bool // it is touched
		missed bool // the object is not there
		lost   bool // because somebody has deleted it
		epoch  int64
		kept   string // "": the payload is in the item
		want   Check
	}{
		"in the bucket":                  {f, false, false, false, 1, `{"id":"1","cents":5.0}`, ""},
		"spelled in another way":         {f, false, false, false, 1, `{"id":"1","cents":5}`, Altered},
		"something is not kept":          {f, false, false, false, 1, `{"id":"1"}`, Altered},
		"more is kept":                   {f, false, false, false, 1, `{"id":"1","cents":5.0,"note":"x"}`, Altered},
		"the second epoch needs more":    {f, false, false, false, 2, `{"id":"1","cents":5.0}`, Altered},
		"no object":                      {f, false, true, false, 1, `{"id":"1","cents":5.0}`, Altered},
		"somebody has deleted it":        {f, false, true, true, 1, `{"id":"1","cents":5.0}`, ""},
		"in the item":                    {f, false, false, false, 1, "", Altered},
		"small, in the item":             {short, false, false, false, 1, "", ""},
		"small, in the bucket":           {short, false, false, false, 1, `{"id":"1","cents":5.0}`, Altered},
		"touched without computing anew": {f, true, false, false, 2, `{"id":"1","cents":5.0}`, Altered},
	} {
		p := StillPlan(1)
		p.Offload = 1
		w := newWorld(p, false)
		whole := `{"id":"1","cents":5.0`
		if c.f.Note > 0 {
			whole += `,"note":"` + strings.Repeat("x", over) + `"`
		}
		img := &model.Image{Fact: c.f, Epoch: c.epoch, Data: whole + "}", PK: c.f.PK(), SK: c.f.SK()}
		if c.kept != "" {
			img.Elsewhere = &model.Apart{Kept: c.kept, Sum: sha256.Sum256([]byte(img.Data))}
			w.model.Lost[img.Elsewhere.Sum] = c.lost
			if !c.missed {
				_, err := w.ingot.Engine.S3().PutObject(context.Background(),
					&s3.PutObjectInput{Bucket: aws.String(payloadBucket), Key: aws.String(img.ObjectName()),
						Body: strings.NewReader(img.Data)})
				w.Must(err)
			}
		}
		change := &model.Change{New: img}
		if c.old {
			first := *img
			first.Epoch = 1
			change.Old = &first
		}
		if is := w.offload.checkOffloaded(change); is != (c.kept != "") {
			t.Errorf("%s: that the payload is in the bucket is %v", name, is)
		}
		if got := w.Failure; (got == nil) != (c.want == "") || got != nil && got.Check != c.want {
			t.Errorf("%s: %v", name, got)
		}
		w.KillAll()
	}
}

// TestReadsOffloaded shows that a reader gets what an item keeps of the payload, and no other.
func TestReadsOffloaded(t *testing.T) {
	sum := sha256.Sum256([]byte("payload"))
	inside, outside := &model.Image{Data: "payload"}, &model.Image{Data: "payload", Elsewhere: &model.Apart{Kept: "kept", Sum: sum}}
	for i, c := range []struct {
		img  *model.Image
		item *event.Item
		want bool
	}{
		{inside, &event.Item{Data: "payload"}, true},
		{inside, &event.Item{Data: "other"}, false},
		{inside, &event.Item{Data: "payload", Payload: &event.Payload{Sum: sum}}, false},
		{outside, &event.Item{Data: "kept", Payload: &event.Payload{Sum: sum}}, true},
		{outside, &event.Item{Data: "kept", Payload: &event.Payload{}}, false},
		{outside, &event.Item{Data: "payload", Payload: &event.Payload{Sum: sum}}, false},
		{outside, &event.Item{Data: "kept"}, false},
	} {
		if got := reads(c.img, c.item); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}
