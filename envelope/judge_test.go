package envelope

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	official "github.com/cloudevents/sdk-go/v2/event"
	officialhttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

// The official SDK judges: what it takes for a valid CloudEvent 1.0 is recognised here with the
// same meaning, and what it refuses is not recognised. Its version 0.3 events are bare payloads
// here, and payloads that are not JSON objects are refused here; the generated events keep away
// from both.

// seed is random unless INGOT_SEED replays a run.
func seed(t *testing.T) *rand.Rand { return rand.New(rand.NewPCG(replay.Seed(t, 0), 0)) }

func oneOf(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

func TestOfficialSDKJudgesStructured(t *testing.T) {
	r := seed(t)
	accepted := 0
	for range 3000 {
		var members []string
		add := func(name string, values ...string) {
			if v := oneOf(r, values...); v != "" {
				members = append(members, name, v)
			}
		}
		text := func(good ...string) []string {
			for range 12 {
				good = append(good, good[0])
			}
			return append(good, "", `""`, `null`, `7`, `true`)
		}
		add("specversion", text(`"1.0"`)...)
		add("id", text(`"42"`, `"a#b"`, `"\u00e9 \\ \""`)...)
		add("source", text(`"/shop"`, `"urn:x:y"`, `"https://example.com/a#b"`)...)
		add("type", text(`"order.placed"`, `"t"`)...)
		add("time", "", "null", `"2099-01-02T03:04:05Z"`, `"2099-01-02T03:04:05.123456789+05:30"`, `"1970-01-01T00:00:00Z"`)
		add("subject", "", "null", `"o1"`)
		add("trace", "", `"t"`, `true`, `12`)
		add("datacontenttype", "", `"application/json"`)
		add("data", `{}`, `{"order_id":"o1","n":[1,{"a":null}]}`)
		r.Shuffle(len(members)/2, func(i, j int) {
			members[2*i], members[2*j] = members[2*j], members[2*i]
			members[2*i+1], members[2*j+1] = members[2*j+1], members[2*i+1]
		})
		body := object(members...)

		var theirs official.Event
		theirErr := json.Unmarshal([]byte(body), &theirs)
		if theirErr == nil {
			theirErr = theirs.Validate()
		}
		ours := openBody(t, body)
		if agree(t, body, ours, Structured, &theirs, theirErr) {
			accepted++
		}
	}
	if accepted < 300 {
		t.Errorf("only %d of the events were valid: the test says little", accepted)
	}
}

func TestOfficialSDKJudgesBinary(t *testing.T) {
	r := seed(t)
	accepted := 0
	for range 2000 {
		attributes := map[string]string{"content-type": "application/json"}
		add := func(name string, values ...string) {
			if v := oneOf(r, values...); v != "-" {
				attributes[name] = v
			}
		}
		// HTTP has no empty header values to speak of, so an attribute is there or is not.
		add("ce-specversion", "1.0", "1.0", "1.0", "-")
		add("ce-id", "42", "a#b", "42", "-")
		add("ce-source", "/shop", "urn:x:y", "/shop", "-")
		add("ce-type", "order.placed", "t", "t", "-")
		add("ce-time", "-", "2099-01-02T03:04:05Z", "2099-01-02T03:04:05.5+05:30")
		add("ce-subject", "-", "o1")
		add("ce-trace", "-", "t")
		body := oneOf(r, `{}`, `{"order_id":"o1"}`)

		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://localhost/",
			io.NopCloser(strings.NewReader(body)))
		must.Succeed(t, err)
		for name, value := range attributes {
			request.Header.Set(name, value)
		}
		theirs, theirErr := officialhttp.NewEventFromHTTPRequest(request)
		if theirErr == nil {
			theirErr = theirs.Validate()
		}
		ours := mustOpen(t, Message{Body: body, Attributes: attributes})
		if agree(t, fmt.Sprint(attributes, body), ours, Binary, theirs, theirErr) {
			accepted++
		}
	}
	if accepted < 200 {
		t.Errorf("only %d of the events were valid: the test says little", accepted)
	}
}

// agree compares what is read here of a message with what the SDK reads. It returns whether that
// is an event of this form.
func agree(t *testing.T, message string, ours Opened, form Form, theirs *official.Event, theirErr error) bool {
	t.Helper()
	if (theirErr == nil) != (ours.Kind.Form == form) {
		t.Fatalf("%s: read as %v, the SDK says %v", message, ours.Kind, theirErr)
	}
	if theirErr != nil {
		return false
	}
	same := ours.Type == theirs.Type() && ours.Source == theirs.Source() && ours.At.Equal(theirs.Time()) &&
		ours.Data.Text() == string(theirs.Data()) && ours.Attributes["subject"] == theirs.Subject()
	if trace, ok := theirs.Extensions()["trace"]; ok {
		same = same && ours.Attributes["trace"] == extensionText(t, trace)
	}
	if !same {
		t.Fatalf("%s: read as %+v with data %s\nthe SDK reads\n%v", message, ours.Event, ours.Data.Text(), theirs)
	}
	return true
}

func extensionText(t *testing.T, extension any) string {
	t.Helper()
	switch v := extension.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int32:
		return strconv.Itoa(int(v))
	}
	t.Fatalf("extension of type %T", extension)
	return ""
}

func TestOfficialSDKRefusesBadParts(t *testing.T) {
	for _, extra := range []string{`"time":"yesterday"`, `"time":7`, `"data_base64":"{}"`} {
		body := `{"specversion":"1.0","id":"1","source":"/s","type":"t",` + extra + `}`
		var theirs official.Event
		if err := json.Unmarshal([]byte(body), &theirs); err == nil {
			t.Errorf("%s: the SDK takes it", body)
		}
		var refusal *event.Refusal
		if _, err := Open(Message{Body: body}); !errors.As(err, &refusal) {
			t.Errorf("%s: error %v", body, err)
		}
	}
}
