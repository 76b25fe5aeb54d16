package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// mostLetters is how many messages of quarantine are looked at. They are hidden from others
// meanwhile.
const mostLetters = 1000

func (r *Report) queues(ctx context.Context, s Source) {
	for _, q := range []struct{ name, url string }{{"queue", s.Queue}, {"quarantine", s.Quarantine}, {"dead-letter", s.DeadLetters}} {
		if q.url == "" {
			r.unknown(q.name, errors.New("its URL is not known"))
			continue
		}
		one, err := s.queue(ctx, q.name, q.url)
		if err != nil {
			r.unknown(q.name, err)
			continue
		}
		if s.Watch != nil && one.Waiting > 0 {
			points, err := s.points(ctx, "AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName",
				q.url[strings.LastIndexByte(q.url, '/')+1:], types.StatisticMaximum, tenMinutes)
			if err != nil {
				r.unknown("age of "+q.name, err)
			}
			one.Oldest = newest(points)
		}
		r.Queues = append(r.Queues, one)
		switch n := one.Waiting + one.InFlight; {
		case n == 0:
		case q.name == "quarantine":
			r.quarantine(ctx, s, one)
		case q.name == "dead-letter":
			r.unwell("%s in the dead-letter queue", show.Are(n, "message"))
		}
	}
}

// queue asks for the numbers of one queue.
func (s Source) queue(ctx context.Context, name, url string) (Queue, error) {
	const waiting, inFlight = sqstypes.QueueAttributeNameApproximateNumberOfMessages,
		sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	out, err := s.Queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: []sqstypes.QueueAttributeName{waiting, inFlight, sqstypes.QueueAttributeNameQueueArn}})
	if err != nil {
		return Queue{}, err
	}
	q := Queue{Name: name, URL: url, ARN: out.Attributes[string(sqstypes.QueueAttributeNameQueueArn)]}
	q.Waiting, _ = strconv.Atoi(out.Attributes[string(waiting)]) // SQS writes a number
	q.InFlight, _ = strconv.Atoi(out.Attributes[string(inFlight)])
	return q, nil
}

// quarantine counts why messages are in quarantine. A refusal of a bound is not trouble. If the
// pipeline has a bound, it is not known of other messages whether they are trouble, unless they
// were looked at.
func (r *Report) quarantine(ctx context.Context, s Source, q Queue) {
	counts, seen, trouble := map[Reason]int{}, 0, 0
	err := quarantine.Queue{Client: s.Queues, URL: q.URL}.Look(ctx, min(q.Waiting, mostLetters), func(l *quarantine.Letter) {
		why := Reason{}
		if l.Note != nil {
			why = Reason{Verdict: l.Note.Verdict, Reason: l.Note.Reason,
				Usual: l.Note.Reason == string(event.BelowFloor) || l.Note.Reason == string(event.AboveCeiling)}
		}
		if seen++; !why.Usual {
			trouble++
		}
		counts[why]++
	})
	for why, n := range counts {
		why.Count = n
		r.Quarantine = append(r.Quarantine, why)
	}
	slices.SortFunc(r.Quarantine, func(a, b Reason) int {
		return cmp.Or(b.Count-a.Count, cmp.Compare(a.Verdict+a.Reason, b.Verdict+b.Reason))
	})
	unseen := max(q.Waiting+q.InFlight-seen, 0)
	if s.Pipeline == nil || !s.Pipeline.HasBounds() {
		trouble += unseen
	}
	if trouble > 0 {
		r.unwell("%s in quarantine%s", show.Are(trouble, "message"), r.reasons())
	}
	switch {
	case err != nil:
		r.unknown("why messages are in quarantine", err)
	case unseen > 0:
		r.unknown("why messages are in quarantine", fmt.Errorf("%s not looked at: they are in flight, or beyond the first %s",
			show.Are(unseen, "message"), show.Comma(mostLetters)))
	}
}

// reasons lists why messages that are trouble are in quarantine.
func (r *Report) reasons() string {
	var list []string
	for _, why := range r.Quarantine {
		if !why.Usual {
			list = append(list, show.Comma(why.Count)+" "+why.String())
		}
	}
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

// String names a reason for people.
func (r Reason) String() string {
	if r.Verdict == "" {
		return "without a reason"
	}
	return r.Verdict + " (" + r.Reason + ")"
}
