// Package region moves the home of an events table to another Region: the one Region in which
// events are stored and counted. [Home] reads it. [Mover.Move] changes it once both sides stand
// still and the table is replicated. An item of the events table names the home, and the functions
// of any other Region refuse to start.
package region

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/pipeline"
)

// Client is what the package needs of DynamoDB.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
}

// Side is a stack in one of the Regions.
type Side struct {
	Region             string
	Tables             Client
	Lambda             pause.Client
	Events, Aggregates string // names of the tables
	Ingest, Streams    string // names of the functions
}

// Home returns the home Region that the events table names here. It is empty if no function has
// started yet.
func (s *Side) Home(ctx context.Context) (string, error) {
	item, err := s.item(ctx)
	return rows.TextOf(item["region"]), err
}

func (s *Side) item(ctx context.Context) (rows.Image, error) {
	out, err := s.Tables.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.Events, Key: rows.KeyImage(lanes.HomeKey),
		ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("reading the home of %s in %s: %w", s.Events, s.Region, err)
	}
	return out.Item, nil
}

// Mover moves a home.
type Mover struct {
	From *Side // nil: the Region is lost, and nothing of it can be asked
	To   Side
	// Pipeline is what the functions of the new home run.
	Pipeline *pipeline.Pipeline
	Env      env.Env
	Tell     func(format string, args ...any) // what is waited for
}

// Refusal is the error for a home that may not move yet. It says what to do.
type Refusal struct{ what string }

func (r *Refusal) Error() string { return r.what }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

const (
	// settled is how long both sides must have stood still. A function that was called before the
	// pause may run for so long, and for so long a function trusts what it has read.
	settled = 5 * time.Minute
	poll    = 5 * time.Second
	// patience is how long the move waits for the replication, which usually takes a second.
	patience = 15 * time.Minute
)

// Move makes the Region of To the home, if that of From is. It waits until both sides have stood
// still for five minutes, and until what was written before that is replicated. Then it changes the
// item. It returns a [*Refusal] if a function is not paused, if an aggregate is not a new
// generation, or if another Region is the home. It can be repeated at any time.
func (m *Mover) Move(ctx context.Context, from string) error {
	m.Env = m.Env.Real()
	home, err := m.To.Home(ctx)
	switch {
	case err != nil:
		return err
	case home == m.To.Region:
		return nil // an earlier call has done it
	case home == "":
		return refuse("the events table %s names no home in %s, so it is not a replica of one that does; any function that starts makes "+
			"its Region the home", m.To.Events, m.To.Region)
	case home != from:
		return refuse("the home of %s is %s, and not %s", m.To.Events, home, from)
	}
	if err := m.fresh(ctx); err != nil {
		return err
	}
	if err := m.still(ctx); err != nil {
		return err
	}
	if err := m.replicated(ctx); err != nil {
		return err
	}
	return m.set(ctx, from)
}

// fresh makes sure that each aggregate is a generation that nothing was counted in yet.
func (m *Mover) fresh(ctx context.Context) error {
	epoch := int64(0)
	if m.From != nil {
		out, err := m.From.Tables.GetItem(ctx, &dynamodb.GetItemInput{TableName: &m.From.Aggregates,
			Key: rows.KeyImage(lanes.EpochKey), ConsistentRead: aws.Bool(true)})
		if err != nil {
			return fmt.Errorf("reading the epoch of %s: %w", m.From.Region, err)
		}
		if _, err := fmt.Sscan(rows.NumberOf(out.Item["epoch"]), &epoch); err != nil && len(out.Item) > 0 {
			return fmt.Errorf("the epoch of %s is not a number: %w", m.From.Region, err)
		}
	} else {
		epoch = m.Pipeline.Epoch() - 1
	}
	var old []*aggregate.Definition
	for _, def := range m.Pipeline.Definitions() {
		if def.Since <= epoch {
			old = append(old, def)
		}
	}
	if len(old) > 0 {
		return refuse("totals begin again in %s, because the shards of its stream are others: deploy a pipeline.yaml there with epoch: %d, "+
			"and since: %[2]d in each aggregate (%s has since: %d)", m.To.Region, epoch+1, old[0].Name, old[0].Since)
	}
	return nil
}

// still waits until the functions of both sides have been paused for long enough.
func (m *Mover) still(ctx context.Context) error {
	var last time.Time
	sides := []*Side{&m.To}
	if m.From != nil {
		sides = append(sides, m.From)
	}
	for _, side := range sides {
		for _, function := range []string{side.Ingest, side.Streams} {
			list, err := pause.Read(ctx, side.Lambda, function)
			if err != nil {
				return err
			}
			for _, one := range list {
				if !one.Off() {
					return refuse("%s in %s is not paused: run ingot pause and ingot pause streams --yes for that stack first", function,
						side.Region)
				}
				at := one.At
				if at.IsZero() { // it has no mark
					at = m.Env.Now()
				}
				if at.After(last) {
					last = at
				}
			}
		}
	}
	if wait := last.Add(settled).Sub(m.Env.Now()); wait > 0 {
		m.Tell("waiting %s, until everything has stood still for %s", wait.Round(time.Second), settled)
		return m.Env.Sleep(ctx, wait)
	}
	return nil
}

var errSlow = errors.New("what was written in the old home has not arrived within 15 minutes; look at the metric " +
	"ReplicationLatency of the table, and run the command again")

// replicated waits until a mark that is written in the old home arrives in the new one. It is
// written five minutes after everything else there. Items are replicated one by one, so this is no
// proof that each of them has arrived, but it shows that the replication runs.
func (m *Mover) replicated(ctx context.Context) error {
	if m.From == nil {
		return nil
	}
	mark := m.Env.Now().UTC().Format(time.RFC3339Nano)
	if err := m.From.update(ctx, "SET moving = :v", m.From.Region, mark); err != nil {
		return err
	}
	for began := m.Env.Now(); ; {
		item, err := m.To.item(ctx)
		switch {
		case err != nil:
			return err
		case rows.TextOf(item["moving"]) == mark:
			return nil
		case m.Env.Now().Sub(began) > patience:
			return errSlow
		}
		m.Tell("waiting for the replication")
		if err := m.Env.Sleep(ctx, poll); err != nil {
			return err
		}
	}
}

func (m *Mover) set(ctx context.Context, from string) error {
	return m.To.update(ctx, "SET #region = :v REMOVE moving", from, m.To.Region)
}

// update changes the item, as long as the home is the one that is expected.
func (s *Side) update(ctx context.Context, expression, home, value string) error {
	_, err := s.Tables.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &s.Events, Key: rows.KeyImage(lanes.HomeKey),
		UpdateExpression: &expression, ConditionExpression: aws.String("#region = :home"),
		ExpressionAttributeNames:  map[string]string{"#region": "region"},
		ExpressionAttributeValues: rows.Image{":home": rows.Text(home), ":v": rows.Text(value)}})
	if failed := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &failed) {
		return refuse("the home of %s is not %s any more: somebody else has moved it", s.Events, home)
	}
	if err != nil {
		return fmt.Errorf("writing the home of %s in %s: %w", s.Events, s.Region, err)
	}
	return nil
}
