package endpoint

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
)

// Clients are the SDK's own, at one endpoint. A nil one is of a service that the endpoint does not have.
type Clients struct {
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client
	SQS      *sqs.Client
	S3       *s3.Client

	mu   sync.Mutex
	sent map[string]int
}

// Region is the one that the clients name; emulators take any.
const Region = "us-east-1"

// Clients makes clients that count what they send. An SQS client sends to the endpoint whatever host a queue's
// URL names: LocalStack puts its own name and port there, which are not those that its port is published as.
func (e *Endpoint) Clients() *Clients {
	c := &Clients{sent: map[string]int{}}
	config := aws.Config{Region: Region, BaseEndpoint: &e.URL, HTTPClient: &http.Client{Transport: e.transport(), Timeout: time.Minute},
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
		APIOptions:  []func(*middleware.Stack) error{c.count}}
	c.DynamoDB, c.Streams = dynamodb.NewFromConfig(config), dynamodbstreams.NewFromConfig(config)
	if e.SQS {
		c.SQS = sqs.NewFromConfig(config)
	}
	if e.S3 {
		c.S3 = s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
	}
	return c
}

// transport is one with the SDK's settings, whose connections Close ends: the SDK would keep them for itself.
func (e *Endpoint) transport() *http.Transport {
	t := awshttp.NewBuildableClient().GetTransport()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.transports = append(e.transports, t)
	return t
}

// count notes every attempt that goes out, the SDK's own retries included.
func (c *Clients) count(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("count", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		c.mu.Lock()
		c.sent[middleware.GetOperationName(ctx)]++
		c.mu.Unlock()
		return next.HandleFinalize(ctx, in)
	}), "Retry", middleware.After)
}

// Sent is how many requests went out so far, by API name.
func (c *Clients) Sent() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sent)
}

// probe finds out what answers. DynamoDB must; a first call of it takes LocalStack 5 to 10 s.
func (e *Endpoint) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	services, isLocalStack := e.health(ctx)
	if isLocalStack {
		e.Name = "localstack"
	}
	e.SQS, e.S3 = true, true // to have their clients made
	c := e.Clients()
	if _, err := c.DynamoDB.ListTables(ctx, &dynamodb.ListTablesInput{}); err != nil {
		return err
	}
	if isLocalStack {
		e.SQS, e.S3 = on(services["sqs"]), on(services["s3"])
		return nil
	}
	_, sqsErr := c.SQS.ListQueues(ctx, &sqs.ListQueuesInput{}, func(o *sqs.Options) { o.RetryMaxAttempts = 1 })
	buckets, s3Err := c.S3.ListBuckets(ctx, &s3.ListBucketsInput{}, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
	// Some answer GET / with a page of their own; S3 names the owner.
	e.SQS, e.S3 = sqsErr == nil, s3Err == nil && buckets.Owner != nil
	return nil
}

func on(state string) bool { return state == "available" || state == "running" }

// health asks LocalStack's own path; others do not know it.
func (e *Endpoint) health(ctx context.Context) (services map[string]string, ok bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+"/_localstack/health", nil)
	if err != nil {
		return nil, false
	}
	request.Close = true // nothing else is asked in this way, and a kept connection would outlive the tests
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, false
	}
	defer answer.Body.Close()
	var health struct{ Services map[string]string }
	if answer.StatusCode != http.StatusOK || json.NewDecoder(answer.Body).Decode(&health) != nil {
		return nil, false
	}
	return health.Services, len(health.Services) > 0
}
