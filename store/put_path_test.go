package store_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/tables"
)

// path keeps the functions of Ingot that a put went through, from the request to Store.Put.
type path struct {
	tables.Client
	functions []string
}

func (p *path) PutItem(ctx context.Context, in *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput,
	error) {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		name := f.Function[strings.LastIndexByte(f.Function, '/')+1:]
		p.functions = append(p.functions, name)
		if name == "store.(*Store).Put" {
			break
		}
	}
	return p.Client.PutItem(ctx, in, options...)
}

// Who reads how an item is put opens at most eight functions between the call and its request.
func TestPathOfAPlainPut(t *testing.T) {
	w := newWorld(t)
	p := &path{Client: w.Engine.DynamoDB()}
	s := w.open(tables.Config{Client: p})
	if results, _ := s.Put(t.Context(), w.events("order 1 100")); verdicts(results) != "Inserted" {
		t.Fatal(verdicts(results))
	}
	t.Log(strings.Join(p.functions, "\n"))
	if len(p.functions) > 8 || !slices.Contains(p.functions, "store.(*Store).Put") {
		t.Errorf("the put of one item goes through %d functions", len(p.functions))
	}
}
