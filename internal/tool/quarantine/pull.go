package quarantine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Client is what the package needs of SQS. A *sqs.Client is one, and so is the engine's.
type Client interface {
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput,
		error)
	ChangeMessageVisibilityBatch(context.Context, *sqs.ChangeMessageVisibilityBatchInput,
		...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityBatchOutput, error)
	SendMessage(context.Context, *sqs.SendMessageInput, ...func(*sqs.Options)) (*sqs.SendMessageOutput, error)
}

// Queue is a queue to pull from.
type Queue struct {
	Client Client
	URL    string
	Dead   bool // it is the dead-letter queue
	Env    env.Env
}

// These times decide how long a message is hidden. After a process was killed, its messages stay
// hidden for at most Hide.
const (
	Hide   = 2 * time.Minute
	extend = Hide / 3         // how often that is extended
	most   = 12 * time.Hour   // SQS hides a message no longer than that after it was received
	margin = 10 * time.Minute // the last extension ends this much earlier
	// A receive asks all servers of SQS only if it waits. It is not cancelled, because its messages
	// would then stay hidden. So the wait is shorter than the time in which a pull must end.
	longPoll = 2 * time.Second
	pause    = 3 * time.Second // between two receives, after an empty one
	// letGo is how long the end of a pull may take, with the receive that is still in flight.
	letGo = 5 * time.Second
)

// Pulled says what a pull has done.
type Pulled struct {
	Saved   int // new files
	Known   int // messages whose files were there
	Deleted int // messages that were resent or dropped before, and had come back
	// Released is how many messages are visible again at the end, and are not resent or dropped
	// meanwhile. Lost is how many are not proven to be visible; they become visible within Hide.
	Released, Lost int
	// More says that a pull with Once held as many messages as it may, and the queue has others.
	More bool
}

// Pulling says how to pull.
type Pulling struct {
	Most int  // how many messages to hold at a time
	Once bool // end when the queue gives no more
	// OnSaved is called for each message with a new file. It may be nil.
	OnSaved func(*Letter)
	// OnWaiting is called each time the queue gives no more for now. It may be nil.
	OnWaiting func(held int)
}

// Pull saves every message of the queue as a file, and hides the messages from others until ctx
// ends. With Once it ends earlier, when the queue gives no more. At the end it makes all of them
// visible again. That takes up to five seconds.
//
// A message that was resent or dropped, and has come back, is deleted again: its file proves that
// this is safe.
func (q Queue) Pull(ctx context.Context, dir Dir, p Pulling) (Pulled, error) {
	h := &holder{Queue: q, env: q.Env.Real(), held: map[string]held{}}
	var done Pulled
	err := h.pull(ctx, dir, p, &done)
	done.Released = len(h.held)
	if done.More { // it has received one that it does not save
		done.Released--
	}
	gone, lost, why := h.release(ctx)
	for _, id := range gone { // the file tells what was deleted from what is visible
		if l, _ := dir.Load(id); l != nil && !l.Open() {
			done.Released--
		}
	}
	done.Released, done.Lost = done.Released-lost, lost
	if err == nil {
		err = why
	}
	return done, err
}

// held is a message that this process hides.
type held struct {
	handle   string
	received time.Time
}

type holder struct {
	Queue
	env      env.Env
	held     map[string]held // by message id
	extended time.Time       // when all of them were last hidden again
}

func (h *holder) pull(ctx context.Context, dir Dir, p Pulling, done *Pulled) error {
	h.extended = h.env.Now()
	for empty := 0; ctx.Err() == nil; {
		if h.env.Now().Sub(h.extended) >= extend {
			if err := h.extend(ctx); err != nil {
				return err
			}
		}
		room := p.Most - len(h.held)
		if room <= 0 && p.Once {
			list, err := h.receive(ctx, 1)
			done.More = len(list) > 0
			return err
		}
		var list []types.Message
		if room > 0 {
			var err error
			if list, err = h.receive(ctx, min(room, 10)); err != nil {
				return err
			}
		}
		for _, m := range list {
			if err := h.keep(ctx, dir, m, p, done); err != nil {
				return err
			}
		}
		if len(list) > 0 {
			empty = 0
			continue
		}
		if empty++; p.Once {
			if empty > 1 {
				return nil
			}
			continue
		}
		if p.OnWaiting != nil {
			p.OnWaiting(len(h.held))
		}
		_ = h.env.Sleep(ctx, pause) // the loop asks ctx
	}
	return nil
}

// receive takes messages. If ctx ends in the meantime, the request goes on until the service
// answers, because the messages of its answer would otherwise stay hidden.
func (h *holder) receive(ctx context.Context, n int) ([]types.Message, error) {
	asked, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if h.env.Sleep(asked, longPoll+time.Second) == nil {
			cancel() // the service does not answer
		}
	})
	defer stop()
	out, err := h.Client.ReceiveMessage(asked,
		&sqs.ReceiveMessageInput{QueueUrl: &h.URL, MaxNumberOfMessages: int32(n), WaitTimeSeconds: int32(longPoll / time.Second),
			VisibilityTimeout: int32(Hide / time.Second), MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll}})
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil
		}
		return nil, fmt.Errorf("receiving from %s: %w", h.URL, awserr.Quiet(err))
	}
	for _, m := range out.Messages {
		h.held[aws.ToString(m.MessageId)] = held{aws.ToString(m.ReceiptHandle), h.env.Now()}
	}
	return out.Messages, nil
}

