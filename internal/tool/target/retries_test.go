package target_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awscredentials "github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// throttling refuses every request for a while, and then answers with an empty page.
type throttling struct {
	until    time.Time
	requests int
}

func (s *throttling) Do(*http.Request) (*http.Response, error) {
	s.requests++
	status, body := http.StatusOK, `{"Items":[],"Count":0,"ScannedCount":0}`
	if time.Now().Before(s.until) {
		status = http.StatusBadRequest
		body = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"too much"}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(strings.NewReader(body))}, nil
}

// A command that reads a table outlives two minutes in which DynamoDB refuses everything, and asks
// seldom meanwhile. With the SDK's defaults it mostly gives up within one: with those of old, and
// with those that AWS_NEW_RETRIES_2026 turns on, which are four tries, the first after 25 ms (AWS
// SDKs and Tools Reference Guide, "Retry behavior").
func TestMinutesOfThrottles(t *testing.T) {
	p := written.Pipeline(t, `{ingot: 1, epoch: 1, type: "{type}",
events: {a: {id: "{id}", at: "{at}", key: {pk: "A#{id}", sk: A}}}}`)
	read := func(t *testing.T, of string, client tables.Client, s *throttling, long time.Duration) error {
		s.until = time.Now().Add(long)
		st, err := store.New(tables.Config{Client: client, Pipeline: p, Events: "events", Aggregates: "totals"})
		must.Succeed(t, err)
		began := time.Now()
		for _, err = range st.ItemPages(t.Context(), tables.Segment{}) {
			if err != nil {
				break
			}
		}
		t.Logf("%s, refused for %s: %s, %d requests, %.60v", of, long, time.Since(began).Round(time.Millisecond), s.requests, err)
		return err
	}
	for _, newer := range []string{"", "true"} {
		t.Setenv("AWS_NEW_RETRIES_2026", newer)
		synctest.Test(t, func(t *testing.T) {
			s := &throttling{}
			at := &target.Target{AWS: aws.Config{Region: "eu-central-1", HTTPClient: s,
				Credentials: awscredentials.NewStaticCredentialsProvider("a", "b", "")}}
			must.Succeed(t, read(t, "chosen", at.DynamoDB(), s, 2*time.Minute))
			if s.requests > 105 { // five for each of the store's own tries
				t.Errorf("%d requests", s.requests)
			}
			s.requests = 0
			must.Fail(t, read(t, "default "+newer, dynamodb.NewFromConfig(at.AWS), s, 5*time.Minute), "exceeded maximum number of attempts")
		})
	}
}
