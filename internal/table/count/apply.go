package count

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Counter adds changes to totals.
type Counter struct {
	*generations.Heads
	seen     rows.Observations
	few      int // totals that are written one by one
	lookKeys atomic.Int32
}

// New returns a counter of these generations. It sends no request.
func New(gens *generations.Heads, c tables.Config) *Counter {
	s := &Counter{Heads: gens, few: c.OneByOne}
	switch {
	case s.few == 0:
		s.few = fewTotals
	case s.few < 0:
		s.few = math.MaxInt
	}
	s.lookKeys.Store(rows.MaxKeys)
	return s
}

// Applied is the outcome of a batch of changes, and its cost.
type Applied struct {
	lanes.Applied
	Cost tables.Cost
}

// Apply adds a batch of one lane to its aggregate items. It counts each step exactly once. Updates
// of different items are independent of each other. Within one item, a batch is one conditional
// write.
func (s *Counter) Apply(ctx context.Context, b *lanes.Batch, quarantine lanes.Quarantine) Applied {
	a := &apply{store: s, quarantine: quarantine}
	if b.Counting() == aggregate.Receipts {
		a.receipts(ctx, b)
	} else {
		a.marks(ctx, b)
		a.warn(ctx)
	}
	return a.Applied
}

// apply is one call of Apply.
type apply struct {
	store      *Counter
	quarantine lanes.Quarantine
	mu         sync.Mutex      // guards the following fields
	large      []*markedUpdate // their items are large, but carry no warning yet
	Applied
}

// imageOf returns the image that came with a failed condition. If none came, imageOf reads the item
// now. Some emulators send no image, and an item that does not exist has none.
func (a *apply) imageOf(ctx context.Context, key event.Key, img rows.Image) (rows.Image, rows.Answer) {
	if len(img) > 0 {
		return img, rows.Answer{}
	}
	out, err := a.store.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &a.store.Aggregates, Key: rows.KeyImage(key), ConsistentRead: aws.Bool(true)})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Cost.Requests++
	if err != nil {
		return nil, rows.Classify(err)
	}
	a.Cost.Read(rows.ImageSize(out.Item))
	return out.Item, rows.Answer{}
}

// quarantined sends a refused update to quarantine. Its mark may move only after that. quarantined
// returns false if the update is unproven.
func (a *apply) quarantined(ctx context.Context, u *lanes.Update, cause error) bool {
	if err := a.quarantine(ctx, u, cause); err != nil {
		a.unproven(u.Steps[0].Sequence, fmt.Errorf("an update of aggregate %s was refused (%w) and could not be quarantined: %w", u.Def,
			cause, err))
		return false
	}
	return true
}

// flagHead flags the head of the generation. It is for an item that is too full even for a flag.
// The update then counts as processed.
func (a *apply) flagHead(ctx context.Context, u *lanes.Update, cause error) error {
	last := u.Steps[len(u.Steps)-1]
	cost, err := a.store.Flag(ctx, []*aggregate.Definition{u.Def}, last.Created,
		fmt.Sprintf("aggregate %q takes no more updates: %v", u.Key, cause))
	a.mu.Lock()
	a.Cost.Add(cost)
	a.Refused++
	a.mu.Unlock()
	return err
}

func (a *apply) unproven(sequence event.Sequence, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.Unproven.IsZero() || sequence.Compare(a.Unproven) < 0 {
		a.Unproven = sequence
	}
	if a.Err == nil {
		a.Err = err
	}
}

func (a *apply) dropped(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Dropped += n
}

// retried counts an answer after which the same request is sent again. of is the update that was
// refused; nil if it is not known which one was.
func (a *apply) retried(answer rows.Answer, of *lanes.Update) {
	if answer.Hopeless() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.Cost.Retries++
	if answer.Outcome == rows.Throttled {
		a.Cost.Throttle(answer.Reason, 1)
		if of != nil {
			a.Cost.RefusedTotal(of.Def.Name, of.Key)
		}
	}
}
