package demo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestBundledData shows that the data is what its README says.
func TestBundledData(t *testing.T) {
	for name, want := range map[string]string{
		"earthquakes": "30de21a4950b1c9ff4dfa7d470c8341cbb7697c1c7032f2d8d713b0df61737ec",
		"shop":        "0a0f61a0a9d616bf503aa404b11590a869fc31c12a1d8ac1df64b033d0916de5",
		"leaderboard": "446b95a77eab1960496198b19708f2f9b45f59f69c98dbe1b231c3f2f25065bb",
		"feed":        "06e0f671ffebeaceed0622f4b1da304c1e23003ea3d35f87e126244a692a2a9f",
		"ledger":      "54df9df36b7afd61559c62890a9da913f351fd5ac70081d966fc31036a7fb4a8",
		"sensors":     "ba75bbaaee7d5de1b1bdf5819d3881addda9898e2bc0c8d458c78235de4e3cb3",
	} {
		sum := sha256.New()
		for line, err := range linesOf(name)() {
			must.Succeed(t, err)
			fmt.Fprintln(sum, line.Body)
		}
		must.Equal(t, hex.EncodeToString(sum.Sum(nil)), want, name)
	}
	data, ids, last := Bundles()[0].Data, map[string]bool{}, int64(0)
	for line, err := range data.Lines() {
		must.Succeed(t, err)
		var quake struct {
			ID         string
			Properties struct{ Time int64 }
		}
		must.Succeed(t, json.Unmarshal([]byte(line.Body), &quake))
		if ids[quake.ID] || quake.Properties.Time < last {
			t.Errorf("line %d: id %s twice, or out of order", line.Number, quake.ID)
		}
		ids[quake.ID], last = true, quake.Properties.Time
	}
	if len(ids) != data.Events || len(ids) != 1707 {
		t.Errorf("%d earthquakes, and %d are announced", len(ids), data.Events)
	}
}

// TestInvented shows that every invented line is an event of its pipeline, that no two are the
// same, and that each says that it is invented.
func TestInvented(t *testing.T) {
	types := map[string]int{}
	for _, b := range Bundles()[1:] {
		c := example(t, b.Name, seed, aggregate.Marks)
		keys, last := map[event.Key]bool{}, ""
		for line, err := range c.Data.Lines() {
			must.Succeed(t, err)
			item, err := c.Plan.Plan(envelope.Message{Body: line.Body})
			if err != nil {
				t.Fatalf("%s, line %d: %v", b.Name, line.Number, err)
			}
			at := item.At.Format("2006-01-02T15:04:05.000000000Z")
			if keys[item.Key] || at < last {
				t.Fatalf("%s, line %d: key %s twice, or out of order", b.Name, line.Number, item.Key)
			}
			keys[item.Key], last = true, at
			types[item.Type]++
			if !bytes.Contains([]byte(line.Body), []byte(`"synthetic":true`)) {
				t.Fatalf("%s, line %d does not say that it is synthetic", b.Name, line.Number)
			}
		}
	}
	if types["order.placed"] != 800 || types["order.paid"] < 800 || types["order.refunded"] < 40 || types["post.written"] != posts {
		t.Errorf("types: %v", types)
	}
}

// TestAlterAndResend shows that an altered event conflicts with the original, and that a resent one
// does not.
func TestAlterAndResend(t *testing.T) {
	for _, c := range []Config{example(t, "earthquakes", seed, aggregate.Marks), example(t, "shop", 5, aggregate.Marks)} {
		r := &run{Config: c}
		r.setDefaults()
		die, altered := source(1, forProducer), 0
		for line := range r.Data.Lines() {
			was, err := c.Plan.Plan(envelope.Message{Body: line.Body})
			must.Succeed(t, err)
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
