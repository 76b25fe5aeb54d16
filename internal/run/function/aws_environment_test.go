//go:build !ingotlocal

package function

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/awsclient"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// The functions send the same requests as with the SDK's own way to read the environment. It is the
// slow twin here.
func TestLambdaEnvironmentIsReadAsTheSDKReadsIt(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"deployed": {},
		"endpoint": {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"},
		"endpoint of a service": {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566", "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:8000",
			"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9000"},
		"FIPS":                  {"AWS_USE_FIPS_ENDPOINT": "true"},
		"dual stack":            {"AWS_USE_DUALSTACK_ENDPOINT": "True", "AWS_USE_FIPS_ENDPOINT": "false"},
		"account":               {"AWS_ACCOUNT_ID": "123456789012"},
		"credentials of a user": {"AWS_SESSION_TOKEN": ""},
		"another Region":        {"AWS_REGION": "us-gov-west-1", "AWS_DEFAULT_REGION": "us-gov-west-1", "AWS_USE_FIPS_ENDPOINT": "true"},
		"a Region in China":     {"AWS_REGION": "cn-north-1", "AWS_DEFAULT_REGION": "cn-north-1"},
	} {
		t.Run(name, func(t *testing.T) {
			newRecorder(t, http.StatusOK, "") // only for the environment that it clears
			t.Setenv("AWS_ENDPOINT_URL", "")
			t.Setenv("AWS_SESSION_TOKEN", "token")
			for name, value := range env {
				t.Setenv(name, value)
			}
			c, err := config.LoadDefaultConfig(t.Context(), config.WithHTTPClient(bounded(nil).(awsclient.Client).HTTPClient))
			must.Succeed(t, err)
			twin, ours := sent(t, &backend{c}), sent(t, connected(t))
			must.Equal(t, len(ours), 3)
			for i := range ours {
				must.Equal(t, ours[i], twin[i])
			}
		})
	}
}

// wire keeps each request in the place of sending it, and ends the call.
type wire struct {
	requests []string
	end      context.CancelFunc
}

func (w *wire) Do(in *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(in.Body)
	if err != nil {
		return nil, err
	}
	header := maps.Clone(in.Header)
	authorization, _, _ := strings.Cut(header.Get("Authorization"), "SignedHeaders=")
	header.Set("Authorization", authorization[:strings.Index(authorization, "/")])
	agent, _, _ := strings.Cut(header.Get("User-Agent"), " m/") // what follows are statistics of the SDK's makers
	header.Set("User-Agent", agent)
	for _, changing := range []string{"X-Amz-Date", "Amz-Sdk-Invocation-Id", "Amz-Sdk-Request"} {
		header.Del(changing)
	}
	w.requests = append(w.requests, fmt.Sprintf("%s %s %v\n%s", in.Method, in.URL, header, body))
	w.end()
	return nil, context.Canceled
}

// sent returns what each client of b sends.
func sent(t *testing.T, b *backend) []string {
	t.Helper()
	w := &wire{}
	b.config.HTTPClient = w
	call := func() (ctx context.Context) {
		ctx, w.end = context.WithCancel(t.Context())
		return ctx
	}
	table := "events"
	key := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "p"}}
	if _, err := b.tables().GetItem(call(), &dynamodb.GetItemInput{TableName: &table, Key: key}); err == nil {
		t.Error("the table answers")
	}
	if err := b.quarantine("https://sqs.eu-central-1.amazonaws.com/123456789012/quarantine").Send(call(),
		[]quarantine.Letter{{Body: "hello"}})[0]; err == nil {
		t.Error("the queue answers")
	}
	if err := b.archive("archive").Put(call(), "expired/a.json", "{}"); err == nil {
		t.Error("the bucket answers")
	}
	return w.requests
}

func TestLambdaEnvironmentWithMistakes(t *testing.T) {
	for name, value := range map[string]string{"AWS_USE_FIPS_ENDPOINT": "yes", "AWS_USE_DUALSTACK_ENDPOINT": "1"} {
		newRecorder(t, http.StatusOK, "")
		t.Setenv(name, value)
		_, err := connect(t.Context(), slog.New(slog.DiscardHandler), nil, settings{}, nil)
		must.Fail(t, err, fmt.Sprintf("%s is %q: write true or false", name, value))
		t.Setenv(name, "")
	}
}

// Without credentials nothing is sent, and the message says what to do.
func TestNoCredentials(t *testing.T) {
	r := newRecorder(t, http.StatusOK, "")
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	table := "events"
	_, err := connected(t).tables().GetItem(t.Context(),
		&dynamodb.GetItemInput{TableName: &table, Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "p"}}})
	if err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set") || len(r.seen()) != 0 {
		t.Errorf("error %v after %d requests", err, len(r.seen()))
	}
}

// A program that runs a function outside Lambda brings its own configuration.
func TestGivenConfigurationIsUsed(t *testing.T) {
	newRecorder(t, http.StatusOK, "")
	t.Setenv("AWS_REGION", "")
	ctx, stop := context.WithCancel(t.Context())
	w := &wire{end: stop}
	given := &aws.Config{Region: "eu-west-1", HTTPClient: w,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "own", SecretAccessKey: "secret"}, nil
		})}
	b, err := connect(t.Context(), slog.New(slog.DiscardHandler), given, settings{}, nil)
	must.Succeed(t, err)
	table := "events"
	if _, err := b.tables().GetItem(ctx,
		&dynamodb.GetItemInput{TableName: &table,
			Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "p"}}}); err == nil {
		t.Error("the table answers")
	}
	if len(w.requests) != 1 || !strings.Contains(w.requests[0], "https://dynamodb.eu-west-1.amazonaws.com") ||
		!strings.Contains(w.requests[0], "Credential=own") {
		t.Errorf("it sent %q", w.requests)
	}
}
