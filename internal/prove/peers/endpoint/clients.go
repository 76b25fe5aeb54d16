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

	"github.com/ingot-events/ingot/internal/base/awsclient"
)

// Clients are the SDK's own clients at one endpoint. A client is nil if the endpoint does not have
// its service.
type Clients struct {
	DynamoDB *dynamodb.Client
	Streams  *dynamodbstreams.Client
	SQS      *sqs.Client
	S3       *s3.Client

	mu   sync.Mutex
	sent map[string]int
}

// Region is the Region that the clients name. Emulators accept any.
const Region = "us-east-1"

// Clients makes clients that count what they send. An SQS client sends to the endpoint, whatever
// host the URL of a queue names. LocalStack puts its own name and port there, which differ from
// those under which its port is published.
func (e *Endpoint) Clients() *Clients {
	c := &Clients{sent: map[string]int{}}
	config := aws.Config{Region: Region, BaseEndpoint: &e.URL, HTTPClient: e.http(),
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

func (e *Endpoint) http() aws.HTTPClient {
	return awsclient.Client{HTTPClient: &http.Client{Transport: e.transport(), Timeout: time.Minute}}
}

// transport returns a transport with the SDK's settings. Close ends its connections, which the SDK
// would otherwise keep open.
func (e *Endpoint) transport() *http.Transport {
	t := awshttp.NewBuildableClient().GetTransport()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.transports = append(e.transports, t)
	return t
}

// count counts every attempt that goes out, including the SDK's own retries.
func (c *Clients) count(stack *middleware.Stack) error {
	return stack.Finalize.Insert(
		middleware.FinalizeMiddlewareFunc("count", func(ctx context.Context, in middleware.FinalizeInput,
			next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			c.mu.Lock()
			c.sent[middleware.GetOperationName(ctx)]++
			c.mu.Unlock()
			return next.HandleFinalize(ctx, in)
		}), "Retry", middleware.After)
}

// Sent returns how many requests went out so far, by API name.
func (c *Clients) Sent() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sent)
}

// probe finds out which services answer. DynamoDB must answer. Its first call takes LocalStack 5 to
// 10 s.
func (e *Endpoint) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	services, isLocalStack := e.health(ctx)
	if isLocalStack {
		e.Name = "localstack"
	}
	e.SQS, e.S3 = true, true // so that their clients are made
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
	// Some endpoints answer GET / with a page of their own. S3 names the owner.
	e.SQS, e.S3 = sqsErr == nil, s3Err == nil && buckets.Owner != nil
	return nil
}

func on(state string) bool { return state == "available" || state == "running" }

// health asks LocalStack's own path. Other endpoints do not know it.
func (e *Endpoint) health(ctx context.Context) (services map[string]string, ok bool) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.URL+"/_localstack/health", nil)
	if err != nil {
		return nil, false
	}
	request.Close = true // nothing else is asked in this way, and a connection that is kept open would outlive the tests
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
