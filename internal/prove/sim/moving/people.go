package moving

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/store/repair"
)

const (
	users    = 10
	retained = 60 * 24 * time.Hour
	accounts = 8 // fewer than users, so that two rows sometimes claim one key
)

// write does what an application does to some rows of the old table. It returns their keys.
func (w *world) write(n int) (keys []string) {
	w.written = w.Now
	for range n {
		user := w.Rng.IntN(users)
		if w.hot && w.Chance(0.6) {
			user %= 2
		}
		at := stage.Origin.Add(time.Duration(user-3) * time.Hour)
		if user == 0 && !w.ends.IsZero() {
			at = w.ends.Add(-retained)
		}
		key := migrate.Row{"pk": s(fmt.Sprintf("USER#%d", user)), "at": s(at.Format(time.RFC3339))}
		keys = append(keys, rowText(key))
		w.writeRow(key)
	}
	return keys
}

// writeRow takes back the last change of a row, deletes it, or puts a new version of it.
func (w *world) writeRow(key migrate.Row) {
	ctx, name := context.Background(), rowText(key)
	now, err := w.engine.DynamoDB().GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.old.Table, Key: key})
	w.Must(err)
	row := w.before[name]
	w.before[name] = now.Item
	switch {
	case row != nil && !w.latest && !w.turning && w.Chance(0.3): // it takes its last change back
	case w.Chance(0.3):
		w.wrote[name] = ""
		_, err := w.engine.DynamoDB().DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &w.old.Table, Key: key})
		w.Must(err)
		return
	default:
		row = w.newVersion(key)
	}
	w.wrote[name] = number(row["spent"])
	_, err = w.engine.DynamoDB().PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.old.Table, Item: row})
	w.Must(err)
}

// newVersion returns a row with the next version. Some are skipped or refused.
func (w *world) newVersion(key migrate.Row) migrate.Row {
	w.version++
	row := maps.Clone(key)
	row["account"], row["name"] = s(strconv.Itoa(w.Rng.IntN(accounts))), s(fmt.Sprint("n", w.Rng.IntN(3)))
	row["plan"], row["spent"] = s([]string{"free", "paid"}[w.Rng.IntN(2)]), &types.AttributeValueMemberN{Value: strconv.Itoa(w.version)}
	switch w.Rng.IntN(12) {
	case 0:
		if !w.goesBack || !w.turning { // it would take the place of an event's row, of which a comparison tells
			row["kind"] = s("session") // it is skipped
		}
	case 1:
		delete(row, "account") // it is refused
	}
	return row
}

// disturb is a forgotten job that writes as soon as nothing is missing any more, so that capture
// may be at work on it while the sides are exchanged.
func (w *world) disturb() {
	if !w.Chance(0.4) {
		return
	}
	for _, name := range w.write(3) {
		w.noise[name] = true
	}
	w.SleepUpTo(12)
}

// sweep is time to live, which removes what has expired from the new table at some time, and from
// the old one too if it has a time to live of its own.
func (w *world) sweep() {
	for old := w.Chance(0.5); ; {
		w.SleepUpTo(1200)
		w.engine.SweepExpired()
		if old && !w.turning && !w.ends.IsZero() && w.Now.After(w.ends) {
			key := migrate.Row{"pk": s("USER#0"), "at": s(w.ends.Add(-retained).Format(time.RFC3339))}
			_, err := w.engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &w.old.Table, Key: key})
			w.wrote[rowText(key)] = ""
			w.Must(err)
		}
	}
}

func rowText(row migrate.Row) string { return text(row["pk"]) + " " + text(row["at"]) }

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

// poll runs one mapping of a stream until it is off.
func (w *world) poll(stream *esm.Stream, off *bool) {
	for !*off {
		w.Sleep(time.Duration(1+w.Rng.IntN(10)) * time.Second)
		if w.StateOf(&w.mapped) == "Enabled" {
			began := w.Now
			if w.Poll(stream, 0.1); stream == w.counted {
				w.polled = began
			}
		}
	}
}

