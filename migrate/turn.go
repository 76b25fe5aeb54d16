package migrate

import (
	"context"
	"fmt"
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

// Quiet is the longest life of a Lambda function: what somebody has begun to write is written or
// given up after it.
const Quiet = 15 * time.Minute

// turnWait is how long types are between the two sides at least. It is longer than the life of a
// batch of capture that has looked before: see [Capture.Handle].
const turnWait = captureLife + 10*time.Second

// Turn makes the new table the source of the migrated types, and returns the state that they have
// then. Before it, their producers have stopped, nothing has changed the old table for the time
// quiet, and capture has read that far. In one transaction it makes the types Turning and says of
// every generation that they feed that it is building, so that a rebuild must count the items. It
// waits for half a minute, until no batch of capture writes any more, and makes the types New.
//
// If a total that they feed has a bound, or if they claim values, they stay Turning, and their
// messages still wait: a bound cannot be judged by a total that lacks what was moved. Call Turn
// again once the rebuild is over.
//
// A [*StopError] says what is missing before the types may turn.
func (s *Migration) Turn(ctx context.Context, quiet time.Duration) (state string, err error) {
	c, err := s.Control(ctx)
	if err != nil {
		return "", err
	}
	fed := s.mapping.Fed()
	waits := s.mapping.Waits(fed)
	switch {
	case s.are(c, New):
		return New, nil // an earlier call did it
	case s.are(c, Turning) && waits:
		if err := s.complete(ctx); err != nil {
			return Turning, err
		}
	case s.are(c, Draining) || s.are(c, Returning):
		return c.State(s.mapping.Types()[0]), stopped("the types are on their way back: end that with `ingot migrate back`")
	case !s.are(c, Turning):
		if c, err = s.refuseTurn(ctx, quiet); err != nil {
			return "", err
		}
		if err := s.turning(ctx, fed, c); err != nil {
			return "", fmt.Errorf("turning %s: %w", strings.Join(s.mapping.Types(), ", "), awserr.Quiet(err))
		}
		if waits {
			return Turning, nil
		}
	}
	if err := s.store.Env.Sleep(ctx, turnWait); err != nil {
		return Turning, err
	}
	return New, s.step(ctx, Turning, New)
}

// Back makes the old table the source of the migrated types again, in two calls, and returns the
// state that they have then. The first makes them Draining: their messages wait in quarantine,
// while capture brings to the old table what was stored before. The second one, at least the time
// quiet later, waits for half a minute until no batch of capture writes any more, and makes them
// Old.
//
// A [*StopError] says what is missing before the types may go back.
func (s *Migration) Back(ctx context.Context, quiet time.Duration) (state string, err error) {
	c, err := s.Control(ctx)
	switch {
	case err != nil:
		return "", err
	case !s.mapping.GoesBack():
		return "", stopped("migration.yaml has no back, so the old table does not have what was stored since the turn, and nothing goes back")
	case s.are(c, Old):
		return Old, nil // an earlier call did it
	case s.are(c, New):
		if c, err = s.refuseTurn(ctx, quiet); err != nil {
			return New, err
		}
		u := s.setStates(New, Draining)
		s.onEvidence(u, c)
		*u.UpdateExpression += ", drainingAt = :now"
		u.ExpressionAttributeValues[":now"] = rows.Text(keys.FormatTime(s.store.Env.Now().UTC()))
		done, err := s.change(ctx, u)
		if err == nil && !done {
			if c, err = s.Control(ctx); err == nil && !s.are(c, Draining) {
				err = stopped("%s: go back again, and it says what is missing", meanwhile)
			}
		}
		return Draining, err
	case s.are(c, Draining):
		if s.store.Env.Now().Sub(c.Compared) > evidenceLasts { // a stream keeps 24 hours
			return Draining, stopped("the last comparison is of %s, and what capture has missed since may be in no stream any more: run "+
				"`ingot migrate compare`", show(c.Compared))
		}
		if c.Found != clean { // it may be one that began when messages had stopped
			return Draining, stopped("the last comparison found %s: what is only in the new table would be lost. Mend that, and run `ingot "+
				"migrate compare` again", c.Found)
		}
		if until := c.Draining.Add(quiet); c.Captured.Before(until) {
			return Draining, stopped("capture has done what was stored before %s. What was begun before the messages were stopped is stored "+
				"by %s: go on once capture has read that far", show(c.Captured), show(until))
		}
		if err := s.step(ctx, Draining, Returning); err != nil {
			return Draining, err
		}
	case !s.are(c, Returning):
		return "", stopped("the types are not new, so nothing is to go back: end their turn with `ingot migrate turn`")
	}
	if err := s.store.Env.Sleep(ctx, turnWait); err != nil {
		return Returning, err
	}
	return Old, s.step(ctx, Returning, Old)
}

func show(t time.Time) string {
	if t.IsZero() {
		return "nothing yet"
	}
	return t.UTC().Format(time.RFC3339)
}

// step gives the types the next state. What an earlier try did is done.
func (s *Migration) step(ctx context.Context, from, to string) error {
	if _, err := s.change(ctx, s.setStates(from, to)); err != nil {
		return fmt.Errorf("making %s %s: %w", strings.Join(s.mapping.Types(), ", "), to, err)
	}
	return nil
}

// are reports whether all types have a state.
func (s *Migration) are(c *Control, state string) bool {
	return c != nil && !slices.ContainsFunc(s.mapping.Types(), func(typ string) bool { return c.State(typ) != state })
}

// turning makes the types Turning, and what they feed building, if the evidence is still what c
// says.
func (s *Migration) turning(ctx context.Context, fed []*aggregate.Definition, c *Control) error {
	states := s.setStates(Old, Turning)
	s.onEvidence(states, c)
	*states.UpdateExpression += ", turnedAt = :now, settledAt = :settled"
	states.ExpressionAttributeValues[":now"] = rows.Text(keys.FormatTime(s.store.Env.Now().UTC()))
	states.ExpressionAttributeValues[":settled"] = rows.Text(keys.FormatTime(c.Captured))
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
			err := stopped("%s: turn again, and it says what is missing", meanwhile)
			return rows.Answer{Outcome: rows.Invalid, Err: err}, rows.Later
		}
		return sent.Answer, rows.Later
	})
}

