package rows

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/keys"
)

// ReadRecord reads one record of the events table's stream, in the JSON that Lambda and EventBridge
// Pipes send. It is for functions of your own on that stream: r is an element of Records, parsed by
// [event.ParseDocument], and shard is the event's shardId, or empty. The stream must deliver both
// images (NEW_AND_OLD_IMAGES).
//
// If one record cannot be read, the others of its batch still can. The change that is returned with
// an error holds everything that could be read of the record. Its Sequence is zero if not even the
// order is known.
func ReadRecord(r event.Node, shard string) (event.Change, error) {
	stream := member(r, "dynamodb")
	before, after := member(stream, "OldImage"), member(stream, "NewImage")
	change := event.Change{Lane: event.Lane{StreamARN: stringOf(member(r, "eventSourceARN")), ShardID: shard},
		Stamp: max(stampIn(before), stampIn(after))}
	var err error
	var timed bool
	change.Created, timed = seconds(member(stream, "ApproximateCreationDateTime"))
	if change.Sequence, err = event.ParseSequence(stringOf(member(stream, "SequenceNumber"))); err != nil {
		return change, fmt.Errorf("stream record: %w", err)
	}
	key, err := decodeImage(member(stream, "Keys"))
	if err != nil {
		return change, fmt.Errorf("stream record %s: keys: %w", change.Sequence, err)
	}
	change.Key = KeyOf(key)
	// The stream and the time are part of the mark. A record without them must not be counted.
	if change.Lane.StreamARN == "" {
		return change, fmt.Errorf("stream record %s: no eventSourceARN", change.Sequence)
	}
	if !timed {
		return change, fmt.Errorf("stream record %s: no usable ApproximateCreationDateTime", change.Sequence)
	}
	if change.Kind, err = kindOf(stringOf(member(r, "eventName"))); err != nil {
		return change, fmt.Errorf("stream record %s: %w", change.Sequence, err)
	}
	if change.Kind == event.Modify && tombstone(before) {
		change.Kind = event.Insert // nothing was stored under the key
	}
	err = decodeImages(&change, before, after)
	return change, err
}

func decodeImages(change *event.Change, before, after event.Node) (err error) {
	if (change.Kind != event.Insert && none(before)) || (change.Kind != event.Remove && none(after)) {
		return fmt.Errorf("stream record %s: %s without its images; the stream must be NEW_AND_OLD_IMAGES", change.Sequence, change.Kind)
	}
	if change.Old, err = decodeItem(before); err != nil {
		return fmt.Errorf("stream record %s: old image: %w", change.Sequence, err)
	}
	if change.Expired = change.Kind == event.Remove && pastItsTime(change.Old, change.Created); change.Expired {
		// The same image always gives the same bytes, however it was sent.
		change.OldImage = string(keys.Canonical(nil, asText(before, change.Old), nil))
	}
	if change.New, err = decodeItem(after); err != nil {
		return fmt.Errorf("stream record %s: new image: %w", change.Sequence, err)
	}
	return nil
}

// tombstone reports whether a migration has left an image of a row that is gone.
func tombstone(n event.Node) bool {
	return n.Member(itemform.Migrated).Exists() && !n.Member("type").Exists()
}

// asText returns an image with its payload as text, so that the archive does not depend on how the
// payload was stored.
func asText(n event.Node, item *event.Item) event.Node {
	if item.Packed == nil {
		return n
	}
	data, _ := json.Marshal(map[string]string{"S": item.Data}) // a text
	members := []string{`"data":` + string(data)}
	for name := range n.Members() {
		if name != "data" {
			members = append(members, n.Spelled(name))
		}
	}
	doc, err := event.ParseDocument("{" + strings.Join(members, ",") + "}")
	if err != nil { // cannot happen: its members come from a document
		return n
	}
	return doc.Root()
}

// member returns a record's member. Sources other than Lambda write some names with other capital
// letters.
func member(n event.Node, name string) event.Node {
	if m := n.Member(name); m.Exists() {
		return m
	}
	for other, m := range n.Members() {
		if strings.EqualFold(other, name) {
			return m
		}
	}
	return event.Node{}
}

