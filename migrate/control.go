package migrate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
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
	// Captured is a time: the poller of a shell has done every change of the old table before it.
	Captured time.Time
	// Stream is the ARN of the stream that was read. Another one begins where nobody knows what was
	// written before.
	Stream string
	// Turned is when the types became New, and Retired when the migration was over. They are zero
	// before.
	Turned, Retired time.Time
	// Pass is the number of the pass that began last, and Filled that of the last one that ended.
	Pass, Filled int64
}

// These are the states of a type.
const (
	Old     = "old"        // the old table is the source, and the new table's items are copies
	Turning = rows.Turning // neither is written: its items are being counted
	New     = rows.New     // the new table is the source
)

// State returns the state of a type.
func (c *Control) State(typ string) string {
	if state := c.States[typ]; state != "" {
		return state
	}
	return Old
}

// Control reads the control item, consistently. It returns nil if there is none.
func (s *Sync) Control(ctx context.Context) (*Control, error) {
	img, err := s.store.Get(ctx, rows.ControlKey(s.mapping.Name()))
	if err != nil {
		return nil, fmt.Errorf("reading the control item of migration %s: %w", s.mapping.Name(), awserr.Quiet(err))
	}
	if len(img) == 0 {
		return nil, nil
	}
	compared, _ := keys.ParseTime(rows.TextOf(img["comparedAt"]))
	captured, _ := keys.ParseTime(rows.TextOf(img["captured"]))
	turned, _ := keys.ParseTime(rows.TextOf(img["turnedAt"]))
	retired, _ := keys.ParseTime(rows.TextOf(img["retiredAt"]))
	return &Control{Compared: compared, Captured: captured, Turned: turned, Retired: retired, Stream: rows.TextOf(img["streamArn"]),
		Found: rows.TextOf(img["evidence"]), From: rows.TextOf(img["from"]),
		ID: rows.TextOf(img["table"]), States: rows.StatesOf(img),
		Pass: rows.IntegerOf(img["pass"]), Filled: rows.IntegerOf(img["filled"])}, nil
}

// StopError says why a migration may not write.
type StopError struct{ Why string }

func (e *StopError) Error() string { return e.Why }

func stopped(format string, args ...any) error { return &StopError{fmt.Sprintf(format, args...)} }

// Open returns nil if copies of the new table may be written now. The error is a [*StopError] if
// that is not so: the control item is missing or belongs to another table, or a type has turned. It
// is [tables.ErrOtherSecret] if the keys of events would be hashed with another secret.
func (s *Sync) Open(ctx context.Context) error {
	if err := s.heads.CheckSecret(ctx); err != nil {
		return err
	}
	c, err := s.Control(ctx)
	if err != nil {
		return err
	}
	return s.allows(c)
}

func (s *Sync) allows(c *Control) error {
	if c == nil {
		return stopped("migration %s has no control item: begin it with `ingot migrate backfill`. If somebody has deleted the item, "+
			"nothing says any more which side is the source", s.mapping.Name())
	}
	if c.From != s.old.Table || c.ID != s.old.ID {
		return stopped("migration %s began with table %s (%s), and this is %s (%s): a table that was created anew would empty the copy",
			s.mapping.Name(), c.From, c.ID, s.old.Table, s.old.ID)
	}
	for _, typ := range s.mapping.types {
		if state := c.State(typ); state != Old {
			return stopped("%s is %s: the old table is no longer its source, so nothing is copied from it", typ, state)
		}
	}
	return nil
}

// Begin makes the control item if there is none. It refuses if the new table already holds an item
// of a type that is to be migrated, because nobody could tell it from a copy.
func (s *Sync) Begin(ctx context.Context) (*Control, error) {
	if err := s.heads.CheckSecret(ctx); err != nil {
		return nil, err
	}
	c, err := s.Control(ctx)
	if err != nil {
		return nil, err
	}
	if c != nil {
		return c, s.allows(c)
	}
	for item, err := range s.store.Items(ctx) {
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
	err = s.store.Ask(ctx, func() error {
		_, err := s.store.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.store.Aggregates, Item: img,
			ConditionExpression: aws.String("attribute_not_exists(PK)")})
		return err
	})
	if a := rows.Classify(err); a.Outcome != rows.Done && a.Outcome != rows.Failed {
		return nil, fmt.Errorf("beginning migration %s: %w", s.mapping.Name(), a.Err)
	}
	if c, err = s.Control(ctx); err != nil {
		return nil, err
	}
	return c, s.allows(c)
}

// NoteCaptured notes on the control item that capture has done every change of a stream before a
// time, unless a later one is known already. If it is another stream than before, what was written
// in between is in neither, so what the last comparison has found no longer counts.
func (s *Sync) NoteCaptured(ctx context.Context, stream string, at time.Time) error {
	values := rows.Image{":at": rows.Text(keys.FormatTime(at.UTC())), ":stream": rows.Text(stream)}
	noted, err := s.update(ctx, "SET captured = :at, streamArn = :stream",
		"attribute_exists(PK) AND (attribute_not_exists(streamArn) OR streamArn = :stream AND captured < :at)", values)
	if err == nil && !noted {
		_, err = s.update(ctx, "SET captured = :at, streamArn = :stream REMOVE comparedAt", "streamArn <> :stream", values)
	}
	return err
}

