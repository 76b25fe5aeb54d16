package store

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	words "github.com/ingot-events/ingot/internal/base/reserved"
)

// execute sends statements in one request and returns their answers, in order. If the number of
// answers is wrong, they prove nothing, and execute returns an error.
func (s *tables) execute(ctx context.Context, statements []types.BatchStatementRequest,
	options ...func(*dynamodb.Options)) ([]types.BatchStatementResponse, error) {
	out, err := s.client.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: statements}, options...)
	if err != nil {
		return nil, err
	}
	if len(out.Responses) != len(statements) {
		return nil, errAnswers
	}
	return out.Responses, nil
}

var errAnswers = errors.New("the service did not answer each of the statements that were sent")

func request(text statementText, parameters []types.AttributeValue) types.BatchStatementRequest {
	statement := string(text)
	return types.BatchStatementRequest{Statement: &statement, Parameters: parameters,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
}

// statementText is PartiQL under construction.
type statementText []byte

func (b statementText) add(text string) statementText { return append(b, text...) }

// quoted adds a name in double quotes. Any name may be written so.
func (b statementText) quoted(name string) statementText {
	return append(append(append(b, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
}

// named adds a name without quotes where that is allowed. One emulator does not accept quotes
// inside a sum.
func (b statementText) named(name string) statementText {
	if unquoted(name) {
		return append(b, name...)
	}
	return b.quoted(name)
}

// unquoted reports whether a name may be written in a statement without quotes.
func unquoted(name string) bool {
	for i := range len(name) {
		c := name[i] | 0x20 // lower case; digits and _ stay apart from letters
		if (c < 'a' || c > 'z') && name[i] != '_' && (i == 0 || name[i] < '0' || name[i] > '9') {
			return false
		}
	}
	return name != "" && !words.Word(name) && !words.InStatements(name)
}
