package sim

import (
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// packing is about payloads that are compressed.
type packing struct {
	*World
	draw *rand.Rand // draws how long notes are
}

// In worlds whose plan has Packed, many orders have a note, and their payloads are compressed from
// that epoch on. If the plan has NewForm too, older code is of a version that cannot read such
// payloads.

// planPacking decides whether payloads are compressed. Its draw is its own, so that other worlds
// stay as they are.
func (p *Plan) planPacking() {
	draw := rand.New(rand.NewPCG(p.Seed, 8))
	if draw.IntN(5) > 0 {
		return
	}
	p.Packed = 1
	if p.Upgrade > 0 && (p.NewForm || draw.IntN(3) > 0) {
		p.Packed = 2
	}
}

// addNote gives an order a note, if the world has them. With a long one, the item takes two write
// units as it is, and one when it is compressed.
func (w *packing) addNote(f *model.Fact) {
	if (w.plan.Packed > 0 || w.plan.Offload > 0) && f.Type == "order" && w.draw.IntN(3) > 0 {
		f.Note = 60 + w.draw.IntN(56)
	}
}

// aUnit is what one write unit pays for, in bytes.
const aUnit = 1024

// checkPacked checks in which form a payload is stored. Code that compresses does so where the
// payload alone takes more than a write unit, and other code never does. Nothing changes the form
// later.
func (w *packing) checkPacked(c *model.Change) {
	if w.plan.Packed == 0 {
		return
	}
	img := c.New
	compresses := img.Type == "order" && img.Epoch >= w.plan.Packed
	switch {
	case c.Old != nil && c.Old.Fact == img.Fact:
		if model.ValueOf(c.Old.Whole["data"]) != model.ValueOf(img.Whole["data"]) {
			w.Fail(Altered, "%s has its payload in another form than before", img.Key())
		}
		return
	case img.Packed && (!compresses || len(model.ValueOf(img.Whole["data"])) >= len(img.Data)):
		w.Fail(Altered, "%s is compressed, by code of epoch %d, from %d bytes", img.Key(), img.Epoch, len(img.Data))
	case !img.Packed && compresses && len(img.Data) > aUnit:
		w.Fail(Altered, "%s is not compressed, by code of epoch %d, at %d bytes", img.Key(), img.Epoch, len(img.Data))
	}
	if img.Packed {
		w.Faults[compressed]++
	}
}

// garble converts an item to the form that an older version of Ingot sees, which cannot read
// compressed payloads: the payload is not text.
func garble(item map[string]types.AttributeValue) map[string]types.AttributeValue {
	if _, packed := item["data"].(*types.AttributeValueMemberB); !packed {
		return item
	}
	own := make(map[string]types.AttributeValue, len(item))
	for name, v := range item {
		own[name] = v
	}
	own["data"] = &types.AttributeValueMemberB{Value: []byte{0}}
	return own
}

// formFor returns a batch of stream records in the form that code of an epoch meets.
func (w *packing) formFor(epoch int64, payload []byte) []byte {
	switch {
	case w.blind(epoch):
		return dataInBytes.ReplaceAll(payload, []byte(`"data":{"B":"AA=="}`))
	case w.plan.NewForm && w.plan.Packed == 0 && epoch > 1:
		return readable(payload)
	}
	return payload
}

// blind reports whether code of an epoch is of a version that cannot read compressed payloads.
func (w *packing) blind(epoch int64) bool {
	return w.plan.NewForm && w.plan.Packed > 0 && epoch < w.plan.Packed
}
