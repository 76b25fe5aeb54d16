package migrate_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/tables"
)

// A copy is sent only with a signature from before the margin of its expiry. The clock that judged
// its row may be an hour slow.
func TestSignedTooLate(t *testing.T) {
	for left, sent := range map[time.Duration]bool{tables.ExpiryMargin / 2: false, 10 * time.Hour: true} {
		m := begin(t)
		server := httptest.NewServer(wire.New(m.engine))
		t.Cleanup(server.Close)
		m.config.Client = dynamodb.New(dynamodb.Options{Region: "eu-west-1", BaseEndpoint: &server.URL,
			Credentials: aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider("AKID", "secret", ""))})
		m.config.Env.Sleep = func(context.Context, time.Duration) error { m.now = time.Now(); return nil }
		m.sync = m.reopened()
		m.now = time.Now().Add(-time.Hour)
		row := profile("1", "ann")
		row["at"] = s(time.Now().Add(left - 60*24*time.Hour).UTC().Format(time.RFC3339))
		done := m.sync.Do(t.Context(), migrate.Always, []migrate.Changed{m.row(row)})
		if stored := m.item("ACCOUNT#1", "USER")["type"] != nil; stored != sent || done.Expired > 0 == sent || len(done.Left) > 0 {
			t.Errorf("with %v left: stored %v, %+v", left, stored, done)
		}
	}
}
