package migrate

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/keys"
)

// Control is the control item of a migration, in the aggregates table. It says which side is the
// source of each type: only the source is written by producers, and the other side is its copy.
type Control struct {
	// From and ID are the name and the TableId of the old table.
	From, ID string
	// States says of each type old, turning or new. A type that is missing is old.
	States map[string]string
	// Compared is when the last comparison began, and Found what it found: clean, or what stands
	// against a turn. Compared is zero if there was none.
	Compared time.Time
	Found    string
	// Captured is a time: capture has done every change before it. Changed is when the newest
	// change of the source was made that it has seen, to ten seconds.
	Captured, Changed time.Time
	// Stream is the ARN of the stream that is read, or those of both, and StreamAt when that was
	// first noted. Another one begins where nobody knows what was written before.
	Stream   string
	StreamAt time.Time
	// Draining is when the types became Draining, and zero if they are not.
	Draining time.Time
	// Turned is when the types became Turning, Settled what capture had done by then, and Retired
	// when the migration was over. They are zero before.
	Turned, Settled, Retired time.Time
	// Pass is the number of the pass that began last, and Filled that of the last one that ended.
	Pass, Filled int64

	eventsID string    // the TableId of the events table
	digest   string    // of what says what rows become, when the last pass began
	worked   time.Time // when a pass last noted that it works; see backfill.go
	halted   int64     // the number of the last pass that has stopped between two parts
	voided   int64     // how often what was compared before has ceased to count
	met      []string  // rows that capture has met, and that stood against a turn then
	meets    int64     // how often it has met such rows
}

// These are the states of a type.
const (
	Old     = "old"        // the old table is the source, and the new table's items are copies
	Turning = rows.Turning // neither is written: its items are being counted
	New     = rows.New     // the new table is the source
	// On the way back: messages wait, and capture brings to the old table what was stored before.
	Draining = "draining"
	// On the way back: no side is written.
	Returning = "returning"
)

// State returns the state of a type.
func (c *Control) State(typ string) string {
	if state := c.States[typ]; state != "" {
		return state
	}
	return Old
}

// Control reads the control item, consistently. It returns nil if there is none.
func (s *Migration) Control(ctx context.Context) (*Control, error) {
	img, err := s.store.Get(ctx, rows.ControlKey(s.mapping.Name()))
	if err != nil {
		return nil, fmt.Errorf("reading the control item of migration %s: %w", s.mapping.Name(), awserr.Quiet(err))
	}
	if len(img) == 0 {
		return nil, nil
	}
	at := func(name string) time.Time {
		t, _ := keys.ParseTime(rows.TextOf(img[name]))
		return t
	}
	s.turned.Store(!at("turnedAt").IsZero())
	return &Control{Compared: at("comparedAt"), Captured: at("captured"), Changed: at("changedAt"), Turned: at("turnedAt"),
		Settled: at("settledAt"), worked: at("workedAt"), halted: rows.IntegerOf(img["halted"]),
		Draining: at("drainingAt"), Retired: at("retiredAt"), Stream: rows.TextOf(img["streamArn"]), StreamAt: at("streamAt"),
		Found: rows.TextOf(img["evidence"]), From: rows.TextOf(img["from"]),
		ID: rows.TextOf(img["table"]), States: rows.StatesOf(img),
		Pass: rows.IntegerOf(img["pass"]), Filled: rows.IntegerOf(img["filled"]), voided: rows.IntegerOf(img["voided"]),
		met: rows.TextsOf(img["met"]), meets: rows.IntegerOf(img["meets"]),
		eventsID: rows.TextOf(img["events"]), digest: rows.TextOf(img["mapping"])}, nil
}

// StopError says why a migration may not write.
type StopError struct {
	Why  string
	Soon bool // it may again without that anybody does something
}

func (e *StopError) Error() string { return e.Why }

func stopped(format string, args ...any) error { return &StopError{Why: fmt.Sprintf(format, args...)} }

// Direction says which side is copied to which.
type Direction uint8

const (
	Forward  Direction = iota // rows of the old table become items of the new one
	Backward                  // events of the new table become rows of the old one
)

