package demo

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
)

// TestBundledData shows that the data is what its README says.
func TestBundledData(t *testing.T) {
	packed, err := bundled.ReadFile("data/earthquakes.ndjson.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:]); got != "30de21a4950b1c9ff4dfa7d470c8341cbb7697c1c7032f2d8d713b0df61737ec" {
		t.Errorf("SHA-256 of the data is %s", got)
	}
	data, ids, last := Earthquakes(), map[string]bool{}, int64(0)
	for line, err := range data.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		var quake struct {
			ID         string
			Properties struct{ Time int64 }
		}
		if err := json.Unmarshal([]byte(line.Body), &quake); err != nil {
			t.Fatal(err)
		}
		if ids[quake.ID] || quake.Properties.Time < last {
			t.Errorf("line %d: id %s twice, or out of order", line.Number, quake.ID)
		}
		ids[quake.ID], last = true, quake.Properties.Time
	}
	if len(ids) != data.Events || len(ids) != 1707 {
		t.Errorf("%d earthquakes, and %d are announced", len(ids), data.Events)
	}
}

// TestOrderFacts shows that every invented fact is an event of its pipeline, that no two are the
// same, and that each says that it is invented.
func TestOrderFacts(t *testing.T) {
	c := orders(t, 5, aggregate.Marks)
	keys, types, last := map[event.Key]bool{}, map[string]int{}, ""
	for line, err := range c.Data.Lines() {
		if err != nil {
			t.Fatal(err)
		}
		item, err := c.Plan.Plan(envelope.Message{Body: line.Body})
		if err != nil {
			t.Fatalf("line %d: %v", line.Number, err)
		}
		at := item.At.Format("2006-01-02T15:04:05.000000000Z")
		if keys[item.Key] || at < last {
			t.Fatalf("line %d: key %s twice, or out of order", line.Number, item.Key)
		}
		keys[item.Key], last = true, at
		types[item.Type]++
		if !bytes.Contains([]byte(line.Body), []byte(`"synthetic":true`)) {
			t.Fatalf("line %d does not say that it is synthetic", line.Number)
		}
	}
	if types["order.placed"] != orderCount || types["order.paid"] < orderCount || types["order.refunded"] < orderCount/20 {
		t.Errorf("types: %v", types)
	}
}

// TestAlterAndResend shows that an altered event conflicts with the original, and that a resent one
// does not.
func TestAlterAndResend(t *testing.T) {
	for _, c := range []Config{earthquakes(t, aggregate.Marks), orders(t, 5, aggregate.Marks)} {
		r := &run{Config: c}
		r.setDefaults()
		die, altered := source(1, forProducer), 0
		for line := range r.Data.Lines() {
			was, err := c.Plan.Plan(envelope.Message{Body: line.Body})
			if err != nil {
				t.Fatal(err)
			}
			other, err := c.Plan.Plan(envelope.Message{Body: r.Data.Alter(line.Body, die)})
			if err != nil || other.Key != was.Key {
				t.Fatalf("%s, line %d: altered beyond recognition: %v", c.Data.Name, line.Number, err)
			}
			if other.Digest != was.Digest {
				altered++
			}
			again, err := c.Plan.Plan(envelope.Message{Body: r.Data.Resend(line.Body, die)})
			if err != nil || again.Key != was.Key || again.Digest != was.Digest {
				t.Fatalf("%s, line %d: resent as another event: %v", c.Data.Name, line.Number, err)
			}
			if line.Number == 200 {
				break
			}
		}
		if altered < 190 {
			t.Errorf("%s: only %d of 200 were altered", c.Data.Name, altered)
		}
	}
	if got := addMember(`{"a":1} `, source(1, 1)); !json.Valid([]byte(got)) || got == `{"a":1} ` {
		t.Errorf("addMember gives %s", got)
	}
}
