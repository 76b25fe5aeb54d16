package sim

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/esm"
)

// message is what a producer sent.
type message struct {
	body      string
	fact      fact
	malformed bool
	group     string
	crowded   bool // it has ten attributes
}

var (
	merchants = []string{"m1", "m2", "m#3"}
	customers = []string{"", "c1", "c#2"} // an event without one is in no index of customers
)

// produce sends one burst: new events, and among them copies, conflicts, poison and events too late.
func (w *World) produce(phase int) {
	burst := w.script(phase)
	if burst == nil {
		burst = w.burst(phase)
	}
	for _, m := range burst {
		if w.plan.Still {
			w.sleep(5 * time.Minute)
		}
		w.send(m)
		w.sleep(time.Duration(w.rng.IntN(4000)) * time.Millisecond)
	}
}

// burst makes up the messages of a burst.
func (w *World) burst(phase int) (burst []*message) {
	id := func() string { return fmt.Sprintf("%d-%d", phase, w.rng.IntN(w.plan.Messages)) }
	for i := range w.plan.Messages {
		f := fact{Type: "order", ID: fmt.Sprintf("%d-%d", phase, i), Merchant: merchants[w.rng.IntN(len(merchants))], Cents: w.rng.Int64N(2000) - 200,
			At: w.now.Add(-time.Duration(w.rng.IntN(20*3600)) * time.Second).Format(time.RFC3339)}
		f.Customer, f.Gift = customers[w.rng.IntN(len(customers))], w.chance(0.3)
		if w.chance(w.plan.Parcels) {
			f.Type, f.ID, f.Rev = "parcel", fmt.Sprintf("%d-%d", phase, w.rng.IntN(6)), w.rng.Int64N(8)
		}
		if w.chance(w.plan.Late) {
			f.At = w.now.Add(-retain + time.Duration(w.rng.IntN(3*3600)-3600)*time.Second).Format(time.RFC3339)
		}
		m := &message{body: f.spell(w.rng), fact: f}
		if w.chance(w.plan.Poison) {
			m = &message{body: fmt.Sprintf(`{"type":"order","id":%q,`, id()), malformed: true}
		}
		burst = append(burst, m)
		m.crowded = w.chance(w.plan.Crowded)
		if w.chance(w.plan.Conflicts) && !m.malformed {
			if w.chance(0.5) {
				f.Cents++
			} else {
				f.Gift = !f.Gift // all that its index keys hold stays
			}
			burst = append(burst, &message{body: f.spell(w.rng), fact: f, crowded: w.chance(w.plan.Crowded)})
		}
	}
	burst = append(burst, w.copies(phase)...)
	for n := len(burst); n > 0; n-- {
		if w.chance(w.plan.Duplicates) {
			again := *burst[w.rng.IntN(len(burst))]
			if !again.malformed && w.chance(0.5) {
				again.body = again.fact.spell(w.rng)
			}
			at := w.rng.IntN(len(burst) + 1)
			burst = append(burst[:at], append([]*message{&again}, burst[at:]...)...)
		}
	}
	return burst
}

// copies are messages of earlier bursts that a producer sends again, days after: some by then are past their
// time.
func (w *World) copies(phase int) (list []*message) {
	if phase == 1 || w.plan.Copies == 0 {
		return nil
	}
	from := w.log
	if closing := w.closing(); len(closing) > 0 && w.chance(0.3) {
		from = closing
	}
	for range w.rng.IntN(w.plan.Copies + 1) {
		again := *from[w.rng.IntN(len(from))]
		if !again.malformed && w.chance(0.5) {
			again.body = again.fact.spell(w.rng)
		}
		list = append(list, &again)
	}
	return list
}

// closing are the messages whose events may not be stored any more, and are not yet swept.
func (w *World) closing() (list []*message) {
	for _, m := range w.log {
		if m.malformed {
			continue
		}
		if left := m.fact.at().Add(retain).Sub(w.now); left > 0 && left <= early {
			list = append(list, m)
		}
	}
	return list
}

