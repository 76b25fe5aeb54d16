package quarantine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Work sends letters again and deletes them.
type Work struct {
	Queue         // where the letters were pulled from
	Dir    Dir    // where they are saved
	To     string // URL of the queue of events
	Group  string // for a FIFO queue: the group of messages that have none; empty: refuse them
	Events *Events
}

// Errors of single letters. Each leaves the letter as it was.
var (
	ErrDone     = errors.New("it was resent or dropped before")
	ErrOfStream = errors.New(
		"it is from a function on the stream: about a stored item, and not a message that could be sent; when that is mended, drop it")
	ErrNotThere = errors.New("the queue does not return it: somebody else holds it for now, or has deleted it")
	ErrNoGroup  = errors.New("the queue of events is a FIFO queue, and the message has no group: name one with --group")
)

// Hold makes sure that the letters stay hidden while they are worked on. If a letter's time has run
// out, Hold receives it again. It makes other messages that it receives visible again. It returns
// the letters that it holds, and an error for each of the others.
func (w *Work) Hold(ctx context.Context, letters []*Letter) (ready []*Letter, errs map[string]error) {
	errs = map[string]error{}
	away := map[string]*Letter{}
	for _, l := range letters {
		if !l.Open() {
			errs[l.ID] = ErrDone
			continue
		}
		_, err := w.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{QueueUrl: &w.URL, ReceiptHandle: &l.Handle,
			VisibilityTimeout: int32(Hide / time.Second)})
		switch {
		case err == nil:
			ready = append(ready, l)
		case awserr.Denied(err) || !sendersFault(err):
			errs[l.ID] = fmt.Errorf("hiding it in %s: %w", w.URL, awserr.Quiet(err))
		default:
			away[l.ID] = l
		}
	}
	if len(away) > 0 {
		found, err := w.find(ctx, away)
		ready = append(ready, found...)
		for id := range away {
			if errs[id] = err; err == nil {
				errs[id] = ErrNotThere
			}
		}
	}
	return ready, errs
}

// sendersFault reports whether SQS has refused a request because of its content. Here, that means
// an expired receipt handle.
func sendersFault(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorFault() == smithy.FaultClient ||
		errors.As(err, &api) &&
			slices.Contains([]string{"InvalidParameterValue", "MessageNotInflight", "ReceiptHandleIsInvalid",
				"AWS.SimpleQueueService.MessageNotInflight"}, api.ErrorCode())
}

// maxSearch bounds how many messages are received to find some of them.
const maxSearch = 10_000

// find receives messages until it has found all letters in away, and removes these from the map.
// Then it makes all other messages visible again.
func (w *Work) find(ctx context.Context, away map[string]*Letter) (found []*Letter, err error) {
	h := &holder{Queue: w.Queue, env: w.Env.Real(), held: map[string]held{}}
	h.extended = h.env.Now()
	defer h.release(ctx)
	for empty := 0; empty < 2 && len(away) > 0 && len(h.held) < maxSearch; {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		if h.env.Now().Sub(h.extended) >= extend {
			if err := h.extend(ctx); err != nil {
				return found, err
			}
		}
		list, err := h.receive(ctx, 10)
		if err != nil {
			return found, err
		}
		if empty++; len(list) > 0 {
			empty = 0
		}
		for _, m := range list {
			l := away[aws.ToString(m.MessageId)]
			if l == nil {
				continue
			}
			if got := Received(m, w.URL, w.Dead, h.env.Now()); got.MD5 != l.MD5 || got.AttributesMD5 != l.AttributesMD5 {
				return found, fmt.Errorf("%s holds another message with the same id", w.Dir.File(l.ID))
			}
			l.Handle = aws.ToString(m.ReceiptHandle)
			if err := w.Dir.Save(l); err != nil {
				return found, err
			}
			delete(away, l.ID)
			delete(h.held, l.ID) // it stays hidden
			found = append(found, l)
		}
	}
	return found, nil
}