func none(n event.Node) bool { return n.Kind() == event.Absent || n.Kind() == event.Null }

// stringOf returns the text of a string. It returns an empty text for everything else.
func stringOf(n event.Node) string {
	if n.Kind() != event.String {
		return ""
	}
	return n.Text()
}

// stampIn returns the epoch of an image that has Ingot's type, even if other attributes of the
// image cannot be read. It returns 0 if there is no epoch, or one that no pipeline can have.
func stampIn(n event.Node) int64 {
	if stringOf(n.Member("type").Member("S")) == "" {
		return 0
	}
	epoch, _ := stampOf(Number(stringOf(n.Member("epoch").Member("N"))))
	return epoch
}

// pastItsTime reports whether an item that was removed at that second had expired by then. It uses
// only the stream's own time. By the machine's clock, a change that is delivered late or twice
// could be judged differently.
func pastItsTime(item *event.Item, removed time.Time) bool {
	return item != nil && item.ExpiresAt != 0 && item.ExpiresAt <= removed.Unix()
}

// seconds reads a time in epoch seconds, and drops fractions. It returns false for a time that a
// mark cannot hold.
func seconds(n event.Node) (time.Time, bool) {
	if n.Kind() != event.Number {
		return time.Time{}, false
	}
	f, err := strconv.ParseFloat(n.Raw(), 64)
	if err != nil || f < 1 || f > math.MaxUint32 {
		return time.Time{}, false
	}
	return time.Unix(int64(f), 0).UTC(), true
}

func kindOf(name string) (event.ChangeKind, error) {
	for _, kind := range []event.ChangeKind{event.Insert, event.Modify, event.Remove} {
		if kind.String() == name {
			return kind, nil
		}
	}
	return 0, fmt.Errorf("unknown event name %q", name)
}

func decodeItem(n event.Node) (*event.Item, error) {
	if none(n) {
		return nil, nil
	}
	img, err := decodeImage(n)
	if err != nil {
		return nil, err
	}
	return Decode(img)
}

// decodeImage reads DynamoDB JSON.
func decodeImage(n event.Node) (Image, error) {
	if !none(n) && n.Kind() != event.Object {
		return nil, fmt.Errorf("it is a JSON %s and no item", n.Kind())
	}
	img := make(Image, n.Len())
	for name, value := range n.Members() {
		v, err := decodeValue(value)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		img[name] = v
	}
	return img, nil
}

// decodeValue reads one typed value. Of a type that Ingot does not store, it only checks the name,
// so that attributes of other programs cannot make an item unreadable.
func decodeValue(n event.Node) (types.AttributeValue, error) {
	if n.Kind() != event.Object {
		return nil, fmt.Errorf("is a JSON %s and no typed value", n.Kind())
	}
	if n.Len() != 1 {
		return nil, fmt.Errorf("has %d types, not one", n.Len())
	}
	for name, value := range n.Members() {
		return decodeTyped(name, value)
	}
	return nil, nil
}

func decodeTyped(name string, n event.Node) (types.AttributeValue, error) {
	holds := event.String
	switch name {
	case "BOOL":
		holds = event.Bool
	case "M":
		holds = event.Object
	case "NULL", "L", "SS", "NS", "BS":
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case "S", "N", "B":
	default:
		return nil, fmt.Errorf("unknown attribute type %q", name)
	}
	if n.Kind() != holds {
		return nil, fmt.Errorf("type %s holds a JSON %s, not a %s", name, n.Kind(), holds)
	}
	switch name {
	case "S":
		return Text(n.Text()), nil
	case "N":
		return Number(n.Text()), nil
	case "B":
		b, err := base64.StdEncoding.DecodeString(n.Text())
		return Binary(b), err
	case "BOOL":
		return &types.AttributeValueMemberBOOL{Value: n.Text() == "true"}, nil
	}
	img, err := decodeImage(n)
	return &types.AttributeValueMemberM{Value: img}, err
}
