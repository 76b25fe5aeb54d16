package handler

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
)

// failures returns the answer: each id that is not done, once, in event order.
func (b *ingestBatch) failures() []events.SQSBatchItemFailure {
	failures := []events.SQSBatchItemFailure{}
	told := map[string]bool{}
	for i := range b.outcomes {
		o := &b.outcomes[i]
		if o.Failed && !told[o.Message.MessageId] {
			told[o.Message.MessageId] = true
			failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: o.Message.MessageId})
		}
	}
	return failures
}

func (b *ingestBatch) report(ctx context.Context, began time.Time) {
	r := IngestReport{Received: len(b.outcomes), Cost: b.cost}
	for i := range b.outcomes {
		o := &b.outcomes[i]
		r.Verdicts[o.Verdict]++
		for e := range o.each {
			for v, n := range e.Parts {
				r.Parts[v] += n
			}
			if e.Refusal != nil && e.Refusal.Reason == event.TotalRefused {
				r.TotalRefused++
			}
		}
		for n := range o.Events {
			r.Events[o.Events[n].Verdict]++
		}
		if o.Failed {
			r.Failed++
		}
		if sent, err := strconv.ParseInt(o.Message.Attributes["SentTimestamp"], 10, 64); err == nil {
			r.OldestAge = max(r.OldestAge, began.Sub(time.UnixMilli(sent)))
		}
		switch {
		case o.Verdict.Quarantined() && !o.Failed:
			b.logQuarantine(slog.LevelWarn, "quarantined", o)
		case o.Verdict.Quarantined() && b.Quarantine == nil:
			b.logQuarantine(slog.LevelWarn,
				"no quarantine queue is configured; the message goes back, and in the end to the dead-letter queue", o)
		case o.Verdict == event.Retry && r.Verdicts[event.Retry] == 1: // the others of a batch usually have the same cause
			b.logRetry("delivered again; the first of its batch", o)
		}
		if b.OnResult != nil {
			b.OnResult(ctx, *o)
		}
	}
	b.quarantineLog.end(b.sending)
	r.Took = b.env.Now().Sub(began)
	if b.OnBatch != nil {
		b.OnBatch(ctx, r)
	}
}

// logQuarantine writes one line about a message that can never be stored.
func (b *ingestBatch) logQuarantine(level slog.Level, text string, o *Outcome, more ...slog.Attr) {
	b.quarantineLog.line(b.sending, level, text, append(b.attrs(o), more...)...)
}

// logRetry writes one line about a message that goes back. Only this line keeps the detail of the
// message. The detail is about the service and the time that is left, and never about the event.
func (b *ingestBatch) logRetry(text string, o *Outcome) {
	if b.Log != nil {
		b.Log.LogAttrs(b.sending, slog.LevelWarn, text, append(b.attrs(o), slog.String("detail", o.Refusal.Detail))...)
	}
}

// attrs returns the attributes of a message that a log may hold.
func (b *ingestBatch) attrs(o *Outcome) []slog.Attr {
	eventType := o.Refusal.Type
	if o.Item != nil {
		eventType = o.Item.Type
	}
	attrs := append([]slog.Attr{slog.String("messageId", o.Message.MessageId), slog.String("verdict", o.Verdict.String()),
		slog.String("reason", string(o.Refusal.Reason))}, keyAttrs(o.Refusal.Key, b.pipeline.HidesKeys(eventType))...)
	if trace := o.trace(); trace != "" {
		attrs = append(attrs, slog.String("trace", trace))
	}
	return attrs
}

func (o *Outcome) trace() string {
	return quarantine.TraceOf(MessageOf(o.Message), o.Message.Attributes["AWSTraceHeader"])
}
