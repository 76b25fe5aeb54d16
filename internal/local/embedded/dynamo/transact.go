package dynamo

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

const (
	maxTransactItems = 100
	maxTransactSize  = 4 * 1024 * 1024
	transactAPI      = "TransactWriteItems"
)

var transactWriteItems = operation(transactAPI, "TransactItems ClientRequestToken ReturnConsumedCapacity ReturnItemCollectionMetrics")

// TransactWriteItems does up to 100 writes of distinct items, all or none. It costs twice what the
// writes cost alone, whether it is done or cancelled.
func (c *Client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return api.Call(ctx, c.ts.core, transactWriteItems, in, c.ts.transact)
}

func (ts *Service) transact(in *dynamodb.TransactWriteItemsInput) (*dynamodb.TransactWriteItemsOutput, error) {
	if n := len(in.TransactItems); n < 1 || n > maxTransactItems {
		return nil,
			api.Invalid("1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length "+
				"between 1 and %d", maxTransactItems)
	}
	token := aws.ToString(in.ClientRequestToken)
	if in.ClientRequestToken != nil && (token == "" || len(token) > 36) {
		return nil, api.Invalid("1 validation error detected: Value '%s' at 'clientRequestToken' failed to satisfy constraint: Member "+
			"must have length between 1 and 36", token)
	}
	ts.mu.Lock()
	defer ts.unlock()
	digest := value.TransactDigest(in.TransactItems)
	if done, err := ts.repeated(token, digest); done != nil || err != nil {
		return done, err
	}
	tx := &transaction{ts: ts}
	for _, it := range in.TransactItems {
		if err := tx.add(it); err != nil {
			return nil, err
		}
	}
	if err := tx.plan(); err != nil {
		return nil, err
	}
	var b bill
	for _, s := range tx.steps {
		spent := s.commit(ts)
		b.add(s.m.t.name, spent)
		ts.wrote(s.m.t.name, spent)
	}
	out := &dynamodb.TransactWriteItemsOutput{ConsumedCapacity: b.capacities(in.ReturnConsumedCapacity)}
	for i := range out.ConsumedCapacity {
		c := &out.ConsumedCapacity[i]
		c.WriteCapacityUnits = c.CapacityUnits
		if c.Table != nil {
			c.Table.WriteCapacityUnits = c.Table.CapacityUnits
		}
		for name, ix := range c.GlobalSecondaryIndexes {
			ix.WriteCapacityUnits = ix.CapacityUnits
			c.GlobalSecondaryIndexes[name] = ix
		}
	}
	if token != "" {
		ts.tokens.remember(tokenEntry{token: token, digest: digest, at: ts.core.Now(), out: out})
	}
	return out, nil
}

// repeated finds an earlier transaction with the same token. A transaction is not done twice. Its
// second answer has the same capacity as the first. (The service reports read units instead.)
func (ts *Service) repeated(token string, digest [32]byte) (*dynamodb.TransactWriteItemsOutput, error) {
	ts.tokens.forget(ts.core.Now())
	entry, ok := ts.tokens.done[token]
	if token == "" || !ok {
		return nil, nil
	}
	if entry.digest != digest {
		return nil, &types.IdempotentParameterMismatchException{Message: aws.String("The request uses the same client token as a " +
			"previous, but non-identical request. Do not reuse a client token with different requests, unless the requests are identical")}
	}
	again := *entry.out
	return &again, nil
}

type transaction struct {
	ts    *Service
	steps []*step
	size  int
}

// step is one write of a transaction.
type step struct {
	m        *mutation
	misfit   error // what is wrong with its key, which then cannot be looked up
	old, new *value.Item
	reason   types.CancellationReason
}

func (s *step) plan() (old, new *value.Item, holds bool, err error) {
	if s.misfit != nil {
		return nil, nil, false, s.misfit
	}
	return s.m.plan()
}

func (s *step) commit(ts *Service) cost {
	if s.m.do == doCheck {
		return attempt(s.old, nil).times(2)
	}
	return s.m.t.commit(s.old, s.new, ts.core.Now(), nil).times(2)
}

