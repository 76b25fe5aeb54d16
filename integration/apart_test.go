package integration

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// verifyApart damages one total of the stack. Then it verifies the stack with sums in memory, and
// in segments with sums in a bucket. Both ways must find the same.
func (d *deployed) verifyApart(w tool) {
	d.Helper()
	d.damage("orders")
	bucket := name(d.T)
	must.Succeed(d, stack.CreateArchive(d.Context(), d.clients.S3, bucket))
	d.Run("verify in memory and in a bucket", func(t *testing.T) {
		whole := verdictOf(t, w, "verify --output json", 3)
		if whole["totals"].(float64) < 40 || len(whole["differences"].([]any)) != 1 {
			t.Fatalf("in memory: %v", whole)
		}
		apart := verdictOf(t, w, "verify --output json --segments 5 --memory 1 --work s3://"+bucket+"/again", 3)
		// Each segment reads less than a unit here and there that is charged as one.
		delete(whole, "units")
		delete(apart, "units")
		must.Equal(t, cmp.Diff(whole, apart), "")
		prefix := "again/"
		left, err := d.clients.S3.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
		must.Succeed(t, err)
		for _, o := range left.Contents { // an empty manifest of each segment keeps out what was given up
			if !strings.HasSuffix(*o.Key, ".manifest") {
				t.Errorf("%s is left", *o.Key)
			}
		}
	})
}

// verdictOf runs the tool, which prints one JSON object.
func verdictOf(t *testing.T, w tool, line string, want int) (v map[string]any) {
	t.Helper()
	stdout, stderr, code := w.run(t.Context(), line)
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || code != want {
		t.Fatalf("ingot %s: exit code %d, %v\n%s%s", line, code, err, stdout, stderr)
	}
	return v
}

// damage adds one to a value of one total.
func (d *deployed) damage(value string) {
	d.Helper()
	all, err := d.clients.DynamoDB.Scan(d.Context(),
		&dynamodb.ScanInput{TableName: &d.totals, FilterExpression: aws.String("attribute_exists(" + value + ")")})
	if err != nil || len(all.Items) == 0 {
		d.Fatalf("no total has %s: %v", value, err)
	}
	total := all.Items[len(all.Items)/2]
	_, err = d.clients.DynamoDB.UpdateItem(d.Context(),
		&dynamodb.UpdateItemInput{TableName: &d.totals, Key: map[string]types.AttributeValue{"PK": total["PK"], "SK": total["SK"]},
			UpdateExpression:          aws.String("ADD " + value + " :one"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}})
	must.Succeed(d, err)
}