// keep saves one message, or deletes it if its file proves that it was resent or dropped.
func (h *holder) keep(ctx context.Context, dir Dir, m types.Message, p Pulling, done *Pulled) error {
	l := Received(m, h.URL, h.Dead, h.env.Now())
	known, err := dir.Load(l.ID)
	switch {
	case err != nil:
		return err
	case known == nil:
		if err := errors.Join(dir.SaveBody(l), dir.Save(l)); err != nil {
			return err
		}
		if done.Saved++; p.OnSaved != nil {
			p.OnSaved(l)
		}
		return nil
	case known.MD5 != l.MD5 || known.AttributesMD5 != l.AttributesMD5 || known.Queue != l.Queue:
		return fmt.Errorf("%s holds another message with the same id; pull into another folder", dir.File(l.ID))
	case known.Resent != nil || !known.Deleted.IsZero():
		if err := h.delete(ctx, l.Handle); err != nil {
			return err
		}
		delete(h.held, l.ID)
		known.Deleted = h.env.Now().UTC()
		done.Deleted++
		return dir.Save(known)
	}
	known.Handle, known.Receives = l.Handle, l.Receives
	done.Known++
	return dir.Save(known)
}

func (h *holder) delete(ctx context.Context, handle string) error {
	_, err := h.Client.DeleteMessage(context.WithoutCancel(ctx), &sqs.DeleteMessageInput{QueueUrl: &h.URL, ReceiptHandle: &handle})
	if err != nil {
		return fmt.Errorf("deleting from %s: %w", h.URL, awserr.Quiet(err))
	}
	return nil
}

// extend hides all messages for another while. It gives up those whose 12 hours are nearly over:
// they become visible, and are received again.
func (h *holder) extend(ctx context.Context) error {
	now := h.env.Now()
	for id, m := range h.held {
		if now.Add(Hide).After(m.received.Add(most - margin)) {
			delete(h.held, id)
		}
	}
	gone, failed, err := h.change(ctx, int32(Hide/time.Second))
	for _, id := range gone {
		delete(h.held, id)
	}
	if err != nil && (awserr.Denied(err) || ctx.Err() == nil && now.Sub(h.extended) > 2*extend) {
		return fmt.Errorf("the messages of %s can no longer be hidden: %w", h.URL, awserr.Quiet(err))
	}
	if failed == 0 {
		h.extended = now
	}
	return nil
}

// release makes all messages visible again. gone lists messages that SQS did not hide any more:
// somebody has deleted them, or the answer to an earlier try was lost. lost counts those that are
// not proven visible, and the error says why.
func (h *holder) release(ctx context.Context) (gone []string, lost int, why error) {
	limit, cancel := h.env.Deadline(context.WithoutCancel(ctx), h.env.Now().Add(letGo-longPoll))
	defer cancel()
	for range 2 {
		list, failed, err := h.change(limit, 0)
		for _, id := range list {
			delete(h.held, id)
		}
		if gone = append(gone, list...); failed == 0 {
			return gone, 0, nil
		}
		why = fmt.Errorf("%d messages are not proven visible again; they become visible within %s: %w", failed, Hide, awserr.Quiet(err))
		if lost = failed; limit.Err() != nil || err != nil && awserr.Denied(err) {
			break
		}
	}
	return gone, lost, why
}

// change sets the visibility of all messages that are held. gone lists messages that cannot be
// hidden any more: they were deleted, or they are visible. failed counts messages whose state is
// not known; err is the last reason.
func (h *holder) change(ctx context.Context, seconds int32) (gone []string, failed int, err error) {
	var batches [][]types.ChangeMessageVisibilityBatchRequestEntry
	ids := make([]string, 0, len(h.held))
	for id, m := range h.held {
		if len(ids)%10 == 0 {
			batches = append(batches, nil)
		}
		last := &batches[len(batches)-1]
		*last = append(*last, types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String(strconv.Itoa(len(ids))),
			ReceiptHandle: aws.String(m.handle), VisibilityTimeout: seconds})
		ids = append(ids, id)
	}
	outs := make([]*sqs.ChangeMessageVisibilityBatchOutput, len(batches))
	errs := make([]error, len(batches))
	h.env.Each(len(batches), 16, func(i int) {
		outs[i], errs[i] = h.Client.ChangeMessageVisibilityBatch(ctx,
			&sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &h.URL, Entries: batches[i]})
	})
	for i, out := range outs {
		if errs[i] != nil {
			failed, err = failed+len(batches[i]), errs[i]
			continue
		}
		for _, f := range out.Failed {
			n, bad := strconv.Atoi(aws.ToString(f.Id))
			switch {
			case bad != nil || n < 0 || n >= len(ids):
			case f.SenderFault:
				gone = append(gone, ids[n])
			default:
				failed, err = failed+1, errors.New(aws.ToString(f.Code)+": "+aws.ToString(f.Message))
			}
		}
	}
	return gone, failed, err
}

// Name is what people call the queue.
func (q Queue) Name() string {
	if q.Dead {
		return "the dead-letter queue"
	}
	return "the quarantine queue"
}