// Open returns which side may be written now, as a copy of the other. The error is a [*StopError]
// if none may: the control item is missing or belongs to another table, the migration is over, or
// the types are between the two sides. It is [tables.ErrOtherSecret] if the keys of events would be
// hashed with another secret.
func (s *Migration) Open(ctx context.Context) (Direction, error) {
	if err := s.heads.CheckSecret(ctx); err != nil {
		return Forward, err
	}
	c, err := s.Control(ctx)
	if err != nil {
		return Forward, err
	}
	return s.allows(c)
}

// allows is Open for a control item that has been read.
func (s *Migration) allows(c *Control) (Direction, error) {
	way, err := s.standing(c)
	if err == nil && c.digest != "" && c.digest != s.mapping.Digest() {
		err = stopped("pass %d of migration %s began with another migration.yaml, or with another pipeline.yaml for its types: run `ingot "+
			"migrate backfill` with these files, and deploy them to the function that captures", c.Pass, s.mapping.Name())
	}
	return way, err
}

// standing returns which side may be written, whatever the files of this process say of rows.
func (s *Migration) standing(c *Control) (Direction, error) {
	switch {
	case c == nil:
		return Forward, stopped("migration %s has no control item: begin it with `ingot migrate backfill`. If somebody has deleted the item, "+
			"nothing says any more which side is the source", s.mapping.Name())
	case c.From != s.old.Table || c.ID != s.old.ID:
		return Forward, stopped("migration %s began with table %s (%s), and this is %s (%s): a table that was created again would empty the copy",
			s.mapping.Name(), c.From, c.ID, s.old.Table, s.old.ID)
	case c.eventsID != "" && c.eventsID != s.old.EventsID:
		return Forward, stopped("migration %s began with the events table %s, and %s is %s now: it was created again, and lacks what was stored",
			s.mapping.Name(), c.eventsID, s.store.Events, s.old.EventsID)
	case !c.Retired.IsZero():
		return Forward, stopped("migration %s is over, so nothing is copied any more: delete the stack of its capture function", s.mapping.Name())
	case s.are(c, Old):
		return Forward, nil
	case (s.are(c, New) || s.are(c, Draining)) && s.mapping.GoesBack():
		return Backward, nil
	}
	for _, typ := range s.mapping.Types() {
		if state := c.State(typ); state == New {
			return Forward, stopped("%s is new: the old table is no longer its source, so nothing is copied from it, and without back in "+
				"migration.yaml nothing goes back", typ)
		} else if state != Old {
			return Forward, &StopError{Soon: s.mapping.GoesBack(),
				Why: fmt.Sprintf("%s is %s: no side is written until that is over", typ, state)}
		}
	}
	return Forward, nil
}

// Begin makes the control item if there is none. It refuses if the new table already holds an item
// of a type that is to be migrated, because nobody could tell it from a copy.
func (s *Migration) Begin(ctx context.Context) (*Control, error) {
	if err := s.heads.CheckSecret(ctx); err != nil {
		return nil, err
	}
	c, err := s.Control(ctx)
	if err != nil {
		return nil, err
	}
	if c != nil {
		_, err := s.standing(c)
		return c, err
	}
	for item, err := range walk.Items(ctx, s.store) {
		if err != nil {
			return nil, err
		}
		if s.mapping.Becomes(item.Type) {
			return nil, stopped("table %s already holds %s %s: a type begins to migrate only if the new table has no item of it",
				s.store.Events, item.Type, item.ID)
		}
	}
	img := rows.KeyImage(rows.ControlKey(s.mapping.Name()))
	img["from"], img["table"], img["pass"], img["filled"] = rows.Text(s.old.Table), rows.Text(s.old.ID), rows.Integer(0), rows.Integer(0)
	img["events"], img["mapping"] = rows.Text(s.old.EventsID), rows.Text(s.mapping.Digest())
	_, err = rows.Asked(ctx, s.store, s.store.Client.PutItem, &dynamodb.PutItemInput{TableName: &s.store.Aggregates, Item: img,
		ConditionExpression: aws.String("attribute_not_exists(PK)")})
	if a := rows.Classify(err); a.Outcome != rows.Done && a.Outcome != rows.Failed {
		return nil, fmt.Errorf("beginning migration %s: %w", s.mapping.Name(), a.Err)
	}
	if c, err = s.Control(ctx); err == nil {
		_, err = s.standing(c)
	}
	return c, err
}