// add checks what does not depend on stored items. A mistake here refuses the whole transaction.
func (tx *transaction) add(in types.TransactWriteItem) error {
	m, err := tx.mutation(in)
	if wrong := (value.Misfit{}); errors.As(err, &wrong) && m != nil && m.t != nil {
		tx.steps = append(tx.steps, &step{m: m, misfit: err})
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range tx.steps {
		if s.misfit == nil && s.m.t == m.t && s.m.key == m.key {
			return api.Invalid("Transaction request cannot include multiple operations on one item")
		}
	}
	// Only the items that the request puts count, not what its updates make of stored items.
	if tx.size += value.SizeOf(m.put); tx.size > maxTransactSize {
		return api.Invalid("Transaction request size exceeded the maximum of 4 MB")
	}
	tx.steps = append(tx.steps, &step{m: m})
	return nil
}

func (tx *transaction) mutation(in types.TransactWriteItem) (*mutation, error) {
	set := 0
	for _, given := range []bool{in.Put != nil, in.Update != nil, in.Delete != nil, in.ConditionCheck != nil} {
		if given {
			set++
		}
	}
	if set != 1 {
		return nil, api.Invalid("TransactItems can only contain one of Check, Put, Update or Delete")
	}
	ts := tx.ts
	m := &mutation{}
	switch {
	case in.Put != nil:
		p := in.Put
		m.do, m.asked = doPut, p.ReturnValuesOnConditionCheckFailure
		if err := ts.condition(transactAPI, m, p.ConditionExpression, nil, p.ExpressionAttributeNames,
			p.ExpressionAttributeValues); err != nil {
			return nil, err
		}
		var err error
		if m.t, err = ts.table(p.TableName); err != nil {
			return nil, err
		}
		if m.put, err = m.t.newPut(p.Item); err != nil {
			return m, err
		}
		m.key = key{m.put.PK, m.put.SK}
		return m, nil
	case in.Update != nil:
		u := in.Update
		m.do, m.asked = doUpdate, u.ReturnValuesOnConditionCheckFailure
		if u.UpdateExpression == nil {
			return nil, api.Invalid("1 validation error detected: Value null at 'transactItems.member.update.updateExpression' failed to " +
				"satisfy constraint: Member must not be null")
		}
		return m, tx.keyed(m, u.TableName, u.Key, u.ConditionExpression, u.UpdateExpression, u.ExpressionAttributeNames,
			u.ExpressionAttributeValues)
	case in.Delete != nil:
		d := in.Delete
		m.do, m.asked = doRemove, d.ReturnValuesOnConditionCheckFailure
		return m, tx.keyed(m, d.TableName, d.Key, d.ConditionExpression, nil, d.ExpressionAttributeNames, d.ExpressionAttributeValues)
	default:
		c := in.ConditionCheck
		m.do, m.asked = doCheck, c.ReturnValuesOnConditionCheckFailure
		if c.ConditionExpression == nil {
			return nil, api.Invalid("1 validation error detected: Value null at " +
				"'transactItems.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null")
		}
		return m, tx.keyed(m, c.TableName, c.Key, c.ConditionExpression, nil, c.ExpressionAttributeNames, c.ExpressionAttributeValues)
	}
}

func (tx *transaction) keyed(m *mutation, table *string, k map[string]types.AttributeValue, cond, update *string, names map[string]string,
	values map[string]types.AttributeValue) error {
	if err := tx.ts.condition(transactAPI, m, cond, update, names, values); err != nil {
		return err
	}
	return tx.ts.target(transactAPI, m, table, k)
}

// plan checks every step against what is stored. If one step cannot be done, all are cancelled. The
// error gives a reason for each step, in the order of the request.
func (tx *transaction) plan() error {
	cancelled := false
	for _, s := range tx.steps {
		old, new, holds, err := s.plan()
		if empty := (emptyIndexKey{}); errors.As(err, &empty) {
			return err
		}
		s.old, s.new = old, new
		s.reason = types.CancellationReason{Code: aws.String("None")}
		switch {
		case err != nil:
			s.reason = types.CancellationReason{Code: aws.String("ValidationError"), Message: aws.String(api.ErrorText(err))}
			cancelled = true
		case !holds:
			s.reason = types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Message: aws.String(conditionFailedMessage)}
			if s.m.asked == types.ReturnValuesOnConditionCheckFailureAllOld && old != nil {
				s.reason.Item = old.Map()
			}
			cancelled = true
		}
	}
	if cancelled {
		return tx.cancel()
	}
	return nil
}

func (tx *transaction) cancel() error {
	reasons := make([]types.CancellationReason, len(tx.steps))
	codes := make([]string, len(tx.steps))
	for i, s := range tx.steps {
		reasons[i], codes[i] = s.reason, *s.reason.Code
		attempted := s.new
		if attempted == nil {
			attempted = s.m.put
		}
		tx.ts.refuse(s.m.t.name, attempt(s.old, attempted).times(2))
	}
	return &types.TransactionCanceledException{
		Message: aws.String("Transaction cancelled, please refer cancellation reasons for specific reasons [" +
			strings.Join(codes, ", ") + "]"),
		CancellationReasons: reasons,
	}
}
