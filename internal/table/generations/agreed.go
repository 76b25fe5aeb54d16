package generations

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// CheckSecret makes sure, before the first event is put, that the pipeline's secret of hmac is the
// one that the tables were filled with. The item K# of the aggregates table holds a check value of
// the secret. The first function that starts puts it there. CheckSecret returns
// [tables.ErrOtherSecret] for another secret. After the first successful check, the item is not
// read again.
//
// It sends no request if no key of an event uses hmac, or if Config.Aggregates names no table.
func (s *Heads) CheckSecret(ctx context.Context) error {
	check := s.Pipeline.SecretCheck()
	if check == "" || s.Aggregates == "" || s.sure.Load() {
		return nil
	}
	known, err := s.agreed(ctx, s.Aggregates, lanes.SecretKey, "check", check)
	switch {
	case err != nil:
		return fmt.Errorf("the check value of INGOT_PII_KEY in the aggregates table %s: %w", s.Aggregates, awserr.Quiet(err))
	case known != check:
		return tables.ErrOtherSecret
	}
	s.sure.Store(true)
	return nil
}

// agreed returns the text that an attribute of an item holds. The first function that asks puts its
// own there.
func (s *Heads) agreed(ctx context.Context, table string, key event.Key, attribute, own string) (string, error) {
	img, err := s.ReadOne(ctx, table, key)
	if err != nil || len(img) > 0 {
		return rows.TextOf(img[attribute]), err
	}
	img = rows.KeyImage(key)
	img[attribute] = rows.Text(own)
	_, err = rows.Asked(ctx, s, s.Client.PutItem,
		&dynamodb.PutItemInput{TableName: &table, Item: img, ConditionExpression: aws.String("attribute_not_exists(PK)")})
	if rows.Classify(err).Outcome != rows.Failed {
		return own, err
	}
	img, err = s.ReadOne(ctx, table, key) // the first put decides; it may be our own, with a lost answer
	return rows.TextOf(img[attribute]), err
}

// SameSecret returns [tables.ErrOtherSecret] if the tables were filled with another secret than the
// pipeline's. Unlike CheckSecret, it writes nothing. It is for what computes keys of events outside
// of the functions, on a machine whose INGOT_PII_KEY may be that of another stack.
func (s *Heads) SameSecret(ctx context.Context) error {
	check := s.Pipeline.SecretCheck()
	if check == "" || s.Aggregates == "" || s.sure.Load() {
		return nil
	}
	img, err := s.Get(ctx, lanes.SecretKey)
	known := rows.TextOf(img["check"])
	switch {
	case err != nil:
		return fmt.Errorf("the check value of INGOT_PII_KEY in the aggregates table %s: %w", s.Aggregates, awserr.Quiet(err))
	case known != "" && known != check:
		return tables.ErrOtherSecret
	}
	s.sure.Store(known != "")
	return nil
}

// CheckHome makes sure, before anything is written, that this function runs in the home Region of
// the events table: the one in which events are stored and counted. An item of the events table,
// which a global table replicates, names it. The first function that starts puts it there. In
// another Region, CheckHome returns a [*tables.HomeError]. After a successful check, the item is
// read again five minutes later, because a person may move the home while functions run.
//
// It is a fence against mistakes. It keeps nobody out while the replication lags, or if two Regions
// start with an empty table at the same time.
//
// It sends no request if Config.Region is empty, or if Config.Events names no table.
func (s *Heads) CheckHome(ctx context.Context) error {
	now := s.Env.Now()
	if s.region == "" || s.Events == "" || recently(&s.atHome, now) {
		return nil
	}
	home, err := s.agreed(ctx, s.Events, lanes.HomeKey, "region", s.region)
	switch {
	case err != nil:
		return fmt.Errorf("the home Region of the events table %s: %w", s.Events, awserr.Quiet(err))
	case home != s.region:
		return &tables.HomeError{Table: s.Events, Home: home, Here: s.region}
	}
	s.atHome.Store(now.UnixNano())
	return nil
}
