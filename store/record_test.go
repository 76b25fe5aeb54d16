package store_test

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/store"
)

// streamRecord is a record of an insert as Lambda sends it.
const streamRecord = `{"eventID":"1","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1","dynamodb":{` +
	`"ApproximateCreationDateTime":4.075272E9,"Keys":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"}},"NewImage":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"},` +
	`"type":{"S":"order"},"id":{"S":"1"},"at":{"S":"2099-03-01T10:00:00.000000000Z"},"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"epoch":{"N":"1"},` +
	`"data":{"S":"{\"type\":\"order\",\"id\":\"1\",\"merchant\":\"m\",\"cents\":1,\"at\":\"2099-03-01T10:00:00Z\"}"},"open":{"BOOL":true},"tags":{"SS":["a"]}},` +
	`"SequenceNumber":"000000000000000000007","SizeBytes":700,"StreamViewType":"NEW_AND_OLD_IMAGES"},"eventSourceARN":"arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/1"}`

// A record is read whatever liberties its JSON takes: one that could not even be placed would hold up its shard.
func TestRecordsWithLiberties(t *testing.T) {
	for name, alter := range map[string][2]string{
		"as Lambda writes it": {"", ""},
		"a name twice":        {`"SizeBytes":700`, `"SizeBytes":1,"SizeBytes":700`},
		"an attribute twice":  {`"epoch":{"N":"1"}`, `"epoch":{"N":"9"},"epoch":{"N":"1"}`},
		"half a pair":         {`"tags":{"SS":["a"]}`, `"tags":{"S":"\ud800"}`},
		"invalid UTF-8":       {`"tags":{"SS":["a"]}`, "\"tags\":{\"S\":\"\xff\"}"},
		"names in capitals":   {`"eventName"`, `"EventName"`},
		"no old image":        {`"NewImage":`, `"OldImage":null,"NewImage":`},
		"whole seconds":       {`4.075272E9`, `4075272000`},
		"parts of a second":   {`4.075272E9`, `4075272000.987`},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := store.ParseRecord([]byte(strings.Replace(streamRecord, alter[0], alter[1], 1)), "shard")
			if err != nil {
				t.Fatal(err)
			}
			if c.Kind != event.Insert || c.Sequence.String() != "000000000000000000007" || c.Created.Unix() != 4_075_272_000 || c.Lane.ShardID != "shard" ||
				c.Old != nil || c.ByTTL || c.Key.PK != "ORDER#1" {
				t.Errorf("%+v", c)
			}
			if c.New == nil || c.New.Type != "order" || c.New.Epoch != 1 || !strings.HasPrefix(c.New.Data, `{"type":"order","id":"1"`) || len(c.New.Attributes) == 0 {
				t.Errorf("new image %+v", c.New)
			}
		})
	}
}

// What is archived has the same bytes however the image was sent, and everything that was in it.
func TestRemovedImageIsCanonical(t *testing.T) {
	removal := func(identity, image string) string {
		return `{"eventName":"REMOVE","userIdentity":` + identity + `,"dynamodb":{"ApproximateCreationDateTime":4075272000,"Keys":{"PK":{"S":"p"},"SK":{"S":"s"}},"OldImage":` + image +
			`,"SequenceNumber":"000000000000000000007"},"eventSourceARN":"arn"}`
	}
	const want = `{"PK":{"S":"p"},"SK":{"S":"s"},"n":{"L":[{"N":"1.50"}]},"u":{"S":"é"}}`
	for _, identity := range []string{`{"type":"Service","principalId":"dynamodb.amazonaws.com"}`, `{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}`} {
		for _, image := range []string{want, ` { "u" : {"S":"\u00e9"}, "n":{"L":[ {"N":"1.50"} ]},"SK":{"S":"s"},"PK":{"S":"p"} } `} {
			c, err := store.ParseRecord([]byte(removal(identity, image)), "shard")
			if err != nil || !c.ByTTL || c.OldImage != want {
				t.Errorf("by TTL %v, image %s, %v", c.ByTTL, c.OldImage, err)
			}
		}
	}
	c, err := store.ParseRecord([]byte(removal(`{"type":"User","principalId":"someone"}`, want)), "shard")
	if err != nil || c.ByTTL || c.OldImage != "" {
		t.Errorf("removed by a person: by TTL %v, image %q, %v", c.ByTTL, c.OldImage, err)
	}
}

// What is no record is told apart from a record that is odd: of the latter at least the place is known.
func TestRecordsThatAreOdd(t *testing.T) {
	for name, alter := range map[string]struct {
		old, new, says string
		placed         bool
	}{
		"not JSON":             {`{"eventID"`, `{eventID`, "not strict JSON", false},
		"no sequence number":   {`"000000000000000000007"`, `7`, "sequence number", false},
		"keys are no object":   {`"Keys":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"}}`, `"Keys":[]`, "keys: it is a JSON array", true},
		"image is no object":   {`"NewImage":{`, `"NewImage":7,"x":{`, "new image: it is a JSON number", true},
		"value without type":   {`"open":{"BOOL":true}`, `"open":true`, "attribute open: is a JSON boolean", true},
		"value with no type":   {`"open":{"BOOL":true}`, `"open":{}`, "attribute open: has 0 types", true},
		"value of other type":  {`"open":{"BOOL":true}`, `"open":{"S":7}`, "attribute open: type S holds a JSON number, not a string", true},
		"unknown type":         {`"open":{"BOOL":true}`, `"open":{"Z":7}`, `unknown attribute type "Z"`, true},
		"no stream":            {`"eventSourceARN"`, `"other"`, "no eventSourceARN", true},
		"time that is no time": {`4.075272E9`, `"soon"`, "ApproximateCreationDateTime", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := store.ParseRecord([]byte(strings.Replace(streamRecord, alter.old, alter.new, 1)), "shard")
			if err == nil || !strings.Contains(err.Error(), alter.says) || c.Sequence.IsZero() == alter.placed {
				t.Errorf("sequence %q, error %v, want %q", c.Sequence, err, alter.says)
			}
		})
	}
}

// Decoding is most of what counting a change costs this process, so its allocations are bounded.
func TestDecodeRecordAllocations(t *testing.T) {
	raw := []byte(streamRecord)
	got := testing.AllocsPerRun(200, func() {
		if _, err := store.ParseRecord(raw, "shard"); err != nil {
			t.Fatal(err)
		}
	})
	if got > 30 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkDecodeRecord(b *testing.B) {
	raw := []byte(streamRecord)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := store.ParseRecord(raw, "shard"); err != nil {
			b.Fatal(err)
		}
	}
}
