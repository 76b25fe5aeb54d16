package dynamo

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/expr"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

const (
	maxStatements    = 25
	maxStatementText = 8192 // characters
	duplicateMessage = "Duplicate primary key exists in table"
)

var (
	executeStatement      = operation("ExecuteStatement", "Statement Parameters ReturnConsumedCapacity ReturnValuesOnConditionCheckFailure")
	batchExecuteStatement = operation("BatchExecuteStatement", "Statements ReturnConsumedCapacity")
)

// ExecuteStatement runs one PartiQL INSERT or UPDATE. An INSERT gets a DuplicateItemException if
// the item is already there. An UPDATE gets a failed condition if its WHERE does not hold or if
// there is no item.
func (c *Client) ExecuteStatement(ctx context.Context, in *dynamodb.ExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.ExecuteStatementOutput, error) {
	return api.Call(ctx, c.ts.core, executeStatement, in, c.ts.executeStatement)
}

// BatchExecuteStatement runs 1 to 25 PartiQL INSERTs and UPDATEs, each on its own. If one fails,
// the Error of its response says why. If two statements name one item, the whole request is
// refused.
func (c *Client) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return api.Call(ctx, c.ts.core, batchExecuteStatement, in, c.ts.batchExecuteStatement)
}

// prepared is a statement that is ready to run. err is set if the statement has a mistake.
type prepared struct {
	t      *table
	m      *mutation // nil if it is not known what the statement would write
	insert bool      // done only if there is no item yet
	err    error
}

func (ts *Service) prepare(api string, text *string, parameters []types.AttributeValue,
	asked types.ReturnValuesOnConditionCheckFailure) prepared {
	src := aws.ToString(text)
	s, err := ts.parsed.Statement(api, src)
	if err != nil {
		return prepared{err: err}
	}
	if s.Update != nil {
		p := prepared{}
		if p.t, p.err = ts.table(&s.Update.Table); p.err == nil {
			p.m, p.err = p.t.updateBy(api, s.Update, parameters, asked)
		}
		return p
	}
	p := prepared{insert: true}
	if p.t, p.err = ts.table(&s.Insert.Table); p.err != nil {
		return p
	}
	attributes, err := s.Insert.Item(parameters)
	if err != nil {
		p.err = err
		return p
	}
	put, err := p.t.newPut(attributes)
	if err != nil {
		p.err = err
		return p
	}
	p.m = &mutation{t: p.t, key: key{put.PK, put.SK}, do: doPut, put: put, asked: asked}
	return p
}

// updateBy returns the write that an UPDATE asks for with these parameters. Its condition is all of
// WHERE, including the equalities of the key. That is why the condition fails if there is no item.
func (t *table) updateBy(api string, u *expr.UpdateStatement, parameters []types.AttributeValue,
	asked types.ReturnValuesOnConditionCheckFailure) (*mutation, error) {
	k, b, err := u.Bind(t.schema.names(), parameters)
	if err != nil {
		return nil, err
	}
	m := &mutation{t: t, do: doUpdate, cond: &u.Where, update: &u.Update, b: b, asked: asked}
	if m.key, err = t.key(k); err != nil {
		return nil, err
	}
	if err := m.cond.Check(b); err != nil {
		return nil, err
	}
	return m, m.update.Check(api, t.schema.has, b)
}

// executed is the outcome of a statement. At most one of refused and err is set.
type executed struct {
	old     *value.Item // what was there
	refused bool        // because of old: an INSERT found an item, or WHERE does not hold
	err     error
	spent   cost
}

// execute runs one statement of a request. A refused statement costs as much as the write that it
// attempted, or as a write of the stored item if that is larger.
func (ts *Service) execute(p prepared) (x executed) {
	if p.err != nil {
		x.err = p.err
		if p.t != nil {
			x.spent = attempt(nil, nil)
			ts.refuse(p.t.name, x.spent)
		}
		return x
	}
	old, next, holds, err := p.m.plan()
	x.old, x.err = old, err
	x.refused = err == nil && (!holds || (p.insert && old != nil))
	if x.err != nil || x.refused {
		x.spent = attempt(old, p.m.put)
		ts.refuse(p.t.name, x.spent)
	} else {
		x.spent = p.t.commit(old, next, ts.core.Now(), nil)
		ts.wrote(p.t.name, x.spent)
	}
	return x
}

func (ts *Service) executeStatement(in *dynamodb.ExecuteStatementInput) (*dynamodb.ExecuteStatementOutput, error) {
	if err := checkStatement("statement", in.Statement); err != nil {
		return nil, err
	}
	ts.mu.Lock()
	defer ts.unlock()
	p := ts.prepare("ExecuteStatement", in.Statement, in.Parameters, in.ReturnValuesOnConditionCheckFailure)
	var bad *expr.Malformed
	if errors.As(p.err, &bad) {
		return nil, api.Invalid("%s", bad.Error())
	}
	if p.err != nil {
		return nil, p.err
	}
	switch x := ts.execute(p); {
	case x.err != nil:
		return nil, x.err
	case x.refused && p.insert:
		return nil, &types.DuplicateItemException{Message: aws.String(duplicateMessage)}
	case x.refused:
		return nil, conditionFailed(x.old, p.m.asked)
	default:
		return &dynamodb.ExecuteStatementOutput{
			Items:            []map[string]types.AttributeValue{},
			ConsumedCapacity: capacity(in.ReturnConsumedCapacity, p.t.name, x.spent),
		}, nil
	}
}

