package pause_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/pause"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = must.Time("2030-01-02T03:04:05Z")

const who = "arn:aws:sts::123456789012:assumed-role/Admin/ann@example.com"

type world struct {
	t      *testing.T
	clock  *testworld.Clock
	server *mappings.Server
	client *lambda.Client
	said   []string
	pauser pause.Pauser
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, clock: testworld.NewClock(start),
		server: mappings.New(mappings.Mapping{UUID: "u-1", Function: "ingest", Source: "arn:queue"},
			mappings.Mapping{UUID: "u-2", Function: "streams", Source: "arn:stream"},
			mappings.Mapping{UUID: "u-3", Function: "ingest", Source: "arn:other"})}
	w.server.Now, w.server.Takes, w.server.Page = w.clock.Now, 20*time.Second, 1
	s := httptest.NewServer(w.server)
	transport := s.Client()
	t.Cleanup(func() { transport.CloseIdleConnections(); s.Close() })
	w.client = lambda.New(lambda.Options{BaseEndpoint: &s.URL, Region: "us-east-1",
		Credentials: credentials.NewStaticCredentialsProvider("k", "s", ""), HTTPClient: transport, RetryMaxAttempts: 1})
	w.pauser = pause.Pauser{Client: w.client, Env: w.clock.Env(func() float64 {
		return 0.5
	}), Tell: func(format string, args ...any) { w.said = append(w.said, fmt.Sprintf(format, args...)) }}
	return w
}

func (w *world) read(function string) string {
	w.t.Helper()
	list, err := pause.Read(w.t.Context(), w.client, function)
	must.Succeed(w.t, err)
	var b strings.Builder
	for _, m := range list {
		fmt.Fprintf(&b, "%s %s", m.UUID, m.State)
		if m.By != "" {
			fmt.Fprintf(&b, " by %s at %s", m.By, m.At.Format(time.RFC3339))
		}
		b.WriteString("; ")
	}
	return b.String()
}

// A pause is over only when the mapping is Disabled, and a minute later. It says who made it. The
// next start takes the mark away.
func TestPauseAndResume(t *testing.T) {
	w := newWorld(t)
	must.Equal(t, w.read("ingest"), "u-1 Enabled; u-3 Enabled; ")
	list, err := w.pauser.Pause(t.Context(), "ingest", who)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	want := fmt.Sprintf("u-1 Disabled by %s at 2030-01-02T03:04:05Z; u-3 Disabled by %s at 2030-01-02T03:04:05Z; ", who, who)
	must.Equal(t, w.read("ingest"), want)
	if took := w.clock.Now().Sub(start); took < 80*time.Second || took > 90*time.Second {
		t.Errorf("it took %s", took)
	}
	if w.server.Enabled("ingest") || !w.server.Enabled("streams") {
		t.Error("the wrong function is paused")
	}
	// A second person is told, and takes nothing over.
	w.said = nil
	if _, err := w.pauser.Pause(t.Context(), "ingest", "bob"); err != nil || w.read("ingest") != want ||
		!strings.Contains(w.said[0], "disabled already, by "+who) {
		t.Error(err, w.read("ingest"), w.said)
	}
	w.said = nil
	if _, err := w.pauser.Resume(t.Context(), "ingest"); err != nil || w.read("ingest") != "u-1 Enabled; u-3 Enabled; " ||
		!strings.Contains(w.said[0], who) {
		t.Error(err, w.read("ingest"), w.said)
	}
	if out, err := w.client.ListTags(t.Context(),
		&lambda.ListTagsInput{Resource: aws.String("arn:aws:lambda:us-east-1:000000000000:event-source-mapping:u-1")}); err != nil ||
		len(out.Tags) != 0 {
		t.Error(out, err)
	}
	_, err = w.pauser.Resume(t.Context(), "ingest")
	must.Succeed(t, err)
}

