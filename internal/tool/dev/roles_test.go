package dev

import (
	"context"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/tables"
)

// asked notes by which role each function sends its requests.
type asked struct {
	tables.Client
	mu    *sync.Mutex
	roles map[string]bool
}

func (a asked) note(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r, _ := iam.Of(ctx); r != nil {
		a.roles[r.Name] = true
	}
}

func (a asked) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	a.note(ctx)
	return a.Client.PutItem(ctx, in, o...)
}

func (a asked) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	a.note(ctx)
	return a.Client.UpdateItem(ctx, in, o...)
}

// The functions run by the roles of template.yaml, and what a role does not allow is denied.
func TestFunctionsHaveRoles(t *testing.T) {
	seen := asked{mu: &sync.Mutex{}, roles: map[string]bool{}}
	d := start(t, Config{File: folder(t, orders), Client: func(_ string, to tables.Client) tables.Client {
		return asked{to, seen.mu, seen.roles}
	}})
	send(t, d, order(1, 1))
	until(t, d, counted(1))
	seen.mu.Lock()
	defer seen.mu.Unlock()
	must.Match(t, seen.roles, map[string]bool{"IngestRole": true, "StreamsRole": true})
	_, err := d.Engine().DynamoDB().Scan(iam.As(t.Context(), iam.Streams(d.Pipeline())),
		&dynamodb.ScanInput{TableName: aws.String(stack.Events)})
	must.Fail(t, err, "AccessDenied")
}