// Uncounted returns the names of the aggregates that the types feed and that are not complete: a
// rebuild has yet to count what was copied.
func (s *Migration) Uncounted(ctx context.Context) (names []string, err error) {
	for _, d := range s.mapping.Fed() {
		head, err := s.store.Get(ctx, lanes.HeadKey(d))
		if err != nil {
			return nil, fmt.Errorf("reading the head of %s: %w", d, awserr.Quiet(err))
		}
		building, _ := head["building"].(*types.AttributeValueMemberBOOL)
		if (len(head) == 0 || building != nil && building.Value) && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	return names, nil
}

// complete returns a [*StopError] if something that types feed is not counted yet.
func (s *Migration) complete(ctx context.Context) error {
	names, err := s.Uncounted(ctx)
	if err == nil && len(names) > 0 {
		err = stopped("%s is not complete: run `ingot rebuild %s` first", names[0], strings.Join(names, " "))
	}
	return err
}

const meanwhile = "meanwhile a pass or a comparison has begun, or capture has met a row that stands against this"

// onEvidence adds the condition that the evidence is still what c says.
func (s *Migration) onEvidence(u *types.Update, c *Control) {
	*u.ConditionExpression += " AND pass = :pass AND filled = :pass AND comparedAt = :compared AND " + sinceMet
	u.ExpressionAttributeValues[":meets"] = rows.Integer(c.meets)
	u.ExpressionAttributeValues[":pass"] = rows.Integer(c.Pass)
	u.ExpressionAttributeValues[":compared"] = rows.Text(keys.FormatTime(c.Compared))
}

// setStates is the update that gives the types a state, on condition that they have the one before
// it. So a request that arrives late changes nothing. When a side has become the source, all
// evidence is stale.
func (s *Migration) setStates(from, to string) *types.Update {
	u := &types.Update{TableName: &s.store.Aggregates, Key: rows.KeyImage(rows.ControlKey(s.mapping.Name())),
		ExpressionAttributeNames: map[string]string{}, ExpressionAttributeValues: rows.Image{}}
	sets, removes, conditions := []string{}, []string{}, []string{"attribute_exists(PK)"}
	for i, typ := range s.mapping.Types() {
		name := fmt.Sprintf("#t%d", i)
		u.ExpressionAttributeNames[name] = rows.StatePrefix + typ
		if to == Old {
			removes = append(removes, name)
		} else {
			sets = append(sets, name+" = :to")
			u.ExpressionAttributeValues[":to"] = rows.Text(to)
		}
		if from == Old {
			conditions = append(conditions, "attribute_not_exists("+name+")")
		} else {
			conditions = append(conditions, name+" = :from")
			u.ExpressionAttributeValues[":from"] = rows.Text(from)
		}
	}
	expression := ""
	if to == Old || to == New {
		removes = append(removes, "captured", "changedAt", "streamArn", "streamAt", "drainingAt", "comparedAt", "met")
		expression = "REMOVE " + strings.Join(removes, ", ") + " ADD voided :one "
		u.ExpressionAttributeValues[":one"] = rows.Integer(1)
	}
	if len(sets) > 0 {
		expression += "SET " + strings.Join(sets, ", ")
	}
	u.UpdateExpression, u.ConditionExpression = &expression, aws.String(strings.Join(conditions, " AND "))
	return u
}