// Counted returns what [Sync.NoteCaptured] has noted. So a Sync is a [Lag].
func (s *Sync) Counted(ctx context.Context) (time.Time, error) {
	c, err := s.Control(ctx)
	switch {
	case err != nil:
		return time.Time{}, err
	case c == nil || c.Captured.IsZero():
		return time.Time{}, stopped("capture has never read the stream to its end: run `ingot migrate capture` beside this command")
	}
	return c.Captured, nil
}

// update changes the control item on a condition. It reports whether the condition held.
func (s *Sync) update(ctx context.Context, expression, condition string, values rows.Image) (bool, error) {
	return s.change(ctx, &types.Update{UpdateExpression: &expression, ConditionExpression: &condition, ExpressionAttributeValues: values})
}

// change is update with names of attributes.
func (s *Sync) change(ctx context.Context, u *types.Update) (bool, error) {
	err := s.store.Ask(ctx, func() error {
		_, err := s.store.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &s.store.Aggregates,
			Key: rows.KeyImage(rows.ControlKey(s.mapping.Name())), UpdateExpression: u.UpdateExpression,
			ConditionExpression: u.ConditionExpression, ExpressionAttributeNames: u.ExpressionAttributeNames,
			ExpressionAttributeValues: u.ExpressionAttributeValues})
		return err
	})
	switch a := rows.Classify(err); a.Outcome {
	case rows.Done:
		return true, nil
	case rows.Failed:
		return false, nil
	default:
		return false, fmt.Errorf("changing the control item of migration %s: %w", s.mapping.Name(), a.Err)
	}
}

// turnWait is how long types are Turning at least. It is longer than the life of a batch of capture
// that has looked before: see [Capture.Handle].
const turnWait = captureLife + 10*time.Second

// Turn makes the new table the source of the migrated types, and returns the state that they have
// then. Before it, their producers have stopped, and capture has read what they have written. In
// one transaction it makes the types Turning and says of every generation that they feed that it is
// building, so that a rebuild must count the items. It waits for half a minute, until no batch of
// capture writes any more, and makes the types New.
//
// If a total that they feed has a floor, or if they claim values, they stay Turning, and their
// messages still wait: a floor cannot be judged by a total that lacks what was moved. Call Turn
// again once the rebuild is over.
//
// A [*StopError] says what is missing before the types may turn.
func (s *Sync) Turn(ctx context.Context) (state string, err error) {
	c, err := s.Control(ctx)
	if err != nil {
		return "", err
	}
	fed := s.mapping.fed()
	waits := s.mapping.waits(fed)
	switch {
	case s.are(c, New):
		return New, nil // an earlier call did it
	case s.are(c, Turning) && waits:
		if err := s.complete(ctx, fed); err != nil {
			return Turning, err
		}
	case !s.are(c, Turning):
		if err := s.refuseTurn(ctx); err != nil {
			return "", err
		}
		if err := s.turning(ctx, fed, c); err != nil {
			return "", fmt.Errorf("turning %s: %w", strings.Join(s.mapping.types, ", "), awserr.Quiet(err))
		}
		if waits {
			return Turning, nil
		}
	}
	if err := s.store.Env.Sleep(ctx, turnWait); err != nil {
		return Turning, err
	}
	return New, s.turned(ctx)
}

// are reports whether all types have a state.
func (s *Sync) are(c *Control, state string) bool {
	return c != nil && !slices.ContainsFunc(s.mapping.types, func(typ string) bool { return c.State(typ) != state })
}

