package generations

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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
	if err := s.checkSecret(ctx, check); errors.Is(err, tables.ErrOtherSecret) {
		return err
	} else if err != nil {
		return fmt.Errorf("the check value of INGOT_PII_KEY in the aggregates table %s: %w", s.Aggregates, awserr.Quiet(err))
	}
	s.sure.Store(true)
	return nil
}

func (s *Heads) checkSecret(ctx context.Context, check string) error {
	known, err := s.knownCheck(ctx)
	if err == nil && known == "" {
		img := rows.KeyImage(lanes.SecretKey)
		img["check"] = rows.Text(check)
		err = s.Ask(ctx, func() error {
			_, err := s.Client.PutItem(ctx,
				&dynamodb.PutItemInput{TableName: &s.Aggregates, Item: img, ConditionExpression: aws.String("attribute_not_exists(PK)")})
			return err
		})
		if rows.Classify(err).Outcome == rows.Failed { // the first put decides; it may be our own, with a lost answer
			known, err = s.knownCheck(ctx)
		} else {
			known = check
		}
	}
	if err == nil && known != check {
		return tables.ErrOtherSecret
	}
	return err
}

// SameSecret returns [tables.ErrOtherSecret] if the tables were filled with another secret than the
// pipeline's. Unlike CheckSecret, it writes nothing. It is for what computes keys of events outside
// of the functions, on a machine whose INGOT_PII_KEY may be that of another stack.
func (s *Heads) SameSecret(ctx context.Context) error {
	check := s.Pipeline.SecretCheck()
	if check == "" || s.Aggregates == "" || s.sure.Load() {
		return nil
	}
	known, err := s.knownCheck(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("the check value of INGOT_PII_KEY in the aggregates table %s: %w", s.Aggregates, awserr.Quiet(err))
	case known != "" && known != check:
		return tables.ErrOtherSecret
	}
	s.sure.Store(known != "")
	return nil
}

// knownCheck returns the check value in the aggregates table. It is empty if there is none.
func (s *Heads) knownCheck(ctx context.Context) (string, error) {
	img, err := s.Get(ctx, lanes.SecretKey)
	return rows.TextOf(img["check"]), err
}
