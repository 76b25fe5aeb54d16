package sim

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// recorder is the engine's DynamoDB. It notes what was changed, so that the changes can be checked.
type recorder struct {
	*embedded.DynamoDB
	w *World
}

func (r recorder) changed(table *string, key map[string]types.AttributeValue) {
	if aws.ToString(table) == eventsTable {
		return
	}
	pk, _ := key["PK"].(*types.AttributeValueMemberS)
	sk, _ := key["SK"].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return
	}
	if strings.HasPrefix(pk.Value, "A#") {
		r.w.touched = append(r.w.touched, pk.Value+"|"+sk.Value)
	}
	r.w.byPut.noteHead(pk.Value, sk.Value)
}

func (r recorder) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r.w.stats.Puts++
	out, err := r.DynamoDB.PutItem(ctx, in)
	r.spendItem(in.TableName, in.Item, err)
	if err == nil {
		r.changed(in.TableName, in.Item)
	}
	return out, err
}

func (r recorder) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput,
	error) {
	r.w.stats.Updates++
	out, err := r.DynamoDB.UpdateItem(ctx, in)
	if in.ExpressionAttributeNames["#large"] == "" { // a warning is not an update of the total
		r.spendItem(in.TableName, in.Key, err)
	}
	if err == nil {
		r.changed(in.TableName, in.Key)
	}
	return out, err
}

func (r recorder) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	out, err := r.DynamoDB.BatchExecuteStatement(ctx, in)
	if err != nil {
		return out, err
	}
	for i, answer := range out.Responses {
		table, pk, sk := keyOf(in.Statements[i].Parameters)
		r.spend(table, pk, sk, answer.Error == nil)
		if table == eventsTable {
			if strings.HasPrefix(*in.Statements[i].Statement, "INSERT") { // and not a touch
				r.w.stats.Puts++
			}
			continue
		}
		r.w.stats.Updates++
		r.w.stats.Statements++
		if answer.Error == nil {
			r.w.touched = append(r.w.touched, pk+"|"+sk)
		}
	}
	return out, err
}

func (r recorder) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	asked := in.RequestItems[eventsTable]
	for _, key := range asked.Keys {
		r.spendRead(text(key["PK"]), slices.Contains(slices.Collect(maps.Values(asked.ExpressionAttributeNames)), "data"))
	}
	defer r.reads()()
	return r.DynamoDB.BatchGetItem(ctx, in)
}

func (r recorder) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	defer r.reads()()
	return r.DynamoDB.GetItem(ctx, in)
}

func (r recorder) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	defer r.reads()()
	return r.DynamoDB.Query(ctx, in)
}

func (r recorder) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	defer r.reads()()
	return r.DynamoDB.Scan(ctx, in)
}

func (r recorder) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := r.DynamoDB.TransactWriteItems(ctx, in)
	var receipts []string
	mends := isMending(in)
	for _, item := range itemsPut(in) {
		if pk := text(item["PK"]); strings.HasPrefix(pk, "R#") {
			receipts = append(receipts, pk)
		}
	}
	if len(receipts) == 0 {
		r.w.spending.eventWrites += 2 * len(in.TransactItems) // two units for each item, also if it is cancelled
	}
	r.spendPuts(in, err == nil)
	if len(receipts) > 0 { // otherwise it comes from a start
		r.spendReceipts(receipts, err == nil)
	}
	if err != nil {
		return out, err
	}
	for _, item := range in.TransactItems {
		if put := item.Put; put != nil {
			r.changed(put.TableName, put.Item)
			if *put.TableName == eventsTable {
				r.w.spending.accepted[eventsTable+"|"+text(put.Item["PK"])+"|"]++
			}
		}
	}
	r.w.newReceipts = append(r.w.newReceipts, receipts...)
	for _, item := range in.TransactItems {
		if update := item.Update; update != nil {
			r.w.stats.Updates++
			if len(receipts) == 0 {
				r.w.spending.accepted[totals+"|"+text(update.Key["PK"])+"|"+text(update.Key["SK"])]++
			}
			r.changed(update.TableName, update.Key)
			if s := r.w.model.Slots[text(update.Key["PK"])+"|"+text(update.Key["SK"])]; s != nil && mends {
				s.Mended = true
			}
		}
	}
	return out, err
}
