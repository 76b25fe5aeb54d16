package demo

import (
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/esm"
)

// kind is one kind of trouble.
type kind int

// These are the kinds, in the order in which the summary lists them.
const (
	sentTwice kind = iota
	sentLate
	altered
	malformed
	ingestKilled
	ingestTwice
	ingestAnswerLost
	deletionLost
	ingestRefused
	requestThrottled
	statementThrottled
	tableAnswerLost
	quarantineAnswerLost
	streamsKilled
	streamsTwice
	streamsAnswerLost
	streamsRefused
	checkpointLost
	checkpointStale
	shardsRolled
	archiveAnswerLost
	payloadAnswerLost
	kinds
)

// ledger records what was done to the messages and changes, and what became of them. It holds an
// entry for each message in flight, and none for messages that are done.
type ledger struct {
	injected [kinds]int
	touched  [kinds]int                          // messages or records that it happened to
	became   [kinds][len(event.Verdicts) + 1]int // the verdict on the next delivery of each such message

	first map[string]kind   // by message id: the trouble for which it was sent; originals are not in it
	again map[string][]kind // by message id: the troubles because of which it will be delivered again

	sent       int
	arrays     int // of the messages sent, those with several events
	deliveries int // of messages, to the ingest function
	unjudged   int // deliveries to invocations that were killed, or that could not start
	verdicts   [len(event.Verdicts) + 1]int
	settled    [len(event.Verdicts) + 1]int // verdicts among them whose message left the queue for good
	// unheard counts items stored by requests whose answer was lost, or by invocations killed
	// before their verdicts.
	unheard int

	quarantined map[string]int // messages taken out of the quarantine queue, by the verdict in their note

	records   int               // deliveries of changes, to the streams function
	repeated  int               // of those, deliveries of records that had been delivered before
	reached   map[string]string // by shard: the highest sequence number delivered, padded
	updates   int               // aggregate items written
	dropped   int               // steps that were already counted
	proof     string            // what drops a step counted already: "mark" or "receipt"
	lastError error             // the last error of an invocation
}

func newLedger(c aggregate.Counting) *ledger {
	return &ledger{proof: strings.TrimSuffix(c.String(), "s"), first: map[string]kind{}, quarantined: map[string]int{},
		again: map[string][]kind{}, reached: map[string]string{}}
}

// happened records that a trouble was injected, and how many messages or records it hit.
func (l *ledger) happened(k kind, touched int) {
	l.injected[k]++
	l.touched[k] += touched
}

// send records that a message is sent as trouble.
func (l *ledger) send(id string, k kind) {
	l.happened(k, 1)
	l.first[id] = k
}

// comeBack records that messages of an invocation will be delivered again because of k.
func (l *ledger) comeBack(k kind, ids []string) {
	l.injected[k]++
	for _, id := range ids {
		l.touch(k, id)
	}
}

func (l *ledger) touch(k kind, id string) {
	if !slices.Contains(l.again[id], k) { // the same trouble twice before the next verdict counts once
		l.touched[k]++
		l.again[id] = append(l.again[id], k)
	}
}

// outcome records one verdict.
func (l *ledger) outcome(o handler.Outcome) {
	id := o.Message.MessageId
	l.verdicts[o.Verdict]++
	if o.Verdict == event.Retry {
		l.touch(ingestRefused, id)
	}
	if o.Failed {
		return // the message will be delivered again, so its entry in again stays
	}
	l.settled[o.Verdict]++
	if k, ok := l.first[id]; ok {
		l.became[k][o.Verdict]++
		delete(l.first, id)
	}
	for _, k := range l.again[id] {
		l.became[k][o.Verdict]++
	}
	delete(l.again, id)
}

// forget drops the records of shards that are gone from the stream.
func (l *ledger) forget(now esm.Checkpoint) {
	for shard := range l.reached {
		if _, there := now.Shards[shard]; !there {
			delete(l.reached, shard)
		}
	}
}

// delivered notes one delivery of records of a shard.
func (l *ledger) delivered(shard string, sequences []string) {
	for _, sequence := range sequences {
		padded := strings.Repeat("0", max(0, 40-len(sequence))) + sequence
		l.records++
		if padded <= l.reached[shard] {
			l.repeated++
			continue
		}
		l.reached[shard] = padded
	}
}
