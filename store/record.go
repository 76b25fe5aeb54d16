package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// record is one stream record in the JSON that Lambda sends.
type record struct {
	EventName    string `json:"eventName"`
	EventARN     string `json:"eventSourceARN"`
	UserIdentity *struct {
		Type        string `json:"type"`
		PrincipalID string `json:"principalId"`
	} `json:"userIdentity"`
	DynamoDB struct {
		Created  float64                    `json:"ApproximateCreationDateTime"`
		Keys     map[string]json.RawMessage `json:"Keys"`
		NewImage map[string]json.RawMessage `json:"NewImage"`
		OldImage map[string]json.RawMessage `json:"OldImage"`
		Sequence string                     `json:"SequenceNumber"`
	} `json:"dynamodb"`
}

// DecodeRecord reads one stream record as Lambda sends it; shard is the window's shardId, or empty. Each
// record is read alone, so that one odd attribute cannot take its batch down.
//
// The change that comes with an error holds what could be read of it; its Sequence is zero if not even the
// order is known.
func DecodeRecord(raw []byte, shard string) (event.Change, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return event.Change{}, fmt.Errorf("stream record: %w", err)
	}
	change := event.Change{Lane: event.Lane{StreamARN: r.EventARN, ShardID: shard}}
	timed := r.DynamoDB.Created >= 1 && r.DynamoDB.Created <= math.MaxUint32
	if timed {
		change.Created = time.Unix(int64(r.DynamoDB.Created), 0).UTC()
	}
	var err error
	if change.Sequence, err = event.ParseSequence(r.DynamoDB.Sequence); err != nil {
		return change, fmt.Errorf("stream record: %w", err)
	}
	key, err := decodeImage(r.DynamoDB.Keys)
	if err != nil {
		return change, fmt.Errorf("stream record %s: keys: %w", change.Sequence, err)
	}
	change.Key = keyOf(key)
	// The stream and the time are part of the mark: without them a record must not be counted.
	if r.EventARN == "" {
		return change, fmt.Errorf("stream record %s: no eventSourceARN", change.Sequence)
	}
	if !timed {
		return change, fmt.Errorf("stream record %s: no usable ApproximateCreationDateTime", change.Sequence)
	}
	if change.Kind, err = kindOf(r.EventName); err != nil {
		return change, fmt.Errorf("stream record %s: %w", change.Sequence, err)
	}
	change.ByTTL = change.Kind == event.Remove && r.UserIdentity != nil && r.UserIdentity.Type == "Service" && r.UserIdentity.PrincipalID == "dynamodb.amazonaws.com"
	if (change.Kind != event.Insert && r.DynamoDB.OldImage == nil) || (change.Kind != event.Remove && r.DynamoDB.NewImage == nil) {
		return change, fmt.Errorf("stream record %s: %s without its images; the stream must be NEW_AND_OLD_IMAGES", change.Sequence, change.Kind)
	}
	if change.Old, err = decodeItem(r.DynamoDB.OldImage); err != nil {
		return change, fmt.Errorf("stream record %s: old image: %w", change.Sequence, err)
	}
	if change.ByTTL {
		if change.OldImage, err = canonicalImage(r.DynamoDB.OldImage); err != nil {
			return change, fmt.Errorf("stream record %s: old image: %w", change.Sequence, err)
		}
	}
	if change.New, err = decodeItem(r.DynamoDB.NewImage); err != nil {
		return change, fmt.Errorf("stream record %s: new image: %w", change.Sequence, err)
	}
	return change, nil
}

// canonicalImage is an image as canonical JSON: the same image, the same bytes, however it was sent.
func canonicalImage(raw map[string]json.RawMessage) (string, error) {
	source, err := json.Marshal(raw)
	if err != nil {
		return "", err
	}
	document, err := event.ParseDocument(string(source))
	if err != nil {
		return "", err
	}
	return string(keys.Canonical(nil, document.Root(), nil)), nil
}

func kindOf(name string) (event.ChangeKind, error) {
	for _, kind := range []event.ChangeKind{event.Insert, event.Modify, event.Remove} {
		if kind.String() == name {
			return kind, nil
		}
	}
	return 0, fmt.Errorf("unknown event name %q", name)
}

func decodeItem(raw map[string]json.RawMessage) (*event.Item, error) {
	if raw == nil {
		return nil, nil
	}
	img, err := decodeImage(raw)
	if err != nil {
		return nil, err
	}
	return decode(img)
}

// decodeImage reads DynamoDB JSON.
func decodeImage(raw map[string]json.RawMessage) (image, error) {
	img := make(image, len(raw))
	for name, value := range raw {
		v, err := decodeValue(value)
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		img[name] = v
	}
	return img, nil
}

// decodeValue reads one typed value. Types that no part of Ingot stores are read as far as telling them apart
// needs: foreign attributes must not make an item unreadable.
func decodeValue(raw []byte) (types.AttributeValue, error) {
	var typed map[string]json.RawMessage
	if err := json.Unmarshal(raw, &typed); err != nil {
		return nil, err
	}
	if len(typed) != 1 {
		return nil, fmt.Errorf("has %d types, not one", len(typed))
	}
	for name, value := range typed {
		return decodeTyped(name, value)
	}
	return nil, nil
}

func decodeTyped(name string, raw json.RawMessage) (types.AttributeValue, error) {
	switch name {
	case "S", "N", "B":
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		switch name {
		case "S":
			return text(s), nil
		case "N":
			return number(s), nil
		}
		b, err := base64.StdEncoding.DecodeString(s)
		return binary(b), err
	case "BOOL":
		var b bool
		err := json.Unmarshal(raw, &b)
		return &types.AttributeValueMemberBOOL{Value: b}, err
	case "M":
		var m map[string]json.RawMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, err
		}
		img, err := decodeImage(m)
		return &types.AttributeValueMemberM{Value: img}, err
	case "NULL", "L", "SS", "NS", "BS":
		return &types.AttributeValueMemberNULL{Value: true}, nil
	}
	return nil, fmt.Errorf("unknown attribute type %q", name)
}
