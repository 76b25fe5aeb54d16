package sim

import (
	"context"
	"fmt"
	"sort"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
)

// people change items by hand.
type people struct {
	*World
	removing string // the key whose item a person removed last
}

// strangers puts items into the events table that do not belong to Ingot.
func (w *people) strangers(n int) {
	for i := range n {
		_, err := w.ingot.Engine.DynamoDB().PutItem(context.Background(),
			&dynamodb.PutItemInput{TableName: aws.String(eventsTable),
				Item: keyOfItem(fmt.Sprintf("NOTE#%d", w.Rng.IntN(1000)), fmt.Sprint(i))})
		w.spending.eventWrites++
		w.Must(err)
	}
	w.observe()
}

// person removes an item now and then, as people do.
func (w *people) person() {
	var live []string
	for key, h := range w.model.Keys {
		if h.Live != nil {
			live = append(live, key)
		}
	}
	if len(live) == 0 {
		return
	}
	sort.Strings(live)
	w.remove(w.model.Keys[live[w.Rng.IntN(len(live))]].Live)
}

func (w *people) remove(img *model.Image) {
	w.Fault(byPerson, img.Key())
	w.delete(img)
	w.observe()
}

func (w *people) delete(img *model.Image) {
	w.spending.eventWrites++
	w.removing = img.Key()
	_, err := w.ingot.Engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: aws.String(eventsTable),
		Key: keyOfItem(img.PK, img.SK)})
	w.Must(err)
}

// removeBeforeRead lets a person remove an item that somebody has met and is about to read.
func (w *people) removeBeforeRead(keys []map[string]types.AttributeValue) {
	if w.Calm || !w.plan.People || len(keys) == 0 || !w.Chance(0.05) {
		return
	}
	pk := text(keys[w.Rng.IntN(len(keys))]["PK"])
	for _, h := range w.model.Keys {
		if h.Live != nil && h.Live.PK == pk {
			w.remove(h.Live)
			return
		}
	}
}
