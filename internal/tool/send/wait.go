package send

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Table is the client that reads the events table.
type Table interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Waiting says what to wait for.
type Waiting map[Sent]Due

// Sent names an event by its key and digest. Two payloads under one key are two events, and under
// insert at most one of them is stored.
type Sent struct {
	Key    event.Key
	Digest event.Digest
}

// Due is what must be stored for an event, and the event itself if digests are not enough to
// decide.
type Due struct {
	Parts map[event.Key]event.Digest // the digests under the keys of its parts
	// Moves is the item if its put, or that of a part, moves totals, which may refuse it. Otherwise
	// it is nil.
	Moves *event.Item
	// Revision is the item under mode latest, where a newer revision may be stored. Otherwise it is
	// nil.
	Revision *event.Item
	// Late is true if its expiry is so near that it is not written any more, unless it is stored
	// already.
	Late bool
}

// Add waits for an item and its parts too, as of now.
func (w Waiting) Add(item *event.Item, now time.Time) {
	d := Due{Late: tables.TooLate(item, now)}
	if item.Parts != nil && len(item.Parts.Items) > 0 {
		d.Parts = make(map[event.Key]event.Digest, len(item.Parts.Items))
		for _, part := range item.Parts.Items {
			if part.Whole != nil { // a newer state may be stored in its place
				continue
			}
			d.Parts[part.Key] = part.Digest
			if part.Put != 0 {
				d.Moves = item
			}
		}
	}
	if item.Put != 0 {
		d.Moves = item
	}
	if item.Revision != nil {
		d.Revision = item
	}
	w[Sent{item.Key, item.Digest}] = d
}

// Waited says what became of the events.
type Waited struct {
	Stored int // events whose items are all there with these digests
	Stale  int // events that are older than the stored revision
	Other  int // events of which an item's key holds another payload
	Barred int // events of which an item's key is barred, because its event was erased: they are never stored
	Late   int // events that are not stored, and that are too near their expiry to be
	// Rejected counts events that were not stored after some time, and that a total would refuse as
	// it is.
	Rejected int
	Left     int // events that were not stored, or not with all their parts, when the time was over
}

// Judge returns what the verdict on an event would be now.
type Judge func(ctx context.Context, item *event.Item) (event.Verdict, error)

// patience is how long Wait waits for an event before it asks whether a total refuses it. The
// function may not have received it yet, and earlier events may raise the total.
const patience = 5 * time.Second

// maxGet is how many keys one BatchGetItem takes.
const maxGet = 100

// Wait asks until all items of each event are there, or until limit has passed. sleep waits between
// two rounds. judge says for an event that moves totals whether waiting is useless, and under mode
// latest whether the stored revision is newer.
func Wait(ctx context.Context, client Table, table string, sent Waiting, judge Judge, limit time.Duration,
	sleep func(context.Context, time.Duration) error, told func(Waited)) (Waited, error) {
	w := &waiting{sent: sent, judge: judge, unproven: make(map[Sent]int, len(sent)), asks: make(map[event.Key][]Sent, len(sent)),
		seen: map[Sent]event.Digest{}, Waited: Waited{Left: len(sent)}}
	for one, due := range sent {
		w.unproven[one], w.asks[one.Key] = 1+len(due.Parts), append(w.asks[one.Key], one)
		for part := range due.Parts {
			w.asks[part] = append(w.asks[part], one)
		}
	}
	left := slices.SortedFunc(maps.Keys(w.asks), event.Key.Compare)
	pause := 100 * time.Millisecond
	for waited := time.Duration(0); ; {
		for chunk := range slices.Chunk(left, maxGet) {
			found, err := read(ctx, client, table, chunk)
			if err != nil {
				return w.Waited, err
			}
			for key, item := range found {
				if item.barred {
					w.barred(key)
				} else if err := w.found(ctx, key, item.digest); err != nil {
					return w.Waited, err
				}
			}
		}
		w.late()
		if waited >= min(patience, limit) {
			if err := w.rejected(ctx); err != nil {
				return w.Waited, err
			}
		}
		told(w.Waited)
		if w.Left == 0 || waited >= limit {
			return w.Waited, nil
		}
		left = slices.DeleteFunc(left, func(key event.Key) bool {
			return !slices.ContainsFunc(w.asks[key], func(one Sent) bool { return w.unproven[one] > 0 })
		})
		if err := sleep(ctx, pause); err != nil {
			return w.Waited, err
		}
		waited, pause = waited+pause, min(2*pause, 2*time.Second)
	}
}