// Resend sends a letter that is held, proves that it was sent, and then deletes it. If it is killed
// in between, the next call continues where this one stopped, as the file says.
func (w *Work) Resend(ctx context.Context, l *Letter) error {
	switch {
	case !l.Open():
		return ErrDone
	case l.OfStream():
		return ErrOfStream
	}
	if l.Resent == nil {
		resent, err := w.send(ctx, l)
		if err != nil {
			return err
		}
		l.Resent = resent
		// A crash before this line means that the message is sent once more, and the second copy is
		// a Duplicate. So does an error here.
		if err := w.Dir.Save(l); err != nil {
			return err
		}
	}
	return w.gone(ctx, l)
}

// Drop deletes a letter that is held. Its file stays.
func (w *Work) Drop(ctx context.Context, l *Letter) error {
	if !l.Open() {
		return ErrDone
	}
	saved, err := w.Dir.Load(l.ID)
	if err == nil && (saved == nil || saved.MD5 != l.MD5) {
		err = fmt.Errorf("%s is not there any more; nothing was deleted", w.Dir.File(l.ID))
	}
	if err != nil {
		return err
	}
	return w.gone(ctx, l)
}

func (w *Work) gone(ctx context.Context, l *Letter) error {
	h := &holder{Queue: w.Queue}
	err := h.delete(ctx, l.Handle)
	if err != nil && sendersFault(err) && !awserr.Denied(err) {
		// The receipt handle has run out meanwhile, and a FIFO queue takes no such handle.
		var found []*Letter
		if found, err = w.find(ctx, map[string]*Letter{l.ID: l}); err == nil && len(found) == 0 {
			err = ErrNotThere
		}
		if err == nil {
			err = h.delete(ctx, l.Handle)
		}
	}
	if err != nil {
		return err
	}
	l.Deleted = w.Env.Real().Now().UTC()
	return w.Dir.Save(l)
}

func (w *Work) send(ctx context.Context, l *Letter) (*Resent, error) {
	body := l.Sends()
	if err := l.CheckBody(body); err != nil {
		return nil, err
	}
	in := &sqs.SendMessageInput{QueueUrl: &w.To, MessageBody: &body}
	for _, name := range slices.Sorted(maps.Keys(l.Attributes)) {
		if in.MessageAttributes == nil {
			in.MessageAttributes = map[string]types.MessageAttributeValue{}
		}
		a := l.Attributes[name]
		in.MessageAttributes[name] = types.MessageAttributeValue{DataType: &a.Type, StringValue: a.Text, BinaryValue: a.Binary}
	}
	group := l.Group
	if group == "" {
		group = w.Group
	}
	fifo := strings.HasSuffix(w.To, ".fifo")
	switch {
	case fifo && group == "":
		return nil, ErrNoGroup
	case fifo:
		in.MessageGroupId, in.MessageDeduplicationId = &group, aws.String(l.once())
	case group != "" && l.Group != "":
		in.MessageGroupId = &group // a standard queue takes it for fairness
	}
	out, err := w.Client.SendMessage(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("sending to %s: %w", w.To, awserr.Quiet(err))
	}
	sum, want := aws.ToString(out.MD5OfMessageBody), md5Of(body)
	if aws.ToString(out.MessageId) == "" || sum != want || aws.ToString(out.MD5OfMessageAttributes) != l.AttributesMD5 {
		return nil,
			fmt.Errorf(
				"sending to %s is not proven: the queue answered with MD5 %s and %s for what has %s and %s; the message stays in its queue",
				w.To, sum, aws.ToString(out.MD5OfMessageAttributes), want, l.AttributesMD5)
	}
	return &Resent{At: w.Env.Real().Now().UTC(), Queue: w.To, MessageID: *out.MessageId, MD5: sum}, nil
}

// once returns the deduplication id of the message to send. The same letter with the same body has
// the same id. So if the tool was killed after a letter was sent and before it was deleted, a FIFO
// queue drops the second copy. It is never the producer's id: within five minutes, SQS would take
// the message for a copy of the producer's, and drop it.
func (l *Letter) once() string {
	sum := sha256.Sum256([]byte("ingot quarantine\x00" + l.ID + "\x00" + l.Sends()))
	return hex.EncodeToString(sum[:])
}
