package sim

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/tables"
)

// newForm is DynamoDB as a future version uses it, whose pipeline has a later epoch. That version
// stores the payload of an event as bytes, which today's code cannot read. It reads both forms.
// Here, that version is today's code with this translation between it and the table.
//
// Where newer code compresses payloads, the translation is the other way round: blind code, which
// is older, meets payloads that it cannot read.
type newForm struct {
	tables.Client
	w     *World
	blind bool
}

// outward converts an item, or the parameters of a statement, to the new form.
func (f newForm) outward(v types.AttributeValue) types.AttributeValue {
	if s, ok := v.(*types.AttributeValueMemberS); ok && !f.blind && strings.HasPrefix(s.Value, "{") { // no other text is an object
		f.w.Faults[newerForm]++
		return &types.AttributeValueMemberB{Value: []byte(s.Value)}
	}
	return v
}

// inward converts an item of either form to the form of the code that reads it.
func (f newForm) inward(item map[string]types.AttributeValue) map[string]types.AttributeValue {
	if f.blind {
		return garble(item)
	}
	b, ok := item["data"].(*types.AttributeValueMemberB)
	if !ok {
		return item
	}
	item = maps.Clone(item)
	item["data"] = &types.AttributeValueMemberS{Value: string(b.Value)}
	return item
}

func (f newForm) inwardAll(items []map[string]types.AttributeValue) {
	for i := range items {
		items[i] = f.inward(items[i])
	}
}

// PutItem puts an item in the new form. A replacement makes sure that the item it replaces has a
// payload, in either form.
func (f newForm) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput,
	error) {
	own := *in
	if own.Item["data"] != nil {
		own.Item = maps.Clone(in.Item)
		own.Item["data"] = f.outward(in.Item["data"])
	}
	if condition := in.ConditionExpression; condition != nil && strings.Contains(*condition, "#p >= :text") {
		either := strings.ReplaceAll(*condition, "#p >= :text", "(#p >= :text OR #p >= :bytes)")
		own.ConditionExpression = &either
		own.ExpressionAttributeValues = maps.Clone(in.ExpressionAttributeValues)
		own.ExpressionAttributeValues[":bytes"] = &types.AttributeValueMemberB{Value: []byte("\t")}
	}
	out, err := f.Client.PutItem(ctx, &own, options...)
	if taken := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &taken) {
		told := *taken
		told.Item = f.inward(taken.Item)
		return out, &told
	}
	return out, err
}

// BatchExecuteStatement converts statements that insert events, and passes on those that update
// totals.
func (f newForm) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	own := *in
	own.Statements = make([]types.BatchStatementRequest, len(in.Statements))
	for i, s := range in.Statements {
		s.Parameters = append([]types.AttributeValue(nil), s.Parameters...)
		for n, v := range s.Parameters {
			s.Parameters[n] = f.outward(v)
		}
		own.Statements[i] = s
	}
	out, err := f.Client.BatchExecuteStatement(ctx, &own, options...)
	if err != nil {
		return out, err
	}
	for i := range out.Responses {
		if refusal := out.Responses[i].Error; refusal != nil && refusal.Item != nil {
			told := *refusal
			told.Item = f.inward(refusal.Item)
			out.Responses[i].Error = &told
		}
	}
	return out, nil
}

// TransactWriteItems converts items that are put. The reasons of a cancelled transaction may have
// items of either form.
func (f newForm) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	options ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	own := *in
	own.TransactItems = slices.Clone(in.TransactItems)
	for i, item := range own.TransactItems {
		if item.Put == nil || item.Put.Item["data"] == nil {
			continue
		}
		put := *item.Put
		put.Item = maps.Clone(put.Item)
		put.Item["data"] = f.outward(put.Item["data"])
		own.TransactItems[i].Put = &put
	}
	out, err := f.Client.TransactWriteItems(ctx, &own, options...)
	if cancelled := (*types.TransactionCanceledException)(nil); errors.As(err, &cancelled) {
		told := *cancelled
		told.CancellationReasons = slices.Clone(cancelled.CancellationReasons)
		for i, reason := range told.CancellationReasons {
			told.CancellationReasons[i].Item = f.inward(reason.Item)
		}
		return out, &told
	}
	return out, err
}

// GetItem reads an item of either form.
func (f newForm) GetItem(ctx context.Context, in *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput,
	error) {
	out, err := f.Client.GetItem(ctx, in, options...)
	if err == nil {
		out.Item = f.inward(out.Item)
	}
	return out, err
}

// BatchGetItem reads items of both forms.
func (f newForm) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := f.Client.BatchGetItem(ctx, in, options...)
	if err == nil {
		for _, items := range out.Responses {
			f.inwardAll(items)
		}
	}
	return out, err
}

// Scan reads items of both forms.
func (f newForm) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out, err := f.Client.Scan(ctx, in, options...)
	if err == nil {
		f.inwardAll(out.Items)
	}
	return out, err
}

var dataInBytes = regexp.MustCompile(`"data":\{"B":"([^"]*)"\}`)

// readable converts a batch of stream records to the form of today's code.
func readable(payload []byte) []byte {
	if !bytes.Contains(payload, []byte(`"data":{"B"`)) {
		return payload
	}
	return dataInBytes.ReplaceAllFunc(payload, func(member []byte) []byte {
		data, err := base64.StdEncoding.DecodeString(string(dataInBytes.FindSubmatch(member)[1]))
		if err != nil {
			return member
		}
		text, err := json.Marshal(string(data))
		if err != nil {
			return member
		}
		return []byte(`"data":{"S":` + string(text) + `}`)
	})
}

// unreadable reports whether an image has a form that the code of an invocation cannot read, and
// the stamp of newer code. If a message meets such an image, that code may only say that the
// message must come again.
func (inv *invocation) unreadable(img *model.Image) bool {
	return img != nil && img.InBytes && img.Epoch > inv.epoch
}