// capture is the function behind the mappings. It runs as an invocation of its own.
func (w *world) capture(_ context.Context, payload []byte) ([]byte, error) {
	if w.blind { // the stream was off: these records are lost, and it never had them
		return w.skip(payload)
	}
	c := &migrate.Capture{Migration: w.sync()}
	return w.Invoke(w.roles.capture, func(ctx context.Context) (any, error) { return c.Handle(ctx, payload) })
}

// skip notes records as if they were done.
func (w *world) skip(payload []byte) ([]byte, error) {
	var batch struct {
		Records []struct {
			DynamoDB struct {
				SequenceNumber string
				Created        int64 `json:"ApproximateCreationDateTime"`
			} `json:"dynamodb"`
		}
		Stream string `json:"eventSourceARN"`
		Shard  string `json:"shardId"`
	}
	w.Must(json.Unmarshal(payload, &batch))
	s, err := migrate.NewMigration(w.mapping, w.old, w.Tables(w.engine.DynamoDB(), nil))
	for _, r := range batch.Records {
		if err == nil {
			err = s.NoteLane(context.Background(), event.Lane{StreamARN: batch.Stream, ShardID: batch.Shard},
				migrate.LaneNote{Sequence: r.DynamoDB.SequenceNumber, Created: time.Unix(r.DynamoDB.Created, 0)})
		}
	}
	w.Must(err)
	return []byte(`{"batchItemFailures":[],"state":{}}`), nil
}

// backfill runs passes until one ends, as often as it may. Now and then it begins again, beside a
// worker that goes on.
func (w *world) backfill(tries int) {
	w.Working++
	defer func() { w.Working-- }()
	for again := true; tries > 0 && again; tries-- {
		w.SleepUpTo(120)
		patience := w.Now.Add(time.Duration(10+w.Rng.IntN([]int{1200, 20000}[w.Rng.IntN(2)])) * time.Second)
		worker := &stage.Invocation{Name: "worker", Deadline: patience}
		w.Working++
		w.Begin(worker, func(context.Context) (any, error) {
			defer func() { w.Working-- }()
			// A request of before may arrive for ten minutes, and no record removes its copy.
			began, first := w.blind || w.blinded == 0 || w.Now.Before(w.sighted.Add(15*time.Minute)), w.passed == 0
			pass, err := w.sync().BeginPass(context.Background())
			blinded := w.blinded
			if err == nil {
				_, err = pass.Run(context.Background(), nil)
			}
			if err != nil {
				return nil, err
			}
			w.passed++
			w.gap = w.gap && (began || first || blinded != w.blinded) // only a later pass that began after it mends a gap
			return true, nil
		})
		w.Wait(worker)
		again = worker.Answer == nil || w.gap || w.Chance(0.3)
	}
}

// streamOff switches the old table's stream off and on. What was written in between is in no
// stream.
func (w *world) streamOff() {
	w.SleepUpTo(600)
	w.blind, w.gap = true, true
	w.blinded++
	w.Sleep(time.Duration(60+w.Rng.IntN(300)) * time.Second)
	w.blind, w.sighted = false, w.Now
	if !w.filling {
		w.Spawn("backfill", nil, w.fill)
	}
}

// fill runs passes until none is needed.
func (w *world) fill() {
	w.filling = true
	w.backfill(1000)
	w.filling = false
}

// erase bars the key of an event, as an operator does.
func (w *world) erase() {
	w.Working++
	defer func() { w.Working-- }()
	w.SleepUpTo(400)
	if w.leaving {
		return
	}
	key := event.Key{PK: fmt.Sprint("ACCOUNT#", w.Rng.IntN(accounts)), SK: "USER"}
	st := w.store()
	for range 20 {
		if _, err := repair.Of(st).Erase(iam.As(context.Background(), roleOf("erase")), key); err == nil {
			w.erased[key.PK+" "+key.SK] = true
			return
		}
		w.Sleep(time.Minute)
	}
}