func (w *World) send(m *message) {
	in := &sqs.SendMessageInput{QueueUrl: &w.queueURL, MessageBody: &m.body, MessageAttributes: m.attributes()}
	w.log = append(w.log, m)
	w.tracef("sends %s", m.body)
	if first := w.firstSent[m.fact]; first != nil && !m.malformed && !w.now.Before(m.fact.at().Add(retain)) {
		w.fault(afterLife, m.body)
	}
	if w.plan.FIFO {
		m.group = "poison"
		if !m.malformed {
			m.group = m.fact.key()[len(m.fact.key())-1:]
		}
		w.stats.Sent++
		in.MessageGroupId, in.MessageDeduplicationId = &m.group, aws.String(fmt.Sprint(w.stats.Sent))
	} else {
		w.stats.Sent++
	}
	if w.sent[m.body] == nil {
		w.sent[m.body] = m
		if w.firstSent[m.fact] == nil {
			w.firstSent[m.fact] = m
			w.groups[m.group] = append(w.groups[m.group], m)
		}
	}
	if _, err := w.engine.SQS().SendMessage(context.Background(), in); err != nil {
		w.fail(Broken, "send: %v", err)
	}
}

// pollQueue is one queue mapping at work.
func (w *World) pollQueue(q *esm.Queue) {
	for {
		polled, err := q.Poll(context.Background())
		if err != nil {
			w.fail(Broken, "queue mapping: %v", err)
			return
		}
		if polled.Idle() {
			w.sleep(time.Duration(5+w.rng.IntN(20)) * time.Second)
		} else {
			w.pause()
		}
	}
}

// checkpoint is where the stream mapping once stood.
type checkpoint struct {
	at    time.Time
	state esm.Checkpoint
}

// pollStream is the stream mapping at work, with a poller that fails over to a stale checkpoint now and then.
func (w *World) pollStream() {
	for {
		w.meddle()
		if !w.pollOnce(w.stream) {
			return
		}
	}
}

func (w *World) pollOnce(s *esm.Stream) bool {
	streamed, err := s.Poll(context.Background())
	if err != nil {
		w.fail(Broken, "stream mapping: %v", err)
		return false
	}
	if s == w.stream {
		if streamed.Idle() {
			w.idle++
		} else {
			w.idle = 0
		}
	}
	if streamed.Idle() {
		w.sleep(time.Duration(2+w.rng.IntN(10)) * time.Second)
	} else if streamed.Failed > 0 {
		w.sleep(time.Duration(w.rng.IntN(12000)) * time.Millisecond)
	} else {
		w.pause()
	}
	return true
}

// stale is how old a checkpoint a poller may fail over to, and how long a finished shard may be listed anew.
const stale = 12 * time.Hour
const relisted = 48 * time.Hour

func (w *World) meddle() {
	if w.chance(0.3) {
		w.checkpoints = append(w.checkpoints, checkpoint{w.now, w.stream.Checkpoint()})
	}
	if w.calm {
		return
	}
	f := &w.plan.Faults
	old := w.checkpoints
	for len(old) > 0 && w.now.Sub(old[0].at) > stale {
		old = old[1:]
	}
	w.checkpoints = old
	if len(old) > 0 && w.chance(f.Stale) {
		w.fault(staleMark, "")
		w.stream.Restore(old[w.rng.IntN(len(old))].state)
	}
	if w.chance(f.Second) {
		w.fault(second, "")
		w.secondPoller(old)
	}
	if w.chance(f.Outage) {
		// Long enough that an invocation runs out of time, and must say what it could not prove; or a permission
		// is missing, and it fails with time left.
		w.outage, w.outOf = w.now.Add(time.Duration(20+w.rng.IntN(60))*time.Second), []map[string]bool{tablesAPI, keepers}[w.rng.IntN(2)]
		w.outWith = []error{throttled, denied}[w.rng.IntN(2)]
	}
	if w.chance(f.Roll) {
		w.fault(rolled, "")
		w.must(w.engine.RollShards(eventsTable))
		w.observe()
	}
	if w.chance(f.Split) {
		w.split()
	}
	if w.chance(f.Sweep) {
		w.sweep()
	}
	if w.chance(f.Odd) {
		w.writeOdds()
	}
	if w.chance(f.Damage) {
		w.damage()
	}
	for len(w.payloads) > 0 && w.now.Sub(w.payloads[0].at) > relisted {
		w.payloads = w.payloads[1:]
	}
	if len(w.payloads) > 0 && w.chance(f.Replay) {
		payload := w.payloads[w.rng.IntN(len(w.payloads))].payload
		w.fault(replayed, "")
		w.spawn("replay", nil, func() { w.count(payload) })
	}
}

