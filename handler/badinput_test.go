package handler_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// Every kind of bad input gets its verdict and goes to quarantine unchanged. It does not harm its
// neighbours.
func TestBadInput(t *testing.T) {
	const at = `"at":"2099-03-01T10:00:00Z"`
	nines := strings.Repeat("9", 39)
	for name, c := range map[string]struct {
		body string
		want string // its verdict, and the reason
	}{
		"empty body":              {"", "Poison: undecodable"},
		"white space":             {" \n", "Poison: undecodable"},
		"not JSON":                {"hello", "Poison: undecodable"},
		"JSON string":             {`"hello"`, "Poison: not-an-object"},
		"JSON number":             {`1`, "Poison: not-an-object"},
		"JSON array":              {`[{"type":"order"}]`, "Poison: not-an-object"},
		"null":                    {`null`, "Poison: not-an-object"},
		"two documents":           {order("1", 1) + order("2", 1), "Poison: undecodable"},
		"cut off":                 {order("1", 1)[:40], "Poison: undecodable"},
		"comment":                 {`/**/` + order("1", 1), "Poison: undecodable"},
		"byte order mark":         {"\ufeff" + order("1", 1), "Poison: undecodable"},
		"duplicate members":       {order("1", 1, `"cents":2`), "Poison: undecodable"},
		"duplicate when decoded":  {order("1", 1, `"\u0063ents":2`), "Poison: undecodable"},
		"lone high surrogate":     {order("1", 1, `"x":"\ud800"`), "Poison: undecodable"},
		"lone low surrogate":      {order("1", 1, `"x":"\udc00"`), "Poison: undecodable"},
		"swapped surrogates":      {order("1", 1, `"\udc00\ud800":1`), "Poison: undecodable"},
		"depth 10,000":            {order("1", 1, `"x":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)), "Poison: undecodable"},
		"depth 10,000 of objects": {strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000), "Poison: undecodable"},
		"number 01":               {order("1", 1, `"x":01`), "Poison: undecodable"},
		"NaN":                     {order("1", 1, `"x":NaN`), "Poison: undecodable"},
		"exponent of 19 digits":   {order("1", 1, `"x":1e1000000000000000000`), "Poison: undecodable"},
		"39 digits, unused":       {order("39u", 1, `"x":`+nines), "Inserted"},
		"1e400, unused":           {order("400u", 1, `"x":1e400`), "Inserted"},
		"39 digits in a sum":      {`{"type":"order","id":"39","cents":` + nines + `,` + at + `}`, "Poison: number-range"},
		"1e50 in a sum":           {`{"type":"order","id":"50","cents":1e50,` + at + `}`, "Poison: number-range"},
		"1e400 in a sum":          {`{"type":"order","id":"400","cents":1e400,` + at + `}`, "Poison: number-range"},
		"1e-10 in a sum":          {`{"type":"order","id":"-10","cents":1e-10,` + at + `}`, "Poison: number-range"},
		"10^18 in a sum":          {`{"type":"order","id":"18","cents":1e18,` + at + `}`, "Inserted"},
		"text in a sum":           {`{"type":"order","id":"t","cents":"12",` + at + `}`, "Poison: wrong-type"},
		"null in a sum":           {`{"type":"order","id":"t","cents":null,` + at + `}`, "Poison: missing-field"},
		"no value for a sum":      {`{"type":"order","id":"t",` + at + `}`, "Poison: missing-field"},
		"no id":                   {`{"type":"order","cents":1,` + at + `}`, "Poison: missing-field"},
		"null id":                 {`{"type":"order","id":null,"cents":1,` + at + `}`, "Poison: missing-field"},
		"empty id":                {`{"type":"order","id":"","cents":1,` + at + `}`, "Poison: missing-field"},
		"object as id":            {`{"type":"order","id":{"a":1},"cents":1,` + at + `}`, "Poison: wrong-type"},
		"array as id":             {`{"type":"order","id":[1],"cents":1,` + at + `}`, "Poison: wrong-type"},
		"id of 3,000 bytes":       {order(strings.Repeat("x", 3000), 1), "Poison: key-too-long"},
		"id that escapes to more": {order(strings.Repeat("#", 700), 1), "Poison: key-too-long"},
		"no type":                 {`{"id":"1","cents":1,` + at + `}`, "Poison: missing-field"},
		"number as type":          {`{"type":1,"id":"1","cents":1,` + at + `}`, "Poison: unknown-type"},
		"unknown type":            {`{"type":"invoice","id":"1","cents":1,` + at + `}`, "Poison: unknown-type"},
		"no time":                 {`{"type":"order","id":"1","cents":1}`, "Poison: missing-field"},
		"no such day":             {`{"type":"order","id":"1","cents":1,"at":"2099-02-30T00:00:00Z"}`, "Poison: bad-time"},
		"time without zone":       {`{"type":"order","id":"1","cents":1,"at":"2099-02-20T00:00:00"}`, "Poison: bad-time"},
		"number as time":          {`{"type":"order","id":"1","cents":1,"at":4077163613}`, "Poison: bad-time"},
		"before 1970":             {`{"type":"order","id":"1","cents":1,"at":"1969-12-31T23:59:59Z"}`, "Poison: bad-time"},
		"year 10000":              {`{"type":"order","id":"1","cents":1,"at":"10000-01-01T00:00:00Z"}`, "Poison: bad-time"},
		"1970":                    {`{"type":"order","id":"70","cents":1,"at":"1970-01-01T00:00:00Z"}`, "Expired: past-expiry"},
		"year 9000":               {`{"type":"order","id":"9000","cents":1,"at":"9000-01-01T00:00:00Z"}`, "Inserted"},
		"revision of text":        {`{"type":"parcel","id":"1","rev":"2",` + at + `}`, "Poison: wrong-type"},
		"no revision":             {`{"type":"parcel","id":"1",` + at + `}`, "Poison: missing-field"},
		"item over 400 KB":        {order("big", 1, `"x":"`+strings.Repeat("x", 400<<10)+`"`), "Poison: item-too-large"},
		"message of 1 MiB":        {order("huge", 1, `"x":"`+strings.Repeat("x", 1<<20-200)+`"`), "Poison: item-too-large"},
		"just below 400 KB":       {order("fits", 1, `"x":"`+strings.Repeat("x", 400<<10-500)+`"`), "Inserted"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fits, refused := c.body != "" && len(c.body) < 1<<20-2000, c.want != "Inserted"
			want := c.want
			if refused && !fits {
				want += ", back" // what quarantine cannot take stays in its queue
			}
			w.gets(messages(order("before", 1), c.body, order("after", 2)), "Inserted; "+want+"; Inserted")
			if !fits || !refused {
				must.Equal(t, len(w.quarantined()), 0)
				return
			}
			letter, _ := w.letter()
			must.Equal(t, *letter.Body, c.body)
		})
	}
}

// Invalid UTF-8 cannot come through Lambda's JSON, but a caller of the library may pass it.
func TestInvalidUTF8(t *testing.T) {
	w := newWorld(t)
	e := messages(order("1", 1), order("2", 1, "\"x\":\"\xff\""), order("3", 1, "\"x\":\"\xed\xa0\x80\""))
	_, err := w.handleQueue(deadline(t), e)
	must.Succeed(t, err)
	must.Equal(t, w.verdicts(), "Inserted Poison Poison")
	for _, o := range w.outcomes[1:] {
		must.Equal(t, o.Refusal.Reason, event.Undecodable)
	}
}

// Ten thousand messages take 6 MB together. They need one answer, little memory, and 400 requests
// of 25 statements each.
func TestTenThousandMessages(t *testing.T) {
	w := newWorld(t)
	bodies := make([]string, 10_000)
	pad := fmt.Sprintf(`"x":%q`, strings.Repeat("p", 500))
	for i := range bodies {
		bodies[i] = order(fmt.Sprint(i), i, pad)
	}
	bodies[77] = "poison"
	e := messages(bodies...)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	answer, err := w.handleQueue(deadline(t), e)
	runtime.ReadMemStats(&after)
	if err != nil || len(answer.BatchItemFailures) != 0 {
		t.Fatalf("%d failures, %v", len(answer.BatchItemFailures), err)
	}
	r := w.batches[0]
	must.Equal(t, tally(r.Verdicts[:]), "Inserted 9999, Poison 1")
	must.Equal(t, r.Cost.Requests, 400)
	must.Equal(t, len(w.items()), 9_999)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 150<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

// If a table does not exist or credentials are refused, everything comes back at once, with a
// reason that a person can act on.
func TestServiceRefuses(t *testing.T) {
	for name, err := range map[string]error{
		"no table":    &types.ResourceNotFoundException{},
		"not allowed": &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not authorized to perform dynamodb:PutItem"},
		"bad token": &smithy.GenericAPIError{Code: "UnrecognizedClientException",
			Message: "The security token included in the request is invalid."},
		"expired token":  &smithy.GenericAPIError{Code: "ExpiredTokenException", Message: "expired"},
		"bad signature":  &smithy.GenericAPIError{Code: "InvalidSignatureException", Message: "signature"},
		"no credentials": &smithy.GenericAPIError{Code: "MissingAuthenticationTokenException", Message: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{2, 60} {
				w := newWorld(t)
				w.refuse("PutItem", err)
				w.faults = append(w.faults, fault{API: "BatchExecuteStatement", Always: true, Before: err})
				var bodies, ids []string
				for i := range n {
					bodies, ids = append(bodies, order(fmt.Sprint(i), i)), append(ids, fmt.Sprint("m", i))
				}
				must.Equal(t, w.receive(messages(append(bodies, "poison")...)), failures(ids...))
				for _, o := range w.outcomes[:n] {
					if o.Verdict != event.Retry || o.Refusal.Reason != event.Refused || !strings.Contains(o.Refusal.Detail, "permissions") {
						t.Fatalf("%v", o.Refusal)
					}
				}
				if calls := w.calls["PutItem"] + w.calls["BatchExecuteStatement"]; calls > n/2+1 {
					t.Errorf("%d requests: asking again cannot help", calls)
				}
				must.Equal(t, len(w.quarantined()), 1)
			}
		})
	}
}

// If the service refuses one item by validation, its neighbours are not sent back.
func TestOneInvalidStatement(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		e := s.spec.Events["order"]
		e.Attributes = map[string]string{"x": "x"}
		s.spec.Events["order"] = e
	})
	bodies := []string{order("1", 1), order("2", 1), order("3", 1, `"x":1e200`), order("4", 1), order("5", 1)}
	w.gets(messages(bodies...), "Inserted; Inserted; Poison: number-range; Inserted; Inserted", "an attribute that no table can hold")
}
