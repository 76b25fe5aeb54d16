package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	lambda "github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// FuzzRecord gives the reader of stream records any JSON. A change must be whole, must say what
// Lambda's own type says, and must not depend on the layout of the record.
func FuzzRecord(f *testing.F) {
	corpus.Add(f)
	for _, alter := range [][2]string{{"", ""}, {`{"SS":["a"]}`, `{"X":1}`},
		{`"INSERT"`, `"REMOVE","userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"}`}, {"NewImage", "OldImage"},
		{`4.075272E9`, `-1e99`}, {`000000000000000000007`, `x`}} {
		f.Add([]byte(strings.Replace(streamRecord, alter[0], alter[1], 1)), "shard")
	}
	f.Fuzz(func(t *testing.T, raw []byte, shard string) {
		change, err := readRecord(raw, shard)
		if err != nil {
			if err.Error() == "" || !json.Valid(raw) && !change.Sequence.IsZero() {
				t.Fatalf("%q with %+v", err, change)
			}
			return
		}
		checkChange(t, change, shard)
		checkLambdasReading(t, raw, change)
		var wide bytes.Buffer
		if err := json.Indent(&wide, raw, " ", "\t"); err != nil {
			t.Fatalf("a change out of what is not JSON: %v", err)
		}
		if again, err := readRecord(wide.Bytes(), shard); err != nil || !reflect.DeepEqual(again, change) {
			t.Fatalf("white space makes another change of it: %+v, %v\n%+v", again, err, change)
		}
	})
}

func checkChange(t *testing.T, c event.Change, shard string) {
	t.Helper()
	if c.Sequence.IsZero() || c.Lane.StreamARN == "" || c.Lane.ShardID != shard || c.Expired && c.Kind != event.Remove ||
		c.Expired != (c.OldImage != "") {
		t.Fatalf("half a change: %+v", c)
	}
	if mark := lanes.MarkAt(c.Sequence, c.Created); !mark.Created().Equal(c.Created) || !mark.Covers(c.Sequence) {
		t.Fatalf("no mark can hold %s of %s", c.Sequence, c.Created)
	}
	for _, item := range []*event.Item{c.Old, c.New} {
		if item != nil && (item.Key.PK == "" || item.Type == "" || item.Data == "") {
			t.Fatalf("half an item: %+v", item)
		}
	}
	if c.OldImage != "" {
		if _, err := event.ParseDocument(c.OldImage); err != nil {
			t.Fatalf("an archive object of %q: %v", c.OldImage, err)
		}
	}
}

// checkLambdasReading compares with the type of aws-lambda-go, if that can read the record and no
// name is repeated. Of two equal names it takes the last, in any case of letters.
func checkLambdasReading(t *testing.T, raw []byte, c event.Change) {
	t.Helper()
	var r lambda.DynamoDBEventRecord
	if twice(raw) || json.Unmarshal(raw, &r) != nil {
		return
	}
	if r.Change.SequenceNumber != c.Sequence.String() || r.EventName != c.Kind.String() || r.EventSourceArn != c.Lane.StreamARN {
		t.Fatalf("Lambda's type reads %s %s of %s, and we %s %s of %s", r.EventName, r.Change.SequenceNumber, r.EventSourceArn, c.Kind,
			c.Sequence, c.Lane.StreamARN)
	}
	for item, theirs := range map[*event.Item]map[string]lambda.DynamoDBAttributeValue{c.Old: r.Change.OldImage, c.New: r.Change.NewImage} {
		if item != nil && (theirs["PK"].String() != item.Key.PK || theirs["data"].String() != item.Data ||
			theirs["type"].String() != item.Type) {
			t.Fatalf("Lambda's type reads %v, and we %+v", theirs, item)
		}
	}
}

// twice reports whether two members of an object differ at most in the case of their letters.
func twice(raw []byte) bool {
	doc, err := event.ParseDocument(string(raw))
	if err != nil {
		return true
	}
	var look func(n event.Node) error
	errTwice := errors.New("twice")
	look = func(n event.Node) error {
		var names []string
		for name, member := range n.Members() {
			for _, other := range names {
				if strings.EqualFold(name, other) {
					return errTwice
				}
			}
			names = append(names, name)
			if look(member) != nil {
				return errTwice
			}
		}
		for e := range n.Elements() {
			if look(e) != nil {
				return errTwice
			}
		}
		return nil
	}
	return look(doc.Root()) != nil
}