func (ts *Service) batchExecuteStatement(in *dynamodb.BatchExecuteStatementInput) (*dynamodb.BatchExecuteStatementOutput, error) {
	if len(in.Statements) == 0 {
		return nil, api.Invalid("1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: Member must have " +
			"length greater than or equal to 1")
	}
	if len(in.Statements) > maxStatements {
		return nil, api.Invalid("1 validation error detected: Value at 'statements' failed to satisfy constraint: Member must have "+
			"length less than or equal to %d", maxStatements)
	}
	ts.mu.Lock()
	defer ts.unlock()
	all, err := ts.prepareAll(in.Statements)
	if err != nil {
		return nil, err
	}
	var done, failed bill
	out := &dynamodb.BatchExecuteStatementOutput{Responses: make([]types.BatchStatementResponse, len(all))}
	for i, p := range all {
		x := ts.execute(p)
		switch {
		case x.err != nil:
			out.Responses[i].Error = statementError(x.err)
		case x.refused:
			out.Responses[i].Error, out.Responses[i].TableName = ts.refusal(p, x.old), aws.String(p.t.name)
		default:
			done.add(p.t.name, x.spent)
			out.Responses[i].TableName = aws.String(p.t.name)
			continue
		}
		if p.t != nil {
			failed.add(p.t.name, x.spent)
		}
	}
	out.ConsumedCapacity = batchCapacity(in.ReturnConsumedCapacity, &done, &failed)
	return out, nil
}

// checkStatement checks the length of a statement.
func checkStatement(path string, text *string) error {
	want := ""
	switch n := utf8.RuneCountInString(aws.ToString(text)); {
	case text == nil:
		want = "not be null"
	case n == 0:
		want = "have length greater than or equal to 1"
	case n > maxStatementText:
		want = fmt.Sprintf("have length less than or equal to %d", maxStatementText)
	default:
		return nil
	}
	return api.Invalid("1 validation error detected: Value at '%s' failed to satisfy constraint: Member must %s", path, want)
}

// prepareAll prepares every statement of a request. It refuses the whole request if the engine does
// not implement something in it, if something cannot be read (an invalid number, or a statement
// that is too long), or if two statements name one item. Any other mistake becomes the error of its
// statement.
func (ts *Service) prepareAll(statements []types.BatchStatementRequest) ([]prepared, error) {
	type target struct {
		t *table
		k key
	}
	seen := make(map[target]bool, len(statements))
	all := make([]prepared, len(statements))
	for i, s := range statements {
		if aws.ToBool(s.ConsistentRead) {
			return nil, api.Unsupported("BatchExecuteStatement", "BatchStatementRequest.ConsistentRead")
		}
		if err := checkStatement(fmt.Sprintf("statements.%d.member.statement", i+1), s.Statement); err != nil {
			return nil, err
		}
		for _, v := range s.Parameters { // this is read with the request, before any statement is looked at
			if err := value.Check(v); err != nil {
				return nil, err
			}
		}
		all[i] = ts.prepare("BatchExecuteStatement", s.Statement, s.Parameters, s.ReturnValuesOnConditionCheckFailure)
		var unknown *api.UnsupportedError
		if errors.As(all[i].err, &unknown) {
			return nil, unknown
		}
		if all[i].m == nil {
			continue
		}
		at := target{all[i].t, all[i].m.key}
		if seen[at] {
			return nil, api.Invalid("Provided list of item keys contains duplicates")
		}
		seen[at] = true
	}
	return all, nil
}

// refusal returns the error of a statement that was refused because of the stored item, or because
// there is none.
func (ts *Service) refusal(p prepared, old *value.Item) *types.BatchStatementError {
	out := &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumConditionalCheckFailed,
		Message: aws.String(conditionFailedMessage)}
	if p.insert {
		out.Code, out.Message = types.BatchStatementErrorCodeEnumDuplicateItem, aws.String(duplicateMessage)
	}
	if ts.cfg.PartiQLReturnsItem && p.m.asked == types.ReturnValuesOnConditionCheckFailureAllOld {
		out.Item = old.Map()
	}
	return out
}

func statementError(err error) *types.BatchStatementError {
	code := types.BatchStatementErrorCodeEnumValidationError
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		code = types.BatchStatementErrorCodeEnumResourceNotFound
	}
	return &types.BatchStatementError{Code: code, Message: aws.String(api.ErrorText(err))}
}

// batchCapacity returns the capacity of a batch. A failed statement counts in the total of its
// table, but in no arm. A table is not reported at all if every statement on it failed.
func batchCapacity(asked types.ReturnConsumedCapacity, done, failed *bill) []types.ConsumedCapacity {
	out := done.capacities(asked)
	for i := range out {
		*out[i].CapacityUnits += failed.costs[*out[i].TableName].total()
	}
	return out
}
