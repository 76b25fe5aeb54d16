package contract_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/embedded"
	"github.com/ingot-events/ingot/internal/wire"
)

// TestContractOverHTTP holds the engine to the contract behind its HTTP endpoint, through the AWS SDK's own clients.
func TestContractOverHTTP(t *testing.T) {
	e := embedded.New(embedded.Config{})
	server := httptest.NewServer(wire.New(e))
	t.Cleanup(server.Close)
	config := aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, HTTPClient: &http.Client{Transport: whole{server.Client().Transport}},
		RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	h := harness(e)
	h.DynamoDB, h.Streams, h.SQS = dynamodb.NewFromConfig(config), dynamodbstreams.NewFromConfig(config), sqs.NewFromConfig(config)
	h.S3 = s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true })
	contract.Run(t, h)
}

// whole hands net/http each body of a request whole. The SDK closes a body as soon as the head of the answer is there,
// and its body then answers with EOF where net/http looks for more, which closes the connection while a long answer is
// being read. The SDK sends such a request again. This suite counts requests, so here it must not happen.
type whole struct{ http.RoundTripper }

func (w whole) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return w.RoundTripper.RoundTrip(r)
}