// directionOf returns which side is, or was last, copied to which.
func (s *Migration) directionOf(c *Control) Direction {
	if (s.are(c, New) || s.are(c, Draining) || s.are(c, Returning)) && s.mapping.GoesBack() {
		return Backward
	}
	return Forward
}

// Streams returns the ARNs of the streams that capture must read, with a space between them: that
// of the old table, and on the way back that of the new one as well.
func (s *Migration) Streams(c *Control) string {
	if s.directionOf(c) == Backward {
		return s.old.Events + " " + s.old.Stream
	}
	return s.old.Stream
}

// changedStep is how exactly the control item says when the source was changed last.
const changedStep = 10 * time.Second

// NoteChanged notes when the source was changed.
func (s *Migration) NoteChanged(ctx context.Context, at time.Time) error {
	_, err := s.update(ctx, "SET changedAt = :at", "attribute_exists(PK) AND (attribute_not_exists(changedAt) OR changedAt < :before)",
		rows.Image{":at": rows.Text(keys.FormatTime(at.UTC())), ":before": rows.Text(keys.FormatTime(at.UTC().Add(-changedStep)))})
	return err
}

// void says in an update that what was compared before does not count: what is noted of a
// comparison has the condition that nothing was voided since it began.
const void = "REMOVE comparedAt, met ADD voided :one"

// NoteStream notes which streams capture must read, and when they were first noted. If they are
// others than before, what was written in between is in neither, so what the last comparison has
// found no longer counts.
func (s *Migration) NoteStream(ctx context.Context, streams string) error {
	values := rows.Image{":stream": rows.Text(streams), ":now": rows.Text(keys.FormatTime(s.store.Env.Now().UTC()))}
	const set = "SET streamArn = :stream, streamAt = :now"
	noted, err := s.update(ctx, set, "attribute_exists(PK) AND attribute_not_exists(streamArn)", values)
	if err == nil && !noted {
		values[":one"] = rows.Integer(1)
		_, err = s.update(ctx, set+" REMOVE captured, comparedAt ADD voided :one", "attribute_exists(PK) AND streamArn <> :stream", values)
	}
	return err
}

// NoteCaptured notes that capture has done every change of its streams before a time, unless a
// later one is known already. It also does what [Migration.NoteStream] does.
func (s *Migration) NoteCaptured(ctx context.Context, streams string, at time.Time) error {
	if err := s.NoteStream(ctx, streams); err != nil {
		return err
	}
	_, err := s.update(ctx, "SET captured = :at", "streamArn = :stream AND (attribute_not_exists(captured) OR captured < :at)",
		rows.Image{":at": rows.Text(keys.FormatTime(at.UTC())), ":stream": rows.Text(streams)})
	return err
}

// update changes the control item on a condition. It reports whether the condition held.
func (s *Migration) update(ctx context.Context, expression, condition string, values rows.Image) (bool, error) {
	return s.change(ctx, &types.Update{TableName: &s.store.Aggregates, Key: rows.KeyImage(rows.ControlKey(s.mapping.Name())),
		UpdateExpression: &expression, ConditionExpression: &condition, ExpressionAttributeValues: values})
}

// change is update with names of attributes.
func (s *Migration) change(ctx context.Context, u *types.Update) (bool, error) {
	_, err := rows.Asked(ctx, s.store, s.store.Client.UpdateItem, rows.Request(*u))
	switch a := rows.Classify(err); a.Outcome {
	case rows.Done:
		return true, nil
	case rows.Failed:
		return false, nil
	default:
		return false, fmt.Errorf("changing the control item of migration %s: %w", s.mapping.Name(), a.Err)
	}
}
