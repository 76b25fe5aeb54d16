package contract_test

import (
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/nearby"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/internal/tool/dev/disk"
)

// TestContractOverHTTP compares the engine behind its HTTP endpoint with the contract, using the
// AWS SDK's own clients.
func TestContractOverHTTP(t *testing.T) { overHTTP(t, embedded.Config{}) }

// TestContractOfDev does the same with everything that ingot dev adds to the engine: it keeps each
// change in a folder before it answers.
func TestContractOfDev(t *testing.T) {
	d, err := disk.Open(t.TempDir())
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	overHTTP(t, embedded.Config{Journal: d})
}

func overHTTP(t *testing.T, cfg embedded.Config) {
	t.Helper()
	e := embedded.New(cfg)
	server := httptest.NewServer(wire.New(e))
	t.Cleanup(server.Close)
	client := nearby.Client() // this suite counts requests, so none may be sent again
	t.Cleanup(client.CloseIdleConnections)
	config := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, HTTPClient: client,
		RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	h := harness(e)
	h.DynamoDB, h.Streams, h.SQS = dynamodb.NewFromConfig(config), dynamodbstreams.NewFromConfig(config), sqs.NewFromConfig(config)
	h.S3 = s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
	contract.Run(t, h)
}
