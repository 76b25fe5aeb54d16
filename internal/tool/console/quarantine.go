package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
)

// mostLetters is how many messages of quarantine are looked at. They are hidden from others
// meanwhile.
const mostLetters = 200

// letters holds what the last look found, so that one message can be shown without another look.
type letters struct {
	mu   sync.Mutex
	byID map[string]*quarantine.Letter
}

// look receives the messages of quarantine, and makes all of them visible again.
func (t *Resources) look(ctx context.Context) (list []*quarantine.Letter, more bool, err error) {
	if t.QuarantineURL == "" {
		return nil, false, &mistake{"the quarantine queue of this stack is not known here"}
	}
	seen := map[string]*quarantine.Letter{}
	ready, _, err := t.depth(ctx, t.QuarantineURL)
	if err == nil {
		err = quarantine.Queue{Client: t.SQS, URL: t.QuarantineURL}.Look(ctx, min(ready, mostLetters), func(l *quarantine.Letter) {
			seen[l.ID] = l
		})
	}
	if err != nil && len(seen) == 0 {
		return nil, false, fmt.Errorf("the quarantine queue cannot be read: %w", awserr.Quiet(err))
	}
	for _, l := range seen {
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *quarantine.Letter) int { return cmp.Or(b.Sent.Compare(a.Sent), cmp.Compare(a.ID, b.ID)) })
	t.letters.mu.Lock()
	defer t.letters.mu.Unlock()
	t.letters.byID = seen
	return list, ready > len(seen), nil
}

// Quarantine lists what is in quarantine, in groups and one by one.
func (t *Resources) Quarantine(ctx context.Context) (*Quarantine, error) {
	list, more, err := t.look(ctx)
	if err != nil {
		return nil, err
	}
	out := &Quarantine{Groups: []LetterGroup{}, Letters: []LetterSummary{}, AsOf: t.now().UTC(), More: more}
	counts := map[LetterGroup]int{}
	for _, l := range list {
		s := t.summary(l)
		out.Letters = append(out.Letters, s)
		counts[LetterGroup{Verdict: s.Verdict, Reason: s.Reason, Type: s.Type}]++
	}
	for g, n := range counts {
		g.Count = n
		out.Groups = append(out.Groups, g)
	}
	slices.SortFunc(out.Groups, func(a, b LetterGroup) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Verdict+a.Reason+a.Type, b.Verdict+b.Reason+b.Type))
	})
	return out, nil
}

// summary reads quarantine's note, and what the message says of itself.
func (t *Resources) summary(l *quarantine.Letter) LetterSummary {
	s := LetterSummary{ID: l.ID, Sent: l.Sent, Verdict: "unknown", Reason: "the message has no note of Ingot's"}
	if l.Note != nil {
		s.Verdict, s.Reason = l.Note.Verdict, quarantine.Reason(l.Note.Reason, l.Note.Detail)
	}
	if l.OfStream() {
		return s
	}
	item, err := t.Pipeline().Plan(l.Message())
	var refusal *event.Refusal
	switch {
	case err == nil:
		shown := t.personal().Item(*item)
		s.Type, s.PK, s.SK = shown.Type, shown.Key.PK, shown.Key.SK
	case errors.As(err, &refusal):
		s.Type = refusal.Type
	}
	return s
}

// Letter shows one message of the last look, and compares it with what is stored under its key.
func (t *Resources) Letter(ctx context.Context, id string) (*Letter, error) {
	l, err := t.known(ctx, id)
	if err != nil {
		return nil, err
	}
	st, p, err := t.store()
	if err != nil {
		return nil, err
	}
	today, err := quarantine.Examiner{Pipeline: p, Store: st}.Examine(ctx, l)
	if err != nil {
		return nil, err
	}
	personal := t.personal()
	out := &Letter{LetterSummary: t.summary(l), Report: shortened(quarantine.Show(l, "", today, personal)),
		Sendable: !l.OfStream() && t.QueueURL != ""}
	out.Today = today.Verdict.String() + ". " + consequence(today.Verdict)
	if l.OfStream() {
		out.Today = "This is about a stored item. It is not a message that can be sent again."
	}
	if today.Elsewhere {
		out.Today = "Its payload is in S3, where only the ingest function reads it. So nobody knows before the message is sent."
	}
	return out, nil
}

// shortened leaves of the differences what a page shows.
func shortened(r *quarantine.Shown) *quarantine.Shown {
	r.Differences = r.Differences[:min(len(r.Differences), maxDifferences)]
	for i, d := range r.Differences {
		r.Differences[i].Stored, r.Differences[i].Message = excerpt.Of(d.Stored, maxDiffering), excerpt.Of(d.Message, maxDiffering)
	}
	return r
}

// These constants limit what is shown of two payloads that differ.
const (
	maxDifferences = 100
	maxDiffering   = 500 // bytes of one value
)

// known returns a message of the last look. If it is not there, it looks once more.
func (t *Resources) known(ctx context.Context, id string) (*quarantine.Letter, error) {
	find := func() *quarantine.Letter {
		t.letters.mu.Lock()
		defer t.letters.mu.Unlock()
		return t.letters.byID[id]
	}
	if l := find(); l != nil {
		return l, nil
	}
	if _, _, err := t.look(ctx); err != nil {
		return nil, err
	}
	if l := find(); l != nil {
		return l, nil
	}
	return nil, &mistake{"this message is not in quarantine now; somebody else may be looking at it, or has sent it"}
}

// Resend sends a message again and deletes it from quarantine once the queue has taken it. If the
// process ends between the two, the message is in both queues. Sent once more, the second copy
// becomes a Duplicate or returns to quarantine.
func (t *Resources) Resend(ctx context.Context, id string) (string, error) {
	ctx = context.WithoutCancel(ctx) // a page that is closed must not leave the message in both queues
	if t.QueueURL == "" {
		return "", &mistake{"the queue of this stack is not known here"}
	}
	l, err := t.known(ctx, id)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "ingot-console-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	dir, err := quarantine.MakeDir(folder)
	if err != nil {
		return "", err
	}
	if err := dir.Save(l); err != nil {
		return "", err
	}
	w := &quarantine.Work{Queue: quarantine.Queue{Client: t.SQS, URL: t.QuarantineURL, Env: env.Env{Now: t.now}}, Dir: dir, To: t.QueueURL}
	ready, errs := w.Hold(ctx, []*quarantine.Letter{l})
	if len(ready) == 0 {
		return "", &mistake{"the message was not sent: " + errs[l.ID].Error()}
	}
	if err := w.Resend(ctx, l); err != nil {
		return "", &mistake{"the message stays in quarantine: " + err.Error()}
	}
	t.letters.mu.Lock()
	defer t.letters.mu.Unlock()
	delete(t.letters.byID, id)
	return "Sent as message " + l.Resent.MessageID + ", and deleted from quarantine.", nil
}
