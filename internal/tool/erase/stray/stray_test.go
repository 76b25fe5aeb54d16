package stray_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/erase/stray"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/pipeline"
)

// An object that is put again while the table is read stays, no matter what puts it: its item
// may come right after it. Another one, as old, is deleted.
func TestPutAgain(t *testing.T) {
	plan, err := pipeline.Load(examples.Files, "ledger/pipeline.yaml")
	must.Succeed(t, err)
	clock := testworld.NewClock(time.Date(2031, 5, 5, 6, 0, 0, 0, time.UTC))
	engine := embedded.New(embedded.Config{Now: clock.Now})
	must.Succeed(t, stack.CreateArchive(t.Context(), engine.S3(), stack.Payloads))
	put := func(pk string) {
		name := payloads.Name("note", event.Key{PK: pk}, payloads.Sum{})
		_, err := engine.S3().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(stack.Payloads), Key: &name,
			Body: strings.NewReader("{}")})
		must.Succeed(t, err)
	}
	put("NOTE#1")
	put("NOTE#2")
	clock.Pass(26 * time.Hour)
	env := clock.Env(rand.Float64)
	b := &stray.Bucket{Objects: engine.S3(), Name: stack.Payloads, Plan: plan, Pauser: pause.Pauser{Client: off{}, Env: env},
		Clock: env, Items: func(context.Context) iter.Seq2[*event.Item, error] {
			return func(func(*event.Item, error) bool) { put("NOTE#2") }
		}}
	found, err := b.Delete(t.Context())
	must.Succeed(t, err)
	if *found.Deleted != 1 || found.Young != 1 ||
		found.Payloads[0].Name != payloads.Name("note", event.Key{PK: "NOTE#1"}, payloads.Sum{}) {
		t.Errorf("%+v", found)
	}
	out, err := engine.S3().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(stack.Payloads)})
	must.Succeed(t, err)
	must.Equal(t, len(out.Contents), 1)
}

// off is Lambda, with a mapping that is switched off.
type off struct{ pause.Client }

func (off) ListEventSourceMappings(context.Context, *lambda.ListEventSourceMappingsInput,
	...func(*lambda.Options)) (*lambda.ListEventSourceMappingsOutput, error) {
	return &lambda.ListEventSourceMappingsOutput{EventSourceMappings: []types.EventSourceMappingConfiguration{
		{UUID: aws.String("queue"), State: aws.String("Disabled")}}}, nil
}
