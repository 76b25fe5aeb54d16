package quarantine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/differences"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
)

// Examiner finds out which verdict letters would get today.
type Examiner struct {
	Pipeline *pipeline.Pipeline
	Store    *store.Store // nil: the tables are not asked
}

// Today says what a letter would be if it were delivered now.
type Today struct {
	Verdict event.Verdict
	Reason  event.Reason
	Detail  string
	// Item is what would be stored. It is nil if the message cannot be planned.
	Item *event.Item
	// Stored is the event under the same key. It is nil if there is none.
	Stored *event.Item
	// Asked reports whether the tables were asked. If not, the verdict is that of an empty table.
	Asked bool
	// Elsewhere reports whether the payload is in S3. Only the ingest function reads it there, so
	// nobody knows the verdict before the message is sent.
	Elsewhere bool
	// Differences are the members in which the two payloads differ, as their digests see them.
	Differences []Difference
	// Events has the same for each event that is sent again, if the message has several. The other
	// fields are then about the event that decides, and Detail names its place.
	Events []Today
	// Place is where the event stands in the message that is in quarantine, if that has several.
	Place string
}

// All returns the result for each event that is sent again. If the message has one event, this is t
// itself.
func (t *Today) All() []Today {
	if t.Events == nil {
		return []Today{*t}
	}
	return t.Events
}

// Digests returns the digests of the stored events, one for each of All. A person who is shown them
// has seen what a letter would replace: see Letter.Seen. It returns nil if nothing is stored.
func (t *Today) Digests() (list []string) {
	all := t.All()
	for i, one := range all {
		if one.Stored == nil {
			continue
		}
		if list == nil {
			list = make([]string, len(all))
		}
		list[i] = one.Stored.Digest.String()
	}
	return list
}

// Difference is one member of two payloads.
type Difference differences.Member

// Name returns the path as pipeline.yaml writes it.
func (d Difference) Name() string {
	var path event.Path
	for _, step := range d.Path {
		path = path.Member(step)
	}
	return path.String()
}

// Examine finds out which verdict a letter would get today. Of an array of events, it examines the
// events that would be sent. The error is about the tables. A letter that can never be stored is
// not an error.
func (x Examiner) Examine(ctx context.Context, l *Letter) (*Today, error) {
	if l.OfStream() {
		return &Today{Verdict: event.Poison, Reason: event.Reason(l.Note.Reason), Detail: ErrOfStream.Error()}, nil
	}
	item, list, err := x.Pipeline.PlanMessage(l.Message())
	refusal := event.RefusalOf(err)
	if p, is := envelope.PointerOf(l.Message()); is && refusal != nil && refusal.Reason == event.PayloadElsewhere {
		return &Today{Verdict: event.Retry, Reason: refusal.Reason, Elsewhere: true,
			Detail: fmt.Sprintf(
				"the payload is in S3 (bucket %s, key %s), where only the ingest function reads it: it decides when the message is sent",
				p.Bucket, p.Key)}, nil
	}
	if list == nil {
		return x.judge(ctx, item, refusal)
	}
	all := make([]Today, len(list))
	decides := 0
	_, moved := l.kept()
	for i, p := range list {
		one, err := x.judge(ctx, p.Item, p.Refusal)
		if err != nil {
			return nil, err
		}
		one.Place = cmp.Or(moved[p.Place.String()], p.Place.String())
		if all[i] = *one; one.Verdict.Outweighs(all[decides].Verdict) {
			decides = i
		}
	}
	t := all[decides]
	if t.Events = all; t.Detail != "" {
		t.Detail = fmt.Sprintf("event %s of the message: %s", t.Place, t.Detail)
	}
	return &t, nil
}

// judge finds out which verdict one event would get today, from the result of planning it.
func (x Examiner) judge(ctx context.Context, item *event.Item, refusal *event.Refusal) (*Today, error) {
	if refusal != nil {
		return &Today{Verdict: refusal.Verdict, Reason: refusal.Reason, Detail: refusal.Detail}, nil
	}
	t := &Today{Verdict: event.Inserted, Item: item}
	if x.Store == nil {
		return t, nil
	}
	judged, stored, err := repair.Of(x.Store).Judge(ctx, item)
	if err != nil {
		return nil, err
	}
	t.Verdict, t.Stored, t.Asked = judged.Verdict, stored, true
	if judged.Refusal != nil {
		t.Reason, t.Detail = judged.Refusal.Reason, judged.Refusal.Detail
	}
	if stored != nil && stored.Type == item.Type {
		for m := range differences.Members(x.Pipeline, item.Type, stored.Text(), item.Text()) {
			t.Differences = append(t.Differences, Difference(m))
		}
	}
	return t, nil
}