func (w *World) must(err error) {
	if err != nil {
		w.fail(Broken, "%v", err)
	}
}

// split divides a random open shard.
func (w *World) split() {
	out, err := w.engine.Streams().DescribeStream(context.Background(), &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn})
	if err != nil {
		w.fail(Broken, "describe stream: %v", err)
		return
	}
	var open []string
	for _, listed := range out.StreamDescription.Shards {
		if listed.SequenceNumberRange.EndingSequenceNumber == nil {
			open = append(open, *listed.ShardId)
		}
	}
	if len(open) == 0 || len(open) > 6 {
		return
	}
	if w.engine.SplitShard(eventsTable, open[w.rng.IntN(len(open))]) != nil {
		return // too narrow to be split
	}
	w.fault(splitUp, "")
	w.observe()
}

// sweep lets time to live do its work.
func (w *World) sweep() {
	if n := w.engine.SweepExpired(); n > 0 {
		w.fault(swept, fmt.Sprintf("%d items", n))
		w.observe()
	}
}

// secondPoller reads the stream beside the first for a while, from an old checkpoint or from the start.
func (w *World) secondPoller(old []checkpoint) {
	marks := w.plan.Counting == aggregate.Marks
	named := marks && !w.chance(0.2)
	if marks && !named {
		w.fault(unnamed, "")
	}
	s, err := w.newStream(named)
	if err != nil {
		w.fail(Broken, "second mapping: %v", err)
		return
	}
	if len(old) > 0 && named == marks && w.chance(0.7) {
		s.Restore(old[w.rng.IntN(len(old))].state)
	}
	rounds := 1 + w.rng.IntN(15)
	w.spawn("second", nil, func() {
		for range rounds {
			if !w.pollOnce(s) {
				return
			}
		}
	})
}

// deliverAgain is a person who feeds a batch that a mapping gave up to the function, until it is taken.
func (w *World) deliverAgain(payload []byte) {
	wait := time.Duration(1+w.rng.IntN(120)) * time.Minute
	w.spawn("destination", nil, func() {
		w.sleep(wait)
		for {
			if answer, err := w.count(payload); err == nil && !strings.Contains(string(answer), "itemIdentifier") {
				return
			}
			w.sleep(time.Minute)
		}
	})
}

// strangers puts items into the events table that are none of Ingot's.
func (w *World) strangers(n int) {
	for i := range n {
		_, err := w.engine.DynamoDB().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: aws.String(eventsTable), Item: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: fmt.Sprintf("NOTE#%d", w.rng.IntN(1000))}, "SK": &types.AttributeValueMemberS{Value: fmt.Sprint(i)}}})
		w.eventWrites++
		w.must(err)
	}
	w.observe()
}

// person removes an item now and then, as people do.
func (w *World) person() {
	var live []string
	for key, h := range w.model.keys {
		if h.live != nil {
			live = append(live, key)
		}
	}
	if len(live) == 0 {
		return
	}
	sort.Strings(live)
	w.remove(w.model.keys[live[w.rng.IntN(len(live))]].live)
}

func (w *World) remove(img *image) {
	w.fault(byPerson, img.key())
	w.eventWrites++
	_, err := w.engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: aws.String(eventsTable), Key: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: img.pk}, "SK": &types.AttributeValueMemberS{Value: img.sk}}})
	w.must(err)
	w.observe()
}
