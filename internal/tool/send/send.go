package send

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
)

// These are the limits of SendMessageBatch.
const (
	maxBatch = 10
	maxBytes = 1 << 20
)

// Queue is the client that sends.
type Queue interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// Config says where and how to send. Queue and URL are required.
type Config struct {
	Queue Queue
	URL   string
	// Group is the field whose value is the message group. A FIFO queue needs it. Then one request
	// follows the other, so that the order of the lines is kept. The zero Path means no group.
	Group event.Path
	// Rate is how many events are sent in a second. 0 means as many as can be.
	Rate float64
	// Parallel is how many requests are under way at once. 0 means 16.
	Parallel int
	// Sent is called each time that more lines are sent for certain, with their number counted from
	// the first line. It may be nil.
	Sent func(lines int)
	Env  env.Env // the clock, and waiting
}

// LineError says which line cannot be sent.
type LineError struct {
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// tries is how often one message is sent if SQS answers that it failed to take it.
const tries = 6

// Lines sends lines. It returns how many of them are sent for certain, counted from the first one,
// so that sending can continue after them. Later lines may have been sent too. An error ends it.
func Lines(ctx context.Context, c Config, lines iter.Seq2[ndjson.Line, error]) (int, error) {
	s := newSender(ctx, c)
	err := s.read(lines)
	close(s.batches)
	s.work.Wait()
	if s.failed != nil {
		err = s.failed
	}
	if err == nil || s.ctx.Err() != nil && ctx.Err() != nil {
		err = errors.Join(err, ctx.Err())
	}
	return s.certain, err
}

// sender is one run of Lines.
type sender struct {
	Config
	ctx     context.Context
	stop    context.CancelFunc
	batches chan *batch // to the goroutines that send them
	work    sync.WaitGroup
	workers int
	began   time.Time
	queued  int // messages that requests were begun for

	mu      sync.Mutex
	failed  error
	done    map[int]int // by the index of its first line: how many lines a finished batch has
	certain int
}

func newSender(ctx context.Context, c Config) *sender {
	if c.Parallel == 0 {
		c.Parallel = 16
	}
	if !c.Group.IsZero() {
		c.Parallel = 1
	}
	c.Env = c.Env.Real()
	s := &sender{Config: c, batches: make(chan *batch), began: c.Env.Now(), done: map[int]int{}}
	s.ctx, s.stop = context.WithCancel(ctx)
	return s
}

// batch is what one request sends.
type batch struct {
	first   int // index of its first line
	lines   []ndjson.Line
	entries []types.SendMessageBatchRequestEntry
	bytes   int
}

func (s *sender) read(lines iter.Seq2[ndjson.Line, error]) error {
	b := &batch{}
	for line, err := range lines {
		if s.ctx.Err() != nil {
			return nil
		}
		if err != nil {
			s.begin(b)
			return &LineError{line.Number, err}
		}
		entry, err := s.entry(line)
		if err != nil {
			s.begin(b)
			return &LineError{line.Number, err}
		}
		if len(b.entries) == maxBatch || len(b.entries) > 0 && b.bytes+len(line.Text) > maxBytes {
			s.begin(b)
			b = &batch{first: b.first + len(b.lines)}
		}
		entry.Id = aws.String(strconv.Itoa(len(b.entries)))
		b.lines, b.entries, b.bytes = append(b.lines, line), append(b.entries, entry), b.bytes+len(line.Text)
	}
	s.begin(b)
	return nil
}

func (s *sender) entry(line ndjson.Line) (types.SendMessageBatchRequestEntry, error) {
	entry := types.SendMessageBatchRequestEntry{MessageBody: aws.String(line.Text)}
	if len(line.Text) > maxBytes {
		return entry, fmt.Errorf("the event has %d bytes, and SQS takes at most %d", len(line.Text), maxBytes)
	}
	if s.Group.IsZero() {
		return entry, nil
	}
	doc, err := event.ParseDocument(line.Text)
	if err != nil {
		return entry, err
	}
	n := doc.Root().At(s.Group)
	if k := n.Kind(); k != event.String && k != event.Number || n.Text() == "" || len(n.Text()) > 128 {
		return entry, fmt.Errorf("the group %s must be a text or a number of at most 128 characters, and it is %s", s.Group, n.Kind())
	}
	sum := sha256.Sum256([]byte(line.Text))
	entry.MessageGroupId, entry.MessageDeduplicationId = aws.String(n.Text()), aws.String(hex.EncodeToString(sum[:]))
	return entry, nil
}

// begin sends a batch as soon as there is room, and its time has come.
func (s *sender) begin(b *batch) {
	if len(b.entries) == 0 || s.pace() != nil {
		return
	}
	s.queued += len(b.entries)
	if s.workers < s.Parallel {
		s.workers++
		s.work.Go(s.sendAll)
	}
	select {
	case <-s.ctx.Done():
	case s.batches <- b:
	}
}

// sendAll sends batches until there are no more. A goroutine for each batch would grow a stack for
// the SDK each time.
func (s *sender) sendAll() {
	for b := range s.batches {
		if err := s.send(b); err != nil {
			s.fail(err)
			continue
		}
		s.finish(b)
	}
}

// pace waits until the rate allows another batch.
func (s *sender) pace() error {
	if s.Rate == 0 {
		return nil
	}
	due := s.began.Add(time.Duration(float64(s.queued) / s.Rate * float64(time.Second)))
	if wait := due.Sub(s.Env.Now()); wait > 0 {
		return s.Env.Sleep(s.ctx, wait)
	}
	return nil
}

// send sends a batch until SQS has taken each message of it. A message whose answer was lost may be
// sent twice. It is one event all the same.
func (s *sender) send(b *batch) error {
	entries := b.entries
	for try := 1; ; try++ {
		out, err := s.Queue.SendMessageBatch(s.ctx, &sqs.SendMessageBatchInput{QueueUrl: &s.URL, Entries: entries})
		if err != nil {
			return err
		}
		var left []types.SendMessageBatchRequestEntry
		for _, f := range out.Failed {
			i, _ := strconv.Atoi(aws.ToString(f.Id)) // cannot fail: the id is one of ours
			if f.SenderFault || try == tries {
				return &LineError{b.lines[i].Number, fmt.Errorf("SQS does not take it: %s: %s", aws.ToString(f.Code),
					aws.ToString(f.Message))}
			}
			left = append(left, b.entries[i])
		}
		if len(left) == 0 {
			return nil
		}
		if !s.Group.IsZero() {
			first, _ := strconv.Atoi(*left[0].Id)
			left = b.entries[first:] // later messages of its group must not overtake it
		}
		entries = left
		if err := s.Env.Sleep(s.ctx, time.Duration(try)*100*time.Millisecond); err != nil {
			return err
		}
	}
}

func (s *sender) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	s.stop()
}

// finish counts the lines that are sent without a gap before them.
func (s *sender) finish(b *batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[b.first] = len(b.lines)
	for n := s.done[s.certain]; n > 0; n = s.done[s.certain] {
		delete(s.done, s.certain)
		s.certain += n
	}
	if s.Sent != nil {
		s.Sent(s.certain)
	}
}
