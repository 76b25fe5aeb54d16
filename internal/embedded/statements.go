package embedded

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

const (
	maxStatements    = 25
	maxStatementText = 8192 // characters
	duplicateMessage = "Duplicate primary key exists in table"
)

var (
	executeStatement      = operation{"DynamoDB", "ExecuteStatement", "Statement Parameters ReturnConsumedCapacity ReturnValuesOnConditionCheckFailure"}
	batchExecuteStatement = operation{"DynamoDB", "BatchExecuteStatement", "Statements ReturnConsumedCapacity"}
)

// ExecuteStatement runs one PartiQL INSERT; an item that is already there is a DuplicateItemException.
func (c *DynamoDB) ExecuteStatement(ctx context.Context, in *dynamodb.ExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.ExecuteStatementOutput, error) {
	return call(ctx, c.e, executeStatement, in, c.e.tables.executeStatement)
}

// BatchExecuteStatement runs 1 to 25 PartiQL INSERTs, each on its own: what goes wrong with one is in its
// response's Error. Two statements for one item refuse the whole request.
func (c *DynamoDB) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return call(ctx, c.e, batchExecuteStatement, in, c.e.tables.batchExecuteStatement)
}

// prepared is a statement on its way; err is what is wrong with it, if anything.
type prepared struct {
	t   *table
	put *item
	err error
}

func (ts *tables) prepare(api string, text *string, parameters []types.AttributeValue) prepared {
	src := aws.ToString(text)
	in, err := remember(ts.parsed.cache, parsedKey{api, "PartiQL", src}, func() (*insert, error) { return parseInsert(api, src) })
	if err != nil {
		return prepared{err: err}
	}
	t, err := ts.table(&in.table)
	if err != nil {
		return prepared{err: err}
	}
	attributes, err := in.item(parameters)
	if err != nil {
		return prepared{t: t, err: err}
	}
	put, err := t.newPut(attributes)
	return prepared{t: t, put: put, err: err}
}

// insert stores the item unless its key is taken; then it returns the item that has it.
func (ts *tables) insert(p prepared) (taken *item, spent cost) {
	if taken = p.t.get(key{p.put.pk, p.put.sk}); taken != nil {
		spent = attempt(taken, p.put)
	} else {
		spent = p.t.commit(nil, p.put, ts.e.now(), nil)
	}
	ts.e.meter.wrote(p.t.name, spent)
	return taken, spent
}

func (ts *tables) executeStatement(in *dynamodb.ExecuteStatementInput) (*dynamodb.ExecuteStatementOutput, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	p := ts.prepare("ExecuteStatement", in.Statement, in.Parameters)
	var bad *malformed
	if errors.As(p.err, &bad) {
		return nil, invalid("%s", bad.Error())
	}
	if p.err != nil {
		return nil, p.err
	}
	taken, spent := ts.insert(p)
	if taken != nil {
		return nil, &types.DuplicateItemException{Message: aws.String(duplicateMessage)}
	}
	return &dynamodb.ExecuteStatementOutput{
		Items:            []map[string]types.AttributeValue{},
		ConsumedCapacity: capacity(in.ReturnConsumedCapacity, p.t.name, spent),
	}, nil
}

func (ts *tables) batchExecuteStatement(in *dynamodb.BatchExecuteStatementInput) (*dynamodb.BatchExecuteStatementOutput, error) {
	if len(in.Statements) == 0 {
		return nil, invalid("1 validation error detected: Value '[]' at 'statements' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	if len(in.Statements) > maxStatements {
		return nil, invalid("1 validation error detected: Value at 'statements' failed to satisfy constraint: Member must have length less than or equal to %d", maxStatements)
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	all, err := ts.prepareAll(in.Statements)
	if err != nil {
		return nil, err
	}
	var done, failed bill
	out := &dynamodb.BatchExecuteStatementOutput{Responses: make([]types.BatchStatementResponse, len(all))}
	for i, p := range all {
		if p.err != nil {
			out.Responses[i].Error = statementError(p.err)
			if p.t != nil {
				spent := attempt(nil, p.put)
				ts.e.meter.wrote(p.t.name, spent)
				failed.add(p.t.name, spent)
			}
			continue
		}
		taken, spent := ts.insert(p)
		if taken == nil {
			done.add(p.t.name, spent)
			out.Responses[i].TableName = aws.String(p.t.name)
			continue
		}
		failed.add(p.t.name, spent)
		out.Responses[i].Error = ts.duplicate(in.Statements[i], taken)
	}
	out.ConsumedCapacity = batchCapacity(in.ReturnConsumedCapacity, &done, &failed)
	return out, nil
}

// prepareAll refuses the request as a whole for what the engine does not know, for what cannot be read (a
// number that is none, a statement that is too long) and for two statements on one item; anything else is left to the statement.
func (ts *tables) prepareAll(statements []types.BatchStatementRequest) ([]prepared, error) {
	type target struct {
		t *table
		k key
	}
	seen := make(map[target]bool, len(statements))
	all := make([]prepared, len(statements))
	for i, s := range statements {
		if aws.ToBool(s.ConsistentRead) {
			return nil, unsupported("BatchExecuteStatement", "BatchStatementRequest.ConsistentRead")
		}
		if utf8.RuneCountInString(aws.ToString(s.Statement)) > maxStatementText {
			return nil, invalid("1 validation error detected: Value at 'statements.%d.member.statement' failed to satisfy constraint: Member must have length less than or equal to %d", i+1, maxStatementText)
		}
		for _, v := range s.Parameters { // read with the request, before any statement is looked at
			if err := checkValue(v); err != nil {
				return nil, err
			}
		}
		all[i] = ts.prepare("BatchExecuteStatement", s.Statement, s.Parameters)
		var unknown *UnsupportedError
		if errors.As(all[i].err, &unknown) {
			return nil, unknown
		}
		if all[i].put == nil {
			continue
		}
		at := target{all[i].t, key{all[i].put.pk, all[i].put.sk}}
		if seen[at] {
			return nil, invalid("Provided list of item keys contains duplicates")
		}
		seen[at] = true
	}
	return all, nil
}

func (ts *tables) duplicate(s types.BatchStatementRequest, taken *item) *types.BatchStatementError {
	out := &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumDuplicateItem, Message: aws.String(duplicateMessage)}
	if ts.e.cfg.PartiQLReturnsItem && s.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld {
		out.Item = taken.asMap()
	}
	return out
}

func statementError(err error) *types.BatchStatementError {
	code := types.BatchStatementErrorCodeEnumValidationError
	var missing *types.ResourceNotFoundException
	if errors.As(err, &missing) {
		code = types.BatchStatementErrorCodeEnumResourceNotFound
	}
	return &types.BatchStatementError{Code: code, Message: aws.String(errorText(err))}
}

// batchCapacity: a failed statement is on its table's total and in no arm; a table of which every
// statement failed is not reported at all.
func batchCapacity(asked types.ReturnConsumedCapacity, done, failed *bill) []types.ConsumedCapacity {
	out := done.capacities(asked)
	for i := range out {
		*out[i].CapacityUnits += failed.costs[*out[i].TableName].total()
	}
	return out
}
