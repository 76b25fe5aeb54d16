package sqs

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

const (
	maxMessageSize       = 1024 * 1024 // body and attributes, in bytes; a whole batch has the same limit
	maxBatch             = 10
	maxMessageAttributes = 10
)

var (
	sendMessage      = api.Op("SQS", "SendMessage", "QueueUrl MessageBody MessageAttributes MessageDeduplicationId MessageGroupId")
	sendMessageBatch = api.Op("SQS", "SendMessageBatch", "QueueUrl Entries")
)

// SendMessage puts one message into a queue.
func (c *Client) SendMessage(ctx context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	return api.Call(ctx, c.qs.core, sendMessage, in, c.qs.send)
}

// SendMessageBatch puts up to ten messages into a queue. Each may fail on its own.
func (c *Client) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput,
	error) {
	return api.Call(ctx, c.qs.core, sendMessageBatch, in, c.qs.sendBatch)
}

func (qs *Queues) send(in *sqs.SendMessageInput) (*sqs.SendMessageOutput, error) {
	m, err := newMessage(in.MessageBody, in.MessageAttributes, in.MessageGroupId, in.MessageDeduplicationId)
	if err != nil {
		return nil, err
	}
	qs.mu.Lock()
	defer qs.unlock()
	q, err := qs.queue(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	sent, err := qs.accept(q, m)
	if err != nil {
		return nil, err
	}
	out := &sqs.SendMessageOutput{MessageId: aws.String(sent.id), MD5OfMessageBody: aws.String(sent.bodyMD5),
		SequenceNumber: q.sequenceText(sent.sequence)}
	if sent.attributesMD5 != "" {
		out.MD5OfMessageAttributes = aws.String(sent.attributesMD5)
	}
	return out, nil
}

func (qs *Queues) sendBatch(in *sqs.SendMessageBatchInput) (*sqs.SendMessageBatchOutput, error) {
	ids := make([]*string, len(in.Entries))
	for i, entry := range in.Entries {
		ids[i] = entry.Id
		if err := api.RefuseNested(qs.core, "SendMessageBatch", entry,
			"Id MessageBody MessageAttributes MessageDeduplicationId MessageGroupId"); err != nil {
			return nil, err
		}
	}
	if err := checkBatch(ids); err != nil {
		return nil, err
	}
	qs.mu.Lock()
	defer qs.unlock()
	q, err := qs.queue(in.QueueUrl)
	if err != nil {
		return nil, err
	}
	all := make([]*message, len(in.Entries))
	errs := make([]error, len(in.Entries))
	total := 0
	for i, entry := range in.Entries {
		if all[i], errs[i] = newMessage(entry.MessageBody, entry.MessageAttributes, entry.MessageGroupId,
			entry.MessageDeduplicationId); errs[i] == nil {
			total += all[i].size
		} else {
			total += len(aws.ToString(entry.MessageBody))
		}
	}
	if total > maxMessageSize {
		return nil, &types.BatchRequestTooLong{ErrorCodeOverride: queryCode("BatchRequestTooLong"),
			Message: aws.String(fmt.Sprintf("Batch requests cannot be longer than %d bytes. You have sent %d bytes.",
				maxMessageSize, total))}
	}
	out := &sqs.SendMessageBatchOutput{}
	for i, m := range all {
		var sent sentMessage
		if errs[i] == nil {
			sent, errs[i] = qs.accept(q, m)
		}
		if errs[i] != nil {
			out.Failed = append(out.Failed, batchFailure(ids[i], errs[i]))
			continue
		}
		entry := types.SendMessageBatchResultEntry{Id: ids[i], MessageId: aws.String(sent.id), MD5OfMessageBody: aws.String(sent.bodyMD5),
			SequenceNumber: q.sequenceText(sent.sequence)}
		if sent.attributesMD5 != "" {
			entry.MD5OfMessageAttributes = aws.String(sent.attributesMD5)
		}
		out.Successful = append(out.Successful, entry)
	}
	return out, nil
}

// accept puts a checked message into the queue, or finds that a FIFO queue already has it.
func (qs *Queues) accept(q *queue, m *message) (sentMessage, error) {
	now := qs.core.Now()
	if q.fifo {
		if m.group == "" {
			return sentMessage{}, api.Error("MissingParameter", "The request must contain the parameter MessageGroupId.")
		}
		if m.dedupID == "" {
			if !q.contentDedup {
				return sentMessage{},
					api.Error("InvalidParameterValue",
						"The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
			}
			digest := sha256.Sum256([]byte(m.body))
			m.dedupID = hex.EncodeToString(digest[:])
		}
		if sent, ok := q.dedup.find(m.dedupID, now); ok {
			return sent, nil
		}
	} else if m.dedupID != "" {
		return sentMessage{},
			api.Error("InvalidParameterValue",
				"The request include parameter that is not valid for this queue type: MessageDeduplicationId")
	}
	m.id, m.sent = qs.newID(), now
	q.add(m)
	sent := sentMessage{id: m.id, bodyMD5: m.bodyMD5, attributesMD5: m.attributesMD5, sequence: m.sequence}
	if q.fifo {
		q.dedup.remember(m.dedupID, now, sent)
	}
	return sent, nil
}

// idLength is the length of the id of a message.
const idLength = 36

// newID returns a random version 4 UUID.
func (qs *Queues) newID() string {
	a, b := qs.rnd.Uint64(), qs.rnd.Uint64()
	a = a&^0xf000 | 0x4000
	b = b&^(3<<62) | 2<<62
	raw := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, a), b)
	text := hex.AppendEncode(make([]byte, 0, 32), raw)
	return string(text[:8]) + "-" + string(text[8:12]) + "-" + string(text[12:16]) + "-" + string(text[16:20]) + "-" + string(text[20:])
}

// sequenceText returns n as 20 digits, which is the form that FIFO queues use. Standard queues have
// no sequence numbers.
func (q *queue) sequenceText(n uint64) *string {
	if !q.fifo {
		return nil
	}
	return aws.String(fmt.Sprintf("188%017d", n*256))
}

// queryCode returns the code that the SDK reports. It is the code of the older query protocol,
// which the service still sends beside the name of the exception.
func queryCode(name string) *string { return aws.String("AWS.SimpleQueueService." + name) }

// checkBatch checks the ids of a batch request.
func checkBatch(ids []*string) error {
	switch {
	case len(ids) == 0:
		return &types.EmptyBatchRequest{ErrorCodeOverride: queryCode("EmptyBatchRequest"),
			Message: aws.String("There should be at least one entry in the request.")}
	case len(ids) > maxBatch:
		return &types.TooManyEntriesInBatchRequest{ErrorCodeOverride: queryCode("TooManyEntriesInBatchRequest"),
			Message: aws.String(fmt.Sprintf("Maximum number of entries per request are %d. You have sent %d.", maxBatch, len(ids)))}
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if aws.ToString(id) == "" || len(*id) > 80 || strings.Trim(*id, nameCharacters) != "" {
			return &types.InvalidBatchEntryId{ErrorCodeOverride: queryCode("InvalidBatchEntryId"),
				Message: aws.String("A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at " +
					"most 80 letters long.")}
		}
		if seen[*id] {
			return &types.BatchEntryIdsNotDistinct{ErrorCodeOverride: queryCode("BatchEntryIdsNotDistinct"),
				Message: aws.String("Id " + *id + " repeated.")}
		}
		seen[*id] = true
	}
	return nil
}

func millis(t time.Time) string { return fmt.Sprint(t.UnixMilli()) }
