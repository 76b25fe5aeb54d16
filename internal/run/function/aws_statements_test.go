//go:build !ingotlocal

package function

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/schemas"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

// serialized returns what a protocol makes of statements: header and body.
func serialized(t *testing.T, p smithyhttp.ClientProtocol, statements []types.BatchStatementRequest,
	capacity types.ReturnConsumedCapacity) (header, body string) {
	t.Helper()
	request := smithyhttp.NewStackRequest().(*smithyhttp.Request)
	in := &dynamodb.BatchExecuteStatementInput{Statements: statements, ReturnConsumedCapacity: capacity}
	operation := &smithy.OperationSchema{Schema: schemas.BatchExecuteStatement, Input: schemas.BatchExecuteStatementInput}
	must.Succeed(t, p.SerializeRequest(t.Context(), operation, in, request))
	all, err := io.ReadAll(request.GetStream())
	must.Succeed(t, err)
	var head strings.Builder
	must.Succeed(t, request.Header.Write(&head))
	return request.Method + request.URL.Path + head.String(), string(all)
}

// The bodies are those of the SDK, byte by byte. (In a mapping, the order may differ.)
func TestStatementsAreThoseOfTheSDK(t *testing.T) {
	sdk := awsjson.New10(schemas.DynamoDB_20120810)
	seed := replay.Seed(t, 0)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 500 {
		statements := make([]types.BatchStatementRequest, 1+rng.IntN(4))
		ordered := true
		for i := range statements {
			statements[i] = types.BatchStatementRequest{Statement: aws.String(anyText(rng)),
				Parameters: []types.AttributeValue{anyValue(rng, &ordered)}}
			for rng.IntN(3) > 0 {
				statements[i].Parameters = append(statements[i].Parameters, anyValue(rng, &ordered))
			}
			if rng.IntN(2) == 0 {
				statements[i].ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
			}
			switch rng.IntN(40) {
			case 0:
				statements[i].ConsistentRead = aws.Bool(true)
			case 1:
				statements[i].Parameters = nil
			}
		}
		var capacity types.ReturnConsumedCapacity
		if rng.IntN(20) == 0 {
			capacity = types.ReturnConsumedCapacityTotal
		}
		header, body := serialized(t, statementBodies{sdk}, statements, capacity)
		wantHeader, want := serialized(t, sdk, statements, capacity)
		if header != wantHeader || (ordered && body != want) || !sameJSON(body, want) {
			t.Fatalf("it writes\n%s %q\nand the SDK\n%s %q", header, body, wantHeader, want)
		}
	}
}

// What is usual is written into memory that neither grows nor is much too large.
func TestStatementsTakeTheirSpaceOnce(t *testing.T) {
	body := `{"type":"order.placed","note":"Käse, \"frisch\" 🧀"}`
	statement := types.BatchStatementRequest{Statement: aws.String(
		`INSERT INTO "events" VALUE {'PK': ?, 'data': ?, 'digest': ?, 'epoch': ?, 'meta': ?, 'open': ?}`),
		Parameters: []types.AttributeValue{&types.AttributeValueMemberS{Value: "ORDER#1"}, &types.AttributeValueMemberS{Value: body},
			&types.AttributeValueMemberB{Value: make([]byte, 32)},
			&types.AttributeValueMemberN{Value: "1"},
			&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"source": &types.AttributeValueMemberS{Value: `"shop"`}}},
			&types.AttributeValueMemberBOOL{Value: true}},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	all := make([]types.BatchStatementRequest, 25)
	for i := range all {
		all[i] = statement
	}
	size := bodySize(all)
	written, ok := appendStatements(make([]byte, 0, size), all)
	if !ok || len(written) > size || size > len(written)*5/4 {
		t.Errorf("%d bytes for a body of %d; written: %v", size, len(written), ok)
	}
	must.Equal(t, testing.AllocsPerRun(10, func() { written, _ = appendStatements(make([]byte, 0, bodySize(all)), all) }), 1)
}

func anyText(rng *rand.Rand) string {
	pieces := []string{"", "ORDER#", `{"type":"order.placed"}`, `\`, `"`, "\n\r\t", "\x00\x1f\x7f", "é", "日本", "🧀", "\u2028\u2029",
		"\ufffd", "\xff", "\xe2\x80", "<&>", "/"}
	var b strings.Builder
	for range rng.IntN(6) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

// anyValue returns a value of any type. It clears ordered for a mapping of several.
func anyValue(rng *rand.Rand, ordered *bool) types.AttributeValue {
	switch rng.IntN(9) {
	case 0:
		return &types.AttributeValueMemberN{Value: "-12.50"}
	case 1:
		return &types.AttributeValueMemberB{Value: []byte(anyText(rng))}
	case 2:
		return &types.AttributeValueMemberBOOL{Value: rng.IntN(2) == 0}
	case 3:
		m := map[string]types.AttributeValue{}
		for range rng.IntN(3) {
			m[strconv.Itoa(len(m))+anyText(rng)] = anyValue(rng, ordered)
		}
		*ordered = *ordered && len(m) < 2
		return &types.AttributeValueMemberM{Value: m}
	case 4:
		if rng.IntN(5) == 0 { // Ingot stores no lists
			return &types.AttributeValueMemberL{Value: []types.AttributeValue{anyValue(rng, ordered)}}
		}
	}
	return &types.AttributeValueMemberS{Value: anyText(rng)}
}

func sameJSON(a, b string) bool {
	var left, right any
	return json.Unmarshal([]byte(a), &left) == nil && json.Unmarshal([]byte(b), &right) == nil && reflect.DeepEqual(left, right)
}
