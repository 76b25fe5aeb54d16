package integration

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
)

// TestDeployedWithAKey deploys the sample shop with its own KMS key. CloudFormation accepts every
// property that names the key, queues and tables are encrypted with it, and everything works as
// without it.
func TestDeployedWithAKey(t *testing.T) {
	sampleshop.PipelineAtRoot(t, "..")
	e, _ := open(t)
	key := createKey(t, e.URL)
	d := deploy(t, deployment{dir: "..", binaries: functions(t), parameters: map[string]string{"Counting": "receipts", "EndpointUrl": e.URL,
		"KmsKeyArn": key}})
	d.check(orders(t, 4))
	for _, url := range []string{d.queueURL, d.quarantine} {
		out, err := d.clients.SQS.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameKmsMasterKeyId}})
		if err != nil || out.Attributes["KmsMasterKeyId"] != key {
			t.Errorf("%s is encrypted with %v, not with %s (%v)", url, out, key, err)
		}
	}
	for _, table := range []string{d.events, d.totals} {
		out, err := d.clients.DynamoDB.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		must.Succeed(t, err)
		if by := out.Table.SSEDescription; by == nil || aws.ToString(by.KMSMasterKeyArn) != key {
			t.Errorf("%s is encrypted with %+v, not with %s", table, by, key)
		}
	}
}

// createKey makes a KMS key at the endpoint and returns its ARN. It calls KMS without the SDK, like
// CloudFormation.
func createKey(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"Description": "a key of a test"}`))
	must.Succeed(t, err)
	request.Header.Set("Content-Type", "application/x-amz-json-1.1")
	request.Header.Set("X-Amz-Target", "TrentService.CreateKey")
	sign(request, "kms")
	response, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer response.Body.Close()
	var answer struct{ KeyMetadata struct{ Arn string } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.KeyMetadata.Arn == "" {
		t.Fatalf("KMS CreateKey: %s, %v", response.Status, err)
	}
	return answer.KeyMetadata.Arn
}
