package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
)

const (
	// burstSpan is how much event time one burst of messages covers at most.
	burstSpan = 6 * time.Hour
	// burstSize is how many events one burst has at most.
	burstSize = 120
	// patience is how far the clock may be ahead of an event whose message waits. It is far less
	// than the shortest retain (a day), so no event expires only because the demo is slow.
	patience = 12 * time.Hour
)

// parcel is a message that the producer is about to send.
type parcel struct {
	envelope.Message
	at   time.Time // event time
	kind kind
	ours bool // whether this is trouble of that kind; if false, it is an original
}

// with returns the same message with another body.
func (p parcel) with(body string) envelope.Message {
	return envelope.Message{Body: body, Attributes: p.Attributes}
}

// attributes returns message attributes in the form that SQS takes.
func attributes(texts map[string]string) map[string]types.MessageAttributeValue {
	if len(texts) == 0 {
		return nil
	}
	out := make(map[string]types.MessageAttributeValue, len(texts))
	for name, text := range texts {
		out[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(text)}
	}
	return out
}

// producer sends the events in bursts, and makes the trouble that producers and queues make. It
// holds one burst and the few messages that wait for the next one, however many events there are.
type producer struct {
	world   *world
	data    *Data
	die     *rand.Rand
	burst   []parcel
	waiting []parcel
	newest  time.Time
}

// add takes the next event. When a burst is complete, add sends it and processes it before it
// returns.
func (p *producer) add(ctx context.Context, m envelope.Message, item *event.Item) error {
	if err := inTime(item, p.newest); err != nil {
		return err
	}
	if now := p.world.Clock.Now(); item.ExpiresAt != 0 && now.Unix() > item.ExpiresAt-int64(patience/time.Second) {
		return fmt.Errorf("its time is %s, and the demo's clock is at %s: it waits %s for each message that comes again, and there are "+
			"too many events in too short a time, so this one would expire; give its type a longer retain, or send fewer events",
			item.At.Format(time.RFC3339), now.Format(time.RFC3339), stack.Visibility)
	}
	if len(p.burst) == burstSize || (len(p.burst) > 0 && item.At.Sub(p.burst[0].at) > burstSpan) {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	if item.At.After(p.newest) {
		p.newest = item.At
	}
	p.burst = append(p.burst, parcel{Message: m, at: item.At})
	return nil
}

// orderError says that an event comes after a much newer one, by whose time it would have expired.
type orderError struct{ at, newest time.Time }

func (e *orderError) Error() string {
	return fmt.Sprintf("its time is %s, and that of an earlier line is %s, when it would have expired; sort the lines by time, and use "+
		"--repeat only if the events are within one week or are retained for longer than they span",
		e.at.Format(time.RFC3339), e.newest.Format(time.RFC3339))
}

// inTime returns an error if an event would have expired before it is sent.
func inTime(item *event.Item, newest time.Time) error {
	if item.ExpiresAt != 0 && newest.Unix() > item.ExpiresAt-int64(24*time.Hour/time.Second)+int64(patience/time.Second) {
		return &orderError{item.At, newest}
	}
	return nil
}

// flush sends the burst with its trouble, at the time of its last event.
func (p *producer) flush(ctx context.Context) error {
	for _, w := range p.waiting {
		if p.newest.Sub(w.at) > patience {
			if err := p.send(ctx, p.takeWaiting()); err != nil {
				return err
			}
			break
		}
	}
	p.world.Clock.Reach(p.newest)
	out := p.takeWaiting()
	for _, original := range p.burst {
		out = append(out, p.disturb(original)...)
	}
	p.burst = p.burst[:0]
	return p.send(ctx, p.together(out))
}

// finish sends the rest of the events.
func (p *producer) finish(ctx context.Context) error {
	for len(p.burst)+len(p.waiting) > 0 {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *producer) takeWaiting() []parcel {
	out := p.waiting
	p.waiting = nil
	return out
}

// disturb makes trouble with one original. It returns the messages to send now, and keeps those
// that wait for the next burst.
func (p *producer) disturb(original parcel) []parcel {
	if p.world.trouble.calm {
		return []parcel{original}
	}
	if p.chance(chanceLate) {
		original.kind, original.ours = sentLate, true
		p.waiting = append(p.waiting, original)
		return nil
	}
	out := []parcel{original}
	if p.chance(chanceTwice) {
		copied := parcel{original.with(p.data.Resend(original.Body, p.die)), original.at, sentTwice, true}
		if p.chance(0.5) {
			out = append(out, copied)
		} else {
			p.waiting = append(p.waiting, copied)
		}
	}
	if p.chance(chanceAltered) {
		// The altered event is sent in the next burst. By then the original is certainly stored, so
		// the altered event is the one that conflicts.
		if body, ok := p.altered(original.Message); ok {
			p.waiting = append(p.waiting, parcel{original.with(body), original.at, altered, true})
		}
	}
	if p.chance(chanceMalformed) {
		if body, ok := p.malformed(original.Body); ok {
			out = append(out, parcel{envelope.Message{Body: body}, original.at, malformed, true})
		}
	}
	return out
}

func (p *producer) chance(c float64) bool { return p.die.Float64() < c }

// altered returns an event with the same key and another payload.
func (p *producer) altered(m envelope.Message) (string, bool) {
	was, err := p.world.plan.Plan(m)
	if err != nil {
		return "", false
	}
	m.Body = p.data.Alter(m.Body, p.die)
	is, err := p.world.plan.Plan(m)
	return m.Body, err == nil && is.Key == was.Key && is.Digest != was.Digest
}

// malformed returns a body that can never be stored.
func (p *producer) malformed(body string) (string, bool) {
	half := strings.ToValidUTF8(body[:len(body)/2], "") // no queue accepts half a rune
	bodies := []string{half, "not JSON at all", "{}", `["an array"]`, body + body}
	other := bodies[p.die.IntN(len(bodies))]
	_, err := p.world.plan.Plan(envelope.Message{Body: other})
	return other, err != nil && other != ""
}

// send puts messages into the queue and lets the world work until all of them are done.
func (p *producer) send(ctx context.Context, parcels []parcel) error {
	w := p.world
	for _, one := range parcels {
		out, err := w.Engine.SQS().SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &w.Queue, MessageBody: aws.String(one.Body),
			MessageAttributes: attributes(one.Attributes)})
		if err != nil {
			return fmt.Errorf("the queue does not take a message of %d bytes: %w", len(one.Body), err)
		}
		w.ledger.sent++
		if one.ours {
			w.ledger.send(aws.ToString(out.MessageId), one.kind)
		}
	}
	return w.work(ctx)
}

// addMember is the default for [Data.Alter]. It adds a member.
func addMember(body string, die *rand.Rand) string {
	for i := len(body) - 1; i > 0; i-- {
		if body[i] == '}' {
			return body[:i] + fmt.Sprintf(`,"altered_by_the_demo":%d}`, die.IntN(1000)) + body[i+1:]
		}
	}
	return body
}
