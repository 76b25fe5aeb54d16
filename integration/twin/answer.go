package twin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// Leniency names differences of one side that are known. integration/contract lists and shows them,
// so they are ignored here.
type Leniency struct {
	// Cancelled says that a transaction that can never be done is refused instead of cancelled.
	Cancelled bool
	// Twice says that a transaction with two writes of one item is not always refused.
	Twice bool
}

// Side is one of the two.
type Side struct {
	Name string
	DB   contract.DynamoDB
}

// answer sends a request, and returns everything in its answer that matters, as text. Error
// messages do not matter.
func answer(ctx context.Context, db contract.DynamoDB, in any, l Leniency) string {
	switch in := in.(type) {
	case *dynamodb.PutItemInput:
		_, err := db.PutItem(ctx, in)
		return failure(err, l)
	case *dynamodb.UpdateItemInput:
		out, err := db.UpdateItem(ctx, in)
		if err != nil {
			return failure(err, l)
		}
		return "done " + show(out.Attributes)
	case *dynamodb.DeleteItemInput:
		_, err := db.DeleteItem(ctx, in)
		return failure(err, l)
	case *dynamodb.BatchExecuteStatementInput:
		out, err := db.BatchExecuteStatement(ctx, in)
		if err != nil {
			return failure(err, l)
		}
		var each []string
		for _, r := range out.Responses {
			code := "done"
			if r.Error != nil {
				code = string(r.Error.Code)
			}
			each = append(each, code)
		}
		return strings.Join(each, ", ")
	case *dynamodb.TransactWriteItemsInput:
		_, err := db.TransactWriteItems(ctx, in)
		return failure(err, l)
	case *dynamodb.GetItemInput:
		out, err := db.GetItem(ctx, in)
		if err != nil {
			return failure(err, l)
		}
		return show(out.Item)
	case *dynamodb.BatchGetItemInput:
		out, err := db.BatchGetItem(ctx, in)
		if err != nil {
			return failure(err, l)
		}
		var items []attrs
		for _, all := range out.Responses {
			items = append(items, all...)
		}
		return fmt.Sprintf("%s, %d tables unprocessed", set(items), len(out.UnprocessedKeys))
	case *dynamodb.QueryInput:
		return pages(ctx, db, in, l)
	}
	panic(fmt.Sprintf("no request: %T", in))
}

// pages reads a query to its end. It returns only the items, because it is not documented when the
// last page is empty.
func pages(ctx context.Context, db contract.DynamoDB, in *dynamodb.QueryInput, l Leniency) string {
	at := *in
	var all []string
	for {
		out, err := db.Query(ctx, &at)
		if err != nil {
			return failure(err, l)
		}
		for _, item := range out.Items {
			all = append(all, show(item))
		}
		if at.ExclusiveStartKey = out.LastEvaluatedKey; len(at.ExclusiveStartKey) == 0 {
			return strings.Join(all, "\n")
		}
	}
}

// failure returns the code of an error, with the image or the reasons that the error carries.
func failure(err error, l Leniency) string {
	var (
		condition *types.ConditionalCheckFailedException
		cancel    *types.TransactionCanceledException
		api       smithy.APIError
	)
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &condition):
		return "ConditionalCheckFailed " + show(condition.Item)
	case errors.As(err, &cancel):
		var reasons []string
		never := false
		for _, r := range cancel.CancellationReasons {
			never = never || aws.ToString(r.Code) == "ValidationError"
			reasons = append(reasons, strings.TrimSpace(aws.ToString(r.Code)+" "+show(r.Item)))
		}
		if never && l.Cancelled {
			return "ValidationException"
		}
		return "cancelled: " + strings.Join(reasons, ", ")
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return "no answer: " + err.Error()
}

// set returns items without their order.
func set(items []attrs) string {
	var all []string
	for _, item := range items {
		all = append(all, show(item))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// show returns an item as text. Equal items have the same text.
func show(item attrs) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		parts = append(parts, name+":"+showValue(item[name]))
	}
	return strings.Join(parts, " ")
}

func showValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if len(v.Value) > 80 {
			return fmt.Sprintf("%q of %d bytes", excerpt.Of(v.Value, 10), len(v.Value))
		}
		return fmt.Sprintf("%q", v.Value)
	case *types.AttributeValueMemberN:
		return exact(v.Value)
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("x%x", v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberM:
		return "{" + show(v.Value) + "}"
	}
	return fmt.Sprintf("%T", v)
}

// exact returns a number by its value. DynamoDB Local keeps zeros at the end of sums, and it is not
// documented how the largest and the smallest number are written.
func exact(text string) string {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return "no number: " + text
	}
	return r.RatString()
}
