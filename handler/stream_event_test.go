package handler_test

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// A batch is counted whatever liberties its JSON takes. A record whose place is not known would
// hold up its shard.
func TestBatchesWithLiberties(t *testing.T) {
	note := `"note":{"S":"here"}`
	for name, alter := range map[string][2]string{
		"as Lambda writes it":           {"", ""},
		"a member of a record twice":    {`"SizeBytes":100`, `"SizeBytes":1,"SizeBytes":100`},
		"an attribute twice":            {note, `"note":{"S":"there"},` + note},
		"half a surrogate pair":         {note, `"note":{"S":"\ud800"}`},
		"invalid UTF-8":                 {note, "\"note\":{\"S\":\"\xff\"}"},
		"a member of the event twice":   {`"shardId":`, `"shardId":"shardId-9","shardId":`},
		"Records in lower case":         {`"Records"`, `"records"`},
		"a number with a long exponent": {`"awsRegion"`, `"size":1e1234567890123456789,"awsRegion"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, counting(aggregate.Marks)).started()
			payload := marshal(t, batch(w.inserted(1, "1", 5),
				insert(2, w.image(order("2", 50)).with("note", "S", "here")), w.inserted(3, "3", 7)))
			text := strings.ReplaceAll(string(payload), alter[0], alter[1])
			if alter[0] != "" && text == string(payload) {
				t.Fatal("nothing is altered")
			}
			if answer, err := w.invokeStreams([]byte(text)); err != nil || answer != done {
				t.Fatalf("%s %v", answer, err)
			}
			counted, want := w.total("live").N, int64(3)
			if strings.Contains(name, "exponent") {
				want = 0 // no record can be read, and each is quarantined
			}
			if counted != want || w.counted[0].Quarantined != int(3-want) {
				t.Errorf("%d counted, %d quarantined", counted, w.counted[0].Quarantined)
			}
		})
	}
}

// What is not a batch is refused with the place or the reason.
func TestEventsThatAreNoBatch(t *testing.T) {
	w := newWorld(t, counting(aggregate.Marks)).started()
	for payload, says := range map[string]string{
		`{}`:                                   "it has no Records",
		`{"Records":null,"shardId":"s"}`:       "it has no Records",
		`{"version":"0","id":"1","detail":{}}`: "it has no Records",
		`7`:                                    "another JSON type than a stream batch",
		`{"Records":"x"}`:                      "another JSON type than a stream batch",
		`{"Records":[],"shardId":7}`:           "another JSON type than a stream batch",
		`{"Records":[],"window":"yesterday"}`:  "another JSON type than a stream batch",
	} {
		_, err := w.invokeStreams([]byte(payload))
		must.Fail(t, err, "is not a stream batch", says)
	}
}
