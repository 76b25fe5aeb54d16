//go:build !ingotlocal

package function

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/awsclient"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld"
)

// recorder is an endpoint that keeps what it is sent and gives every request the same answer.
type recorder struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	told     int // requests that asked has returned
}

func newRecorder(t *testing.T, status int, body string) *recorder {
	t.Helper()
	r := &recorder{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		_, _ = io.Copy(io.Discard, in.Body)
		r.mu.Lock()
		r.requests = append(r.requests, in)
		r.mu.Unlock()
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(r.Close)
	// Nothing of the developer's own AWS configuration may reach a test.
	for _, name := range []string{"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, filepath.Join(t.TempDir(), "absent"))
	}
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_REGION", "eu-central-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_ENDPOINT_URL", r.URL)
	return r
}

func (r *recorder) seen() []*http.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// asked returns the method and the path of each request since it was called before.
func (r *recorder) asked() string {
	var list []string
	for _, one := range r.seen()[r.told:] {
		list = append(list, one.Method+" "+one.URL.Path)
	}
	r.told += len(list)
	return strings.Join(list, ", ")
}

func connected(t *testing.T) *backend { return connectedBy(t, settings{}) }

func connectedBy(t *testing.T, s settings) *backend {
	t.Helper()
	b, err := connect(context.Background(), slog.New(slog.DiscardHandler), nil, s, nil)
	must.Succeed(t, err)
	return b
}

// process returns a process with a pipeline that is built in.
func process(getenv func(string) string, builtIn string) Process {
	return Process{Getenv: getenv, Files: fstest.MapFS{"pipeline.yaml": {Data: []byte(builtIn)}}, Pipeline: "pipeline.yaml",
		Out: io.Discard, Log: slog.New(slog.DiscardHandler)}
}

// message returns a batch of one message.
func message(body string) events.SQSEvent {
	return events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: body,
		EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:q"}}}
}

// The store asks again itself, so the SDK must not. Each request of the store is one request to the
// endpoint, and is counted.
func TestTablesAreAskedOnce(t *testing.T) {
	r := newRecorder(t, http.StatusInternalServerError, `{"__type":"InternalServerError"}`)
	table := "events"
	key := testworld.Key("p", "s")
	if _, err := connected(t).tables().GetItem(context.Background(), &dynamodb.GetItemInput{TableName: &table, Key: key}); err == nil {
		t.Error("no error from an endpoint that fails")
	}
	if n := len(r.seen()); n != 1 {
		t.Fatalf("%d requests for one call", n)
	}
	if h := r.seen()[0].Header; h.Get("Accept-Encoding") != "identity" || h.Get("Content-Encoding") != "" {
		t.Errorf("compression in play: %v", h)
	}
}

func TestQuarantineReachesItsQueue(t *testing.T) {
	r := newRecorder(t, http.StatusOK,
		`{"Successful":[{"Id":"0","MessageId":"m","MD5OfMessageBody":"5d41402abc4b2a76b9719d911017c592"}],"Failed":[]}`)
	q := connected(t).quarantine(r.URL + "/123456789012/quarantine")
	must.Equal(t, len(r.seen()), 0)
	must.Succeed(t, q.Send(context.Background(), []quarantine.Letter{{Body: "hello"}})[0])
	must.Equal(t, len(r.seen()), 1)
	must.Equal(t, r.seen()[0].Header.Get("X-Amz-Target"), "AmazonSQS.SendMessageBatch")
}

// INGOT_ENDPOINT_URL takes the place of every service. On AWS, template.yaml sets it to nothing.
// Then it leaves the endpoint that an emulator gives the functions in AWS_ENDPOINT_URL.
func TestEndpoint(t *testing.T) {
	r := newRecorder(t, http.StatusOK, "")
	injected := r.URL
	for name, c := range map[string]struct{ own, injected string }{"own": {r.URL, "http://127.0.0.1:1"}, "injected": {"", injected}} {
		t.Setenv("AWS_ENDPOINT_URL", c.injected)
		s, err := readSettings(environment(map[string]string{"INGOT_TABLE": "events", "INGOT_ENDPOINT_URL": c.own}), tableVariable)
		must.Succeed(t, err)
		must.Succeed(t, connectedBy(t, s).archive("archive").Put(context.Background(), "expired/a.json", "{}"))
		must.Equal(t, r.asked(), "PUT /archive/expired/a.json", name)
	}
}

// With its own endpoint, the bucket stands in the path, because bucket.host would not resolve.
func TestArchiveReachesItsBucket(t *testing.T) {
	r := newRecorder(t, http.StatusOK, "")
	must.Succeed(t, connected(t).archive("archive").Put(context.Background(), "expired/a.json", "{}"))
	must.Equal(t, r.asked(), "PUT /archive/expired/a.json")
}

// A function asks a bucket only for a message that points to it. The client of S3 is made then, and
// not when the function starts.
func TestPayloadsReachTheirBucket(t *testing.T) {
	r := newRecorder(t, http.StatusOK, `{"type":"x"}`)
	t.Setenv("INGOT_TABLE", "events")
	t.Setenv("INGOT_POINTER_BUCKETS", "large-payloads")
	made := 0
	handle, err := process(os.Getenv, least).Ingest(t.Context(), func(in *handler.Ingest) {
		if in.Payloads == nil {
			t.Error("nothing reads payloads")
		}
	})
	must.Succeed(t, err)
	late := lateObjects{sync.OnceValue(func() *s3.Client {
		made++
		return connected(t).s3()
	})}
	if handler.NewPayloads(late, "large-payloads"); made != 0 {
		t.Error("a client is made before the first message needs it")
	}
	_, err = handle(t.Context(), message(`{"type":"x"}`))
	must.Succeed(t, err)
	must.Equal(t, r.asked(), "POST /, POST /") // for the home Region
	answer, err := handle(t.Context(),
		message(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large-payloads","s3Key":"a/b c"}]`))
	if err != nil || len(answer.BatchItemFailures) != 1 { // Poison, and there is no quarantine
		t.Errorf("%v, %v", answer, err)
	}
	must.Equal(t, r.asked(), "GET /large-payloads/a/b c")
}

const offloading = `ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: "VISIT"}, offload: {over: 1KB}}
`

// A function with a payload bucket makes its client of S3 when the first payload is offloaded.
func TestOffloadedPayloadReachesItsBucket(t *testing.T) {
	r := newRecorder(t, http.StatusOK, `{}`)
	t.Setenv("INGOT_TABLE", "events")
	t.Setenv("INGOT_PAYLOAD_BUCKET", "payloads")
	handle, err := process(os.Getenv, offloading).Ingest(t.Context(), nil)
	must.Succeed(t, err)
	send := func(text string) string {
		answer, err := handle(t.Context(), message(`{"type":"visit","id":"1","at":"2020-03-01T10:00:00Z","text":"`+text+`"}`))
		must.Succeed(t, err)
		must.Equal(t, len(answer.BatchItemFailures), 0)
		return r.asked()
	}
	must.Equal(t, send("short"), "POST /, POST /, POST /") // the first two are for the home Region
	long := send(strings.Repeat("x", 2000))
	if !regexp.MustCompile(`^PUT /payloads/visit/\S*\.json, POST /$`).MatchString(long) {
		t.Errorf("a long payload: %v", long)
	}
}

const least = `ingot: 1
epoch: 1
type: "{type}"
events:
  visit: {id: "{id}", at: "{at}", key: {pk: "VISIT#{id}", sk: "VISIT"}}
`

// The archive asks again itself, within its half of an invocation's time.
func TestArchiveIsAskedOnce(t *testing.T) {
	r := newRecorder(t, http.StatusServiceUnavailable, "")
	if err := connected(t).archive("archive").Put(context.Background(), "expired/a.json", "{}"); err == nil {
		t.Error("no error from an endpoint that fails")
	}
	must.Equal(t, len(r.seen()), 1)
}

func TestNoRequestOutlivesItsTime(t *testing.T) {
	newRecorder(t, http.StatusOK, "")
	given, err := connect(context.Background(), slog.New(slog.DiscardHandler),
		&aws.Config{Region: "eu-central-1", HTTPClient: awshttp.NewBuildableClient()}, settings{}, nil)
	must.Succeed(t, err)
	for name, b := range map[string]*backend{"environment": connected(t), "given": given} {
		client, ok := b.config.HTTPClient.(awsclient.Client).HTTPClient.(*awshttp.BuildableClient)
		if !ok {
			t.Fatalf("%s: a client of type %T", name, b.config.HTTPClient)
		}
		if got := client.GetTimeout(); got != requestTime || got <= 0 {
			t.Errorf("%s: a request may take %v", name, got)
		}
		must.Equal(t, client.GetTransport().TLSHandshakeTimeout, dialTime, name)
		must.Equal(t, client.GetDialer().Timeout, dialTime, name)
	}
}

func TestNoRegion(t *testing.T) {
	newRecorder(t, http.StatusOK, "")
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	_, err := connect(context.Background(), slog.New(slog.DiscardHandler), nil, settings{}, nil)
	must.Fail(t, err, "AWS_REGION")
}

const (
	plain = "ingot: 1\nepoch: 1\ntype: \"{type}\"\nevents:\n  seen:\n    id: \"{id}\"\n    at: \"{at}\"\n    key: {pk: \"A#{id}\", sk: \"B\"}\n"
	keyed = "ingot: 1\nepoch: 1\ntype: \"{type}\"\nevents:\n  seen:\n    id: \"{id | hmac}\"\n    at: \"{at}\"\n    key: {pk: \"A#{id | hmac}\", sk: \"B\"}\n"
)

var labelled = strings.ReplaceAll(keyed, "| hmac}", "| hmac:id}")

// A short secret is reported at the start. It does not keep functions from starting, because keys
// may already be stored under it.
func TestShortSecretIsSaid(t *testing.T) {
	newRecorder(t, http.StatusBadRequest, "")
	for secret, said := range map[string]bool{"fifteen letters": true, "sixteen letters.": false} {
		var log bytes.Buffer
		p := process(environment(with("INGOT_PII_KEY", secret)), keyed)
		p.Log = slog.New(slog.NewTextHandler(&log, nil))
		_, err := p.Ingest(context.Background(), nil)
		must.Succeed(t, err)
		if strings.Contains(log.String(), "INGOT_PII_KEY has less than 16 bytes") != said || strings.Contains(log.String(), secret) {
			t.Errorf("%s: %s", secret, &log)
		}
	}
}

// with returns the environment of functions that have both tables, and one variable more.
func with(name, value string) map[string]string {
	return map[string]string{"INGOT_TABLE": "events", "INGOT_AGGREGATES_TABLE": "totals", name: value}
}

// A file that not everyone may read is common in a layer. (Tests may run as root, who may read all
// files.)
func TestUnreadablePipeline(t *testing.T) {
	for err, says := range map[error]string{fs.ErrPermission: "may not read: let everyone read the file before it is packed (chmod 644)",
		fs.ErrInvalid: "cannot be read: invalid argument"} {
		must.Say(t, unreadable("/opt/p.yaml", err).Error(), "INGOT_PIPELINE names /opt/p.yaml, which ", says)
	}
}

func TestRefusalsToStart(t *testing.T) {
	newRecorder(t, http.StatusBadRequest,
		`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no such table"}`)
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	must.Write(t, file, strings.Replace(plain, "events:", "evnts:", 1))
	folder := filepath.Dir(file)
	tables := with("INGOT_TABLE", "events")
	for name, tt := range map[string]struct {
		env             map[string]string
		pipeline        string
		ingest, streams string // what each function says; empty: ingest starts
	}{
		"no table":            {nil, plain, "INGOT_TABLE", "INGOT_AGGREGATES_TABLE"},
		"hmac without secret": {tables, keyed, "INGOT_PII_KEY", "INGOT_PII_KEY"},
		"no such file": {with("INGOT_PIPELINE", "absent.yaml"), plain,
			"INGOT_PIPELINE names absent.yaml, and there is no such file: the files of a layer are under /opt",
			"leave the variable out"},
		"no such folder": {with("INGOT_PIPELINE", "/opt/absent/p.yaml"), plain,
			"INGOT_PIPELINE names /opt/absent/p.yaml, and there is no such file", "/opt/absent/p.yaml"},
		"a folder": {with("INGOT_PIPELINE", folder), plain,
			"which is a folder: name the file in it, such as " + folder + "/pipeline.yaml", "is a folder"},
		"mistakes in file":  {with("INGOT_PIPELINE", file), plain, "evnts", "wrong.yaml:4:1"},
		"mistakes built in": {tables, "ingot: 2\n", "in this binary", "pipeline.yaml:1:"},
		"no table for the check": {map[string]string{"INGOT_TABLE": "events", "INGOT_PII_KEY": "a secret of sixteen bytes"}, keyed,
			"INGOT_AGGREGATES_TABLE is not set, and pipeline.yaml uses hmac in a key", "INGOT_AGGREGATES_TABLE"},
		"short for a label": {with("INGOT_PII_KEY", "fifteen letters"), labelled, "less than 16 bytes", "less than 16 bytes"},
		"long for a label":  {with("INGOT_PII_KEY", "sixteen letters."), labelled, "", "events table events"},
		"no payload bucket": {tables, offloading,
			"INGOT_PAYLOAD_BUCKET is not set, and pipeline.yaml has event types with offload: set it", "INGOT_PAYLOAD_BUCKET is not set"},
		"a payload bucket": {with("INGOT_PAYLOAD_BUCKET", "payloads"), offloading, "", "events table events"},
		// Ingest finds out with its first batch. Streams must know before it counts.
		"no such table": {tables, plain, "", "events table events"},
		"with a secret": {with("INGOT_PII_KEY", "k"), keyed, "", "events table events"},
	} {
		t.Run(name, func(t *testing.T) {
			p := process(environment(tt.env), tt.pipeline)
			_, err := p.Streams(context.Background(), nil)
			must.Fail(t, err, tt.streams)
			if _, err = p.Ingest(context.Background(), nil); tt.ingest == "" {
				must.Succeed(t, err)
			} else {
				must.Fail(t, err, tt.ingest)
			}
		})
	}
}