// A deployment switches the mapping on and leaves the tag. The tag then counts no more.
func TestADeploymentEndsAPause(t *testing.T) {
	w := newWorld(t)
	_, err := w.pauser.Pause(t.Context(), "streams", who)
	must.Succeed(t, err)
	_, err = w.client.UpdateEventSourceMapping(t.Context(), &lambda.UpdateEventSourceMappingInput{UUID: aws.String("u-2"),
		Enabled: aws.Bool(true)})
	must.Succeed(t, err)
	w.clock.Pass(time.Minute)
	must.Equal(t, w.read("streams"), "u-2 Enabled; ")
	// The next pause has its own mark.
	if _, err := w.pauser.Pause(t.Context(), "streams", "bob"); err != nil || !strings.Contains(w.read("streams"), "by bob") {
		t.Error(err, w.read("streams"))
	}
}

// While Lambda makes or changes a mapping, it calls nobody and refuses other changes. The tool
// waits for that. What an update leaves out is kept.
func TestPauseDuringAChange(t *testing.T) {
	w := newWorld(t)
	update := func(in lambda.UpdateEventSourceMappingInput) error {
		in.UUID = aws.String("u-2")
		_, err := w.client.UpdateEventSourceMapping(t.Context(), &in)
		return err
	}
	scaled := lambda.UpdateEventSourceMappingInput{ScalingConfig: &lambdatypes.ScalingConfig{MaximumConcurrency: aws.Int32(7)}}
	off := lambda.UpdateEventSourceMappingInput{Enabled: aws.Bool(false)}
	for state, begin := range map[string]lambda.UpdateEventSourceMappingInput{"Updating": scaled, "Disabling": off} {
		must.Succeed(t, update(begin))
		must.Equal(t, w.read("streams"), "u-2 "+state+"; ")
		must.Equal(t, w.server.Enabled("streams"), state == "Disabling")
		var busy *lambdatypes.ResourceInUseException
		if err := update(lambda.UpdateEventSourceMappingInput{Enabled: aws.Bool(true)}); !errors.As(err, &busy) {
			t.Fatal(err)
		}
		if _, err := w.pauser.Resume(t.Context(), "streams"); err != nil || w.read("streams") != "u-2 Enabled; " {
			t.Error(err, w.read("streams"))
		}
	}
	_, err := w.pauser.Pause(t.Context(), "streams", who)
	must.Succeed(t, err)
	must.Succeed(t, update(scaled)) // by a deployment, while it is off
	must.Equal(t, w.read("streams"), "u-2 Updating; ")
	list, err := w.pauser.Resume(t.Context(), "streams")
	if err != nil || list[0].State != "Enabled" || list[0].Most != 7 {
		t.Error(list, err)
	}
	made := mappings.New(mappings.Mapping{Function: "new", Made: start})
	made.Now, made.Takes = w.clock.Now, time.Hour
	must.Equal(t, made.Enabled("new"), false)
	w.clock.Pass(time.Hour)
	must.Equal(t, made.Enabled("new"), true)
}

func TestPauseWithoutPermissions(t *testing.T) {
	for action, want := range map[string]string{
		"ListEventSourceMappings":  "AccessDeniedException",
		"ListTags":                 "AccessDeniedException",
		"UpdateEventSourceMapping": "AccessDeniedException",
		"GetEventSourceMapping":    "AccessDeniedException",
		"TagResource":              "", // an emergency does not wait for a tag
	} {
		w := newWorld(t)
		w.server.Refuse = func(a string) string {
			if a == action {
				return "AccessDeniedException"
			}
			return ""
		}
		_, err := w.pauser.Pause(t.Context(), "ingest", who)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", action, err)
		}
		if said := strings.Contains(strings.Join(w.said, "\n"), "cannot be marked"); said != (action == "TagResource") {
			t.Errorf("%s: %v", action, w.said)
		}
	}
	w := newWorld(t)
	_, err := w.pauser.Pause(t.Context(), "nothing", who)
	must.Fail(t, err, "no event source mapping")
}

// Any caller's name becomes a tag that Lambda takes.
func TestMarksFit(t *testing.T) {
	w := newWorld(t)
	for _, by := range []string{strings.Repeat("ü", 400), "a\x00b<>\"\n", "", "日本 語"} {
		w.said = nil
		_, err := w.pauser.Pause(t.Context(), "streams", by)
		if err != nil || strings.Contains(strings.Join(w.said, ""), "marked") {
			t.Errorf("%q: %v %v", by, err, w.said)
		}
		_, err = w.pauser.Resume(t.Context(), "streams")
		must.Succeed(t, err)
	}
}
