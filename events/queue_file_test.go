package events_test

import (
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const (
	region  = "eu-west-1"
	account = "123456789012"
)

// queueEvent is what Lambda sends for a queue. Its members are in the order of AWS's own examples
// (Lambda developer guide, "Using Lambda with Amazon SQS").
type queueEvent struct {
	Records []queueRecord `json:"Records"`
}

type queueRecord struct {
	MessageID     string                    `json:"messageId"`
	ReceiptHandle string                    `json:"receiptHandle"`
	Body          string                    `json:"body"`
	Attributes    map[string]string         `json:"attributes"`
	Message       map[string]queueAttribute `json:"messageAttributes"`
	AttributesMD5 string                    `json:"md5OfMessageAttributes,omitempty"`
	BodyMD5       string                    `json:"md5OfBody"`
	Source        string                    `json:"eventSource"`
	ARN           string                    `json:"eventSourceARN"`
	Region        string                    `json:"awsRegion"`
}

type queueAttribute struct {
	String      *string  `json:"stringValue,omitempty"`
	Binary      []byte   `json:"binaryValue,omitempty"`
	StringList  []string `json:"stringListValues"`
	BinaryLists []string `json:"binaryListValues"`
	Type        string   `json:"dataType"`
}

func (s *ingestSample) event() queueEvent {
	e := queueEvent{Records: []queueRecord{}}
	for i := range s.messages {
		e.Records = append(e.Records, s.record(i))
	}
	return e
}

func (s *ingestSample) record(i int) queueRecord {
	m, seed := &s.messages[i], sha256.Sum256(fmt.Append(nil, s.file, i))
	sent := must.Time(m.sent)
	queue := cmp.Or(s.queue, "ingest")
	r := queueRecord{
		MessageID: messageID(s.file, i), ReceiptHandle: "AQEB" + base64.StdEncoding.EncodeToString(seed[:]), Body: m.body,
		Attributes: map[string]string{
			"ApproximateReceiveCount": strconv.Itoa(max(1, m.receives)), "SenderId": "AIDAIENQZJOLO23YVJ4VO",
			"SentTimestamp":                    strconv.FormatInt(sent.UnixMilli()+120, 10),
			"ApproximateFirstReceiveTimestamp": strconv.FormatInt(sent.UnixMilli()+143, 10),
		},
		Message: map[string]queueAttribute{}, AttributesMD5: attributesMD5(m.attributes), BodyMD5: md5Hex([]byte(m.body)),
		Source: "aws:sqs", ARN: "arn:aws:sqs:" + region + ":" + account + ":" + queue, Region: region,
	}
	maps.Copy(r.Attributes, m.system)
	for _, a := range m.attributes {
		r.Message[a.name] = a.encode()
	}
	return r
}

func (a attribute) encode() queueAttribute {
	q := queueAttribute{StringList: []string{}, BinaryLists: []string{}, Type: a.kind}
	if a.kind == "Binary" {
		q.Binary = []byte(a.value)
	} else {
		q.String = &a.value
	}
	return q
}

// messageID returns a UUID made from the file's name and the place of the message, so that the
// files do not change by themselves.
func messageID(file string, i int) string {
	b := sha256.Sum256(fmt.Append(nil, "id", file, i))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

func md5Hex(b []byte) string {
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

// attributesMD5 returns SQS's own checksum of message attributes (SQS developer guide, "Calculating
// the MD5 message digest for message attributes"). It returns an empty text if there are no
// attributes.
func attributesMD5(list []attribute) string {
	if len(list) == 0 {
		return ""
	}
	var text []byte
	part := func(s string) {
		text = binary.BigEndian.AppendUint32(text, uint32(len(s)))
		text = append(text, s...)
	}
	for _, a := range slices.SortedFunc(slices.Values(list), func(a, b attribute) int { return strings.Compare(a.name, b.name) }) {
		part(a.name)
		part(a.kind)
		transport := byte(1)
		if a.kind == "Binary" {
			transport = 2
		}
		text = append(text, transport)
		part(a.value)
	}
	return md5Hex(text)
}