// waiting is what one [Wait] knows so far.
type waiting struct {
	sent     Waiting
	judge    Judge
	unproven map[Sent]int          // items of an event that were not found yet; 0: its outcome is known
	asks     map[event.Key][]Sent  // the events that still wait for what is under a key
	seen     map[Sent]event.Digest // an older revision that was found in place of the event's own
	Waited
}

// found notes what is under a key.
func (w *waiting) found(ctx context.Context, key event.Key, digest event.Digest) error {
	var still []Sent
	for _, one := range w.asks[key] {
		due, want := w.sent[one], one.Digest
		if key != one.Key {
			want = due.Parts[key]
		}
		switch {
		case w.unproven[one] == 0:
		case digest == want:
			if w.unproven[one]--; w.unproven[one] == 0 {
				w.Stored, w.Left = w.Stored+1, w.Left-1
			}
		case due.Revision != nil && w.seen[one] == digest:
			still = append(still, one)
		case due.Revision != nil:
			verdict, err := w.judge(ctx, due.Revision)
			if err != nil {
				return err
			}
			switch {
			case verdict.Written(), verdict == event.Retry:
				w.seen[one], still = digest, append(still, one)
			case verdict == event.Duplicate:
				w.unproven[one], w.Stored, w.Left = 0, w.Stored+1, w.Left-1
			case verdict == event.Stale:
				w.unproven[one], w.Stale, w.Left = 0, w.Stale+1, w.Left-1
			default:
				w.unproven[one], w.Other, w.Left = 0, w.Other+1, w.Left-1
			}
		default:
			w.unproven[one], w.Other, w.Left = 0, w.Other+1, w.Left-1
		}
	}
	w.asks[key] = still
	return nil
}

// barred notes that a key is barred.
func (w *waiting) barred(key event.Key) {
	for _, one := range w.asks[key] {
		if w.unproven[one] > 0 {
			w.unproven[one], w.Barred, w.Left = 0, w.Barred+1, w.Left-1
		}
	}
	w.asks[key] = nil
}

// late gives up the events that are not there and cannot be stored any more.
func (w *waiting) late() {
	for one, n := range w.unproven {
		if n > 0 && w.sent[one].Late {
			w.unproven[one], w.Late, w.Left = 0, w.Late+1, w.Left-1
		}
	}
}

// rejected asks whether totals refuse the events that are left.
func (w *waiting) rejected(ctx context.Context) error {
	for one, n := range w.unproven {
		moves := w.sent[one].Moves
		if n == 0 || moves == nil {
			continue
		}
		verdict, err := w.judge(ctx, moves)
		if err != nil {
			return err
		}
		if verdict == event.Rejected {
			w.unproven[one], w.Rejected, w.Left = 0, w.Rejected+1, w.Left-1
		}
	}
	return nil
}

// there is what is under a key.
type there struct {
	digest event.Digest
	barred bool
}

// read returns the items that are there.
func read(ctx context.Context, client Table, table string, keys []event.Key) (map[event.Key]there, error) {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("PK, SK, #digest, #barred"),
		ExpressionAttributeNames: map[string]string{"#digest": "digest", "#barred": itemform.Barred}}
	for _, key := range keys {
		request.Keys = append(request.Keys, rows.KeyImage(key))
	}
	found := map[event.Key]there{}
	out, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: request}})
	if err != nil {
		return nil, err
	}
	for _, item := range out.Responses[table] { // keys that the service left unread come again with the next round
		key, digest := rows.KeyOf(item), rows.BytesOf(item["digest"])
		barred, _ := item[itemform.Barred].(*types.AttributeValueMemberBOOL)
		switch {
		case barred != nil && barred.Value:
			found[key] = there{barred: true}
		case len(digest) == len(event.Digest{}):
			found[key] = there{digest: event.Digest(digest)}
		}
	}
	return found, nil
}
