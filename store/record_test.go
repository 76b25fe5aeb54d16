package store_test

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store"
)

// streamRecord returns a record of an insert as Lambda sends it.
const streamRecord = `{"eventID":"1","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1","dynamodb":{` +
	`"ApproximateCreationDateTime":4.075272E9,"Keys":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"}},"NewImage":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"},` +
	`"type":{"S":"order"},"id":{"S":"1"},"at":{"S":"2099-03-01T10:00:00.000000000Z"},"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"epoch":{"N":"1"},` +
	`"data":{"S":"{\"type\":\"order\",\"id\":\"1\",\"merchant\":\"m\",\"cents\":1,\"at\":\"2099-03-01T10:00:00Z\"}"},"open":{"BOOL":true},"tags":{"SS":["a"]}},` +
	`"SequenceNumber":"000000000000000000007","SizeBytes":700,"StreamViewType":"NEW_AND_OLD_IMAGES"},"eventSourceARN":"arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/1"}`

// readRecord reads the JSON of a record.
func readRecord(raw []byte, shard string) (event.Change, error) {
	doc, err := event.ParseDocument(string(raw))
	if err != nil {
		return event.Change{}, err
	}
	return store.ReadRecord(doc.Root(), shard)
}

// A record is read whatever liberties its JSON takes. A record whose place is not known would hold
// up its shard.
func TestRecordsWithLiberties(t *testing.T) {
	for name, alter := range map[string][2]string{
		"as Lambda writes it": {"", ""},
		"names in capitals":   {`"eventName"`, `"EventName"`},
		"no old image":        {`"NewImage":`, `"OldImage":null,"NewImage":`},
		"whole seconds":       {`4.075272E9`, `4075272000`},
		"parts of a second":   {`4.075272E9`, `4075272000.987`},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := readRecord([]byte(strings.Replace(streamRecord, alter[0], alter[1], 1)), "shard")
			must.Succeed(t, err)
			if c.Kind != event.Insert || c.Sequence.String() != "000000000000000000007" || c.Created.Unix() != 4_075_272_000 ||
				c.Lane.ShardID != "shard" ||
				c.Old != nil || c.Expired || c.Key.PK != "ORDER#1" {
				t.Errorf("%+v", c)
			}
			if c.New == nil || c.New.Type != "order" || c.New.Epoch != 1 || !strings.HasPrefix(c.New.Data, `{"type":"order","id":"1"`) ||
				len(c.New.Attributes) == 0 {
				t.Errorf("new image %+v", c.New)
			}
		})
	}
}

// removal returns the record of an order's removal at second 4075272000. identity is the member
// userIdentity, or empty.
func removal(identity, image string) string {
	return `{"eventName":"REMOVE",` + identity +
		`"dynamodb":{"ApproximateCreationDateTime":4075272000,"Keys":{"PK":{"S":"p"},"SK":{"S":"s"}},"OldImage":` + image +
		`,"SequenceNumber":"000000000000000000007"},"eventSourceARN":"arn"}`
}

// expiring returns an order's image with the given expiresAt, in canonical form.
func expiring(at string) string {
	return `{"PK":{"S":"p"},"SK":{"S":"s"},"at":{"S":"2099-02-01T10:00:00.000000000Z"},"data":{"S":"{}"},"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},` +
		`"epoch":{"N":"1"}` + at + `,"n":{"L":[{"N":"1.50"}]},"type":{"S":"order"},"u":{"S":"é"}}`
}