// turning makes the types Turning, and what they feed building, if the evidence is still what c
// says.
func (s *Sync) turning(ctx context.Context, fed []*aggregate.Definition, c *Control) error {
	states := s.setStates(Turning)
	*states.ConditionExpression += " AND pass = :pass AND filled = :pass AND comparedAt = :compared"
	states.ExpressionAttributeValues[":pass"] = rows.Integer(c.Pass)
	states.ExpressionAttributeValues[":compared"] = rows.Text(keys.FormatTime(c.Compared))
	list := []types.TransactWriteItem{{Update: states}}
	for _, d := range fed {
		list = append(list, types.TransactWriteItem{Update: &types.Update{TableName: &s.store.Aggregates,
			Key:                       rows.KeyImage(lanes.HeadKey(d)),
			ConditionExpression:       aws.String("attribute_exists(PK)"),
			UpdateExpression:          aws.String("ADD #behind :one SET #building = :true REMOVE #open"),
			ExpressionAttributeNames:  map[string]string{"#behind": "behind", "#building": "building", "#open": "open"},
			ExpressionAttributeValues: rows.Image{":one": rows.Integer(1), ":true": &types.AttributeValueMemberBOOL{Value: true}}}})
	}
	return s.store.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		sent := s.store.Transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: list})
		if sent.Outcome == rows.Done {
			return sent.Answer, rows.Ended
		}
		now, err := s.Control(ctx)
		if err == nil && s.are(now, Turning) {
			return rows.Answer{}, rows.Ended // an earlier try did it
		}
		if len(sent.Reasons) != len(list) {
			return sent.Answer, rows.Later
		}
		for i, d := range fed {
			if rows.ClassifyReason(sent.Reasons[i+1]).Outcome == rows.Failed {
				err := stopped("aggregate %s has no head: start the streams function with this pipeline.yaml first", d)
				return rows.Answer{Outcome: rows.Invalid, Err: err}, rows.Later
			}
		}
		if rows.ClassifyReason(sent.Reasons[0]).Outcome == rows.Failed {
			err := stopped("another pass or comparison has begun at the same time: turn again once it is over")
			return rows.Answer{Outcome: rows.Invalid, Err: err}, rows.Later
		}
		return sent.Answer, rows.Later
	})
}

// complete returns a [*StopError] if something that types feed is not counted yet.
func (s *Sync) complete(ctx context.Context, fed []*aggregate.Definition) error {
	for _, d := range fed {
		head, err := s.store.Get(ctx, lanes.HeadKey(d))
		if err != nil {
			return fmt.Errorf("reading the head of %s: %w", d, awserr.Quiet(err))
		}
		if building, _ := head["building"].(*types.AttributeValueMemberBOOL); len(head) == 0 || building != nil && building.Value {
			return stopped("%s is not complete: run `ingot rebuild %s` first", d, d.Name)
		}
	}
	return nil
}

// turned makes the types new that were turning.
func (s *Sync) turned(ctx context.Context) error {
	u := s.setStates(New)
	*u.UpdateExpression += ", turnedAt = :now"
	u.ExpressionAttributeValues[":now"] = rows.Text(keys.FormatTime(s.store.Env.Now().UTC()))
	if _, err := s.change(ctx, u); err != nil { // the condition fails if an earlier try did it
		return fmt.Errorf("turning %s: %w", strings.Join(s.mapping.types, ", "), err)
	}
	return nil
}

// waits reports whether messages wait until what the types feed is complete: if it has a floor, or
// if a type claims values.
func (m *Mapping) waits(fed []*aggregate.Definition) bool {
	for name, of := range m.pipeline.Describe().Spec.Events {
		if _, claim := m.pipeline.ClaimOf(name); claim && slices.Contains(m.types, of.Part.Of) {
			return true
		}
	}
	return slices.ContainsFunc(fed, func(d *aggregate.Definition) bool { return d.AtLeast != nil })
}

// fed returns the aggregates that the migrated types feed, by name.
func (m *Mapping) fed() []*aggregate.Definition {
	return slices.DeleteFunc(m.pipeline.Definitions(), func(d *aggregate.Definition) bool {
		return !slices.ContainsFunc(m.types, func(typ string) bool { return m.feeds(typ, d.Name) })
	})
}

// setStates is the update that gives the types a state, on condition that they have the one before
// it. So a request that arrives late changes nothing.
func (s *Sync) setStates(to string) *types.Update {
	u := &types.Update{TableName: &s.store.Aggregates, Key: rows.KeyImage(rows.ControlKey(s.mapping.Name())),
		ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: rows.Image{":to": rows.Text(to)}}
	sets, conditions := []string{}, []string{"attribute_exists(PK)"}
	for i, typ := range s.mapping.types {
		name := fmt.Sprintf("#t%d", i)
		u.ExpressionAttributeNames[name] = rows.StatePrefix + typ
		sets = append(sets, name+" = :to")
		if to == Turning {
			conditions = append(conditions, "attribute_not_exists("+name+")")
			continue
		}
		conditions = append(conditions, name+" = :turning")
		u.ExpressionAttributeValues[":turning"] = rows.Text(Turning)
	}
	u.UpdateExpression, u.ConditionExpression = aws.String("SET "+strings.Join(sets, ", ")), aws.String(strings.Join(conditions, " AND "))
	return u
}

// Feeds returns the aggregates that the migrated types feed, by name.
func (m *Mapping) Feeds() (names []string) {
	for _, d := range m.fed() {
		names = append(names, d.Name)
	}
	return names
}

// feeds reports whether events of a type, or their parts, feed an aggregate.
func (m *Mapping) feeds(typ, aggregate string) bool {
	spec := m.pipeline.Describe().Spec
	from := spec.Aggregates[aggregate].From
	return slices.ContainsFunc(slices.Collect(maps.Keys(from)), func(of string) bool {
		return of == typ || spec.Events[of].Part.Of == typ
	})
}
