package events_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

const streamARN = "arn:aws:dynamodb:" + region + ":" + account + ":table/events/stream/2099-03-14T08:00:00.000"

// streamEvent is what Lambda sends for a table's stream. The members after Records are present only
// for a mapping with a tumbling window (Lambda developer guide, "Implementing stateful DynamoDB
// stream processing").
type streamEvent struct {
	Records []streamRecord `json:"Records"`
	*windowed
}

type windowed struct {
	ShardID    string            `json:"shardId"`
	ARN        string            `json:"eventSourceARN"`
	Window     window            `json:"window"`
	State      map[string]string `json:"state"`
	Final      bool              `json:"isFinalInvokeForWindow"`
	Terminated bool              `json:"isWindowTerminatedEarly"`
}

type window struct {
	Start string `json:"start"`
	End   string `json:"end"`
}

type streamRecord struct {
	ID       string        `json:"eventID"`
	Name     string        `json:"eventName"`
	Version  string        `json:"eventVersion"`
	Source   string        `json:"eventSource"`
	Region   string        `json:"awsRegion"`
	Identity *userIdentity `json:"userIdentity,omitempty"`
	Dynamo   streamChange  `json:"dynamodb"`
	ARN      string        `json:"eventSourceARN"`
}

type userIdentity struct {
	Type      string `json:"type"`
	Principal string `json:"principalId"`
}

type streamChange struct {
	Created  int64  `json:"ApproximateCreationDateTime"`
	Keys     image  `json:"Keys"`
	New      image  `json:"NewImage,omitempty"`
	Old      image  `json:"OldImage,omitempty"`
	Sequence string `json:"SequenceNumber"`
	Size     int    `json:"SizeBytes"`
	View     string `json:"StreamViewType"`
}

// image is an item in DynamoDB's JSON: each attribute has one typed value.
type image map[string]value

type value map[string]any

func (s *streamSample) event(t *testing.T, p *pipeline.Pipeline) streamEvent {
	created, err := time.Parse(time.RFC3339, s.created)
	if s.created != "" && err != nil {
		t.Fatalf("%s: %v", s.file, err)
	}
	e := streamEvent{Records: []streamRecord{}}
	for i := range s.records {
		e.Records = append(e.Records, s.record(t, p, i, created))
	}
	if s.shard != "" {
		start := created.Truncate(15 * time.Minute)
		if s.final {
			start = start.Add(-15 * time.Minute)
		}
		e.windowed = &windowed{ShardID: shardID(s.shard), ARN: streamARN, State: map[string]string{}, Final: s.final,
			Window: window{start.Format(time.RFC3339), start.Add(15 * time.Minute).Format(time.RFC3339)}}
	}
	return e
}

// payload returns what the function is called with: the event, or only its records if it comes from
// EventBridge Pipes (EventBridge user guide, "Amazon DynamoDB stream as a source").
func (s *streamSample) payload(t *testing.T, p *pipeline.Pipeline) any {
	e := s.event(t, p)
	if s.piped {
		return e.Records
	}
	return e
}

// shardID returns an id in the form of the service: a creation time in milliseconds, and a random
// part.
func shardID(seed string) string {
	sum := sha256.Sum256([]byte("shard " + seed))
	return "shardId-00000004077079200000-" + hex.EncodeToString(sum[:4])
}

func (s *streamSample) record(t *testing.T, p *pipeline.Pipeline, i int, created time.Time) streamRecord {
	r := &s.records[i]
	id := sha256.Sum256(fmt.Append(nil, shardID(s.shard), r.sequence))
	c := streamChange{Created: created.Add(r.later).Unix(), Sequence: r.sequence, View: "NEW_AND_OLD_IMAGES"}
	for _, side := range []struct {
		from *picture
		to   *image
	}{{r.old, &c.Old}, {r.new, &c.New}} {
		if side.from == nil {
			continue
		}
		img := side.from.image(t, p)
		*side.to, c.Keys = img, image{"PK": img["PK"], "SK": img["SK"]}
		c.Size += img.size()
	}
	c.Size += c.Keys.size()
	record := streamRecord{ID: hex.EncodeToString(id[:16]), Name: r.kind.String(), Version: "1.1", Source: "aws:dynamodb", Region: region,
		Dynamo: c, ARN: streamARN}
	if r.ttl {
		record.Identity = &userIdentity{"Service", "dynamodb.amazonaws.com"}
	}
	return record
}

// image returns what the pipeline plans for the picture's payload, in stored form.
func (pic *picture) image(t *testing.T, p *pipeline.Pipeline) image {
	item, err := p.Plan(envelope.Message{Body: pic.body})
	must.Succeed(t, err)
	img := stored(item)
	if pic.alter != nil {
		pic.alter(img)
	}
	return img
}

// stored returns an item in the form that the table has. It is written from the design page and not
// from package store, so that each checks the other.
func stored(item *event.Item) image {
	i := image{
		"PK": {"S": item.Key.PK}, "SK": {"S": item.Key.SK}, "type": {"S": item.Type}, "id": {"S": item.ID},
		"at": {"S": keys.FormatTime(item.At)}, "digest": {"B": base64.StdEncoding.EncodeToString(item.Digest[:])},
		"epoch": {"N": strconv.FormatInt(item.Epoch, 10)}, "data": {"S": item.Data},
	}
	for _, index := range item.Indexes {
		i[index.Name+"PK"], i[index.Name+"SK"] = value{"S": index.Key.PK}, value{"S": index.Key.SK}
	}
	if item.ExpiresAt != 0 {
		i["expiresAt"] = value{"N": strconv.FormatInt(item.ExpiresAt, 10)}
	}
	if item.Revision != nil {
		i["revision"] = value{"N": item.Revision.String()}
	}
	for _, a := range item.Attributes {
		switch a.Kind {
		case event.StringAttribute:
			i[a.Name] = value{"S": a.Text}
		case event.NumberAttribute:
			i[a.Name] = value{"N": a.Text}
		case event.BoolAttribute:
			i[a.Name] = value{"BOOL": a.Text == "true"}
		}
	}
	return i
}

// size returns the size by DynamoDB's rules, for the types that the samples have.
func (i image) size() int {
	n := 0
	for name, v := range i {
		n += len(name)
		for kind, content := range v {
			text, _ := content.(string)
			switch kind {
			case "N":
				n += itemform.NumberSize(text)
			case "B":
				n += base64.StdEncoding.DecodedLen(len(text)) - 1 // 32 bytes have one padding character
			default:
				n += max(1, len(text))
			}
		}
	}
	return n
}