// A removal is an expiry if the item's time was over when it was removed. It does not matter who
// removed it, because the stream of a replica does not tell.
func TestRemovalsThatAreExpiries(t *testing.T) {
	const service, user = `"userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"},`,
		`"userIdentity":{"type":"User","principalId":"someone"},`
	for name, c := range map[string]struct {
		at      string
		expired bool
	}{
		"long past":             {`,"expiresAt":{"N":"4075000000"}`, true},
		"in that second":        {`,"expiresAt":{"N":"4075272000"}`, true},
		"in the next second":    {`,"expiresAt":{"N":"4075272001"}`, false},
		"never":                 {``, false},
		"at a time that is not": {`,"expiresAt":{"S":"4075000000"}`, false},
	} {
		for _, identity := range []string{"", service, user} {
			image := expiring(c.at)
			change, err := readRecord([]byte(removal(identity, image)), "shard")
			if err != nil || change.Expired != c.expired || (change.OldImage == image) != c.expired || !c.expired && change.OldImage != "" {
				t.Errorf("%s, by %q: expired %v, image %q, %v", name, identity, change.Expired, change.OldImage, err)
			}
		}
	}
	modified := strings.Replace(removal(service, expiring(`,"expiresAt":{"N":"1"}`)), `"REMOVE"`, `"MODIFY"`, 1)
	modified = strings.Replace(modified, `"OldImage":`, `"NewImage":`+expiring("")+`,"OldImage":`, 1)
	if change, err := readRecord([]byte(modified), "shard"); err != nil || change.Expired || change.OldImage != "" {
		t.Errorf("a change of an item past its time is taken for its expiry: %+v, %v", change, err)
	}
	if change, err := readRecord([]byte(removal(service, `{"PK":{"S":"p"},"SK":{"S":"s"},"expiresAt":{"N":"1"}}`)), "shard"); err != nil ||
		change.Expired || change.OldImage != "" {
		t.Errorf("the expiry of somebody else's item is taken for ours: %+v, %v", change, err)
	}
}

// An archived image has the same bytes however it was sent, and holds everything that was in it.
func TestRemovedImageIsCanonical(t *testing.T) {
	want := expiring(`,"expiresAt":{"N":"4075272000"}`)
	const first = `{"PK":{"S":"p"},`
	last := "{" + strings.TrimSuffix(strings.TrimPrefix(want, first), "}") + "," + strings.TrimPrefix(strings.TrimSuffix(first, ","), "{") +
		"}"
	for _, image := range []string{want, last, strings.NewReplacer(`,"`, ` , "`, `é`, `\u00e9`).Replace(last)} {
		if c, err := readRecord([]byte(removal("", image)), "shard"); err != nil || c.OldImage != want {
			t.Errorf("image %s, %v", c.OldImage, err)
		}
	}
}

// A value that is not a record differs from an odd record. Of an odd record at least the place is
// known.
func TestRecordsThatAreOdd(t *testing.T) {
	for name, alter := range map[string]struct {
		old, new, says string
		placed         bool
	}{
		"not an object":          {streamRecord, `7`, "sequence number", false},
		"no sequence number":     {`"000000000000000000007"`, `7`, "sequence number", false},
		"keys are not an object": {`"Keys":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"}}`, `"Keys":[]`, "keys: it is a JSON array", true},
		"image is not an object": {`"NewImage":{`, `"NewImage":7,"x":{`, "new image: it is a JSON number", true},
		"value without type":     {`"open":{"BOOL":true}`, `"open":true`, "attribute open: is a JSON boolean", true},
		"value with no type":     {`"open":{"BOOL":true}`, `"open":{}`, "attribute open: has 0 types", true},
		"value of other type": {`"open":{"BOOL":true}`, `"open":{"S":7}`, "attribute open: type S holds a JSON number, not a string",
			true},
		"unknown type":            {`"open":{"BOOL":true}`, `"open":{"Z":7}`, `unknown attribute type "Z"`, true},
		"no stream":               {`"eventSourceARN"`, `"other"`, "no eventSourceARN", true},
		"time that is not a time": {`4.075272E9`, `"soon"`, "ApproximateCreationDateTime", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := readRecord([]byte(strings.Replace(streamRecord, alter.old, alter.new, 1)), "shard")
			if err == nil || !strings.Contains(err.Error(), alter.says) || c.Sequence.IsZero() == alter.placed {
				t.Errorf("sequence %q, error %v, want %q", c.Sequence, err, alter.says)
			}
		})
	}
}

// Decoding is most of what it costs this process to count a change, so its allocations are bounded.
func TestReadRecordAllocations(t *testing.T) {
	raw := []byte(streamRecord)
	got := testing.AllocsPerRun(200, func() {
		_, err := readRecord(raw, "shard")
		must.Succeed(t, err)
	})
	if got > 30 {
		t.Errorf("%v allocations", got)
	}
}

func BenchmarkReadRecord(b *testing.B) {
	raw := []byte(streamRecord)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := readRecord(raw, "shard")
		must.Succeed(b, err)
	}
}
