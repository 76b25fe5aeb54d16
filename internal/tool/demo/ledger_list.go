package demo

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// kindTexts holds the name of each kind of trouble, and how to describe what became of it.
var kindTexts = [kinds]struct {
	name, title string
	tell        func(l *ledger, k kind) string
}{
	sentTwice:        {"sent-twice", "message sent twice", (*ledger).byVerdict},
	sentLate:         {"sent-late", "message sent late, out of order", (*ledger).byVerdict},
	altered:          {"altered", "same id, another payload", (*ledger).inQuarantine},
	malformed:        {"malformed", "malformed body", (*ledger).inQuarantine},
	ingestKilled:     {"ingest-killed", "ingest killed between write and answer", (*ledger).cameBack},
	ingestTwice:      {"ingest-twice", "ingest invoked twice with one batch", (*ledger).cameBack},
	ingestAnswerLost: {"ingest-answer-lost", "ingest's answer lost", (*ledger).cameBack},
	deletionLost:     {"deletion-lost", "deletion from the queue lost", (*ledger).cameBack},
	ingestRefused:    {"ingest-refused", "hot table: ingest refused throughout", (*ledger).cameBack},
	requestThrottled: {"request-throttled", "request throttled", says("not carried out, sent again")},
	statementThrottled: {"statement-throttled", "statement throttled inside an answered batch",
		says("not carried out, only these sent again")},
	tableAnswerLost: {"table-answer-lost", "table wrote, its answer lost", says("asked again under the same condition")},
	quarantineAnswerLost: {"quarantine-answer-lost", "quarantine took it, its answer lost",
		says("sent again: in quarantine twice, never zero times")},
	streamsKilled:     {"streams-killed", "streams killed between write and answer", (*ledger).changesAgain},
	streamsTwice:      {"streams-twice", "streams invoked twice with one batch", (*ledger).changesAgain},
	streamsAnswerLost: {"streams-answer-lost", "streams' answer lost", (*ledger).changesAgain},
	streamsRefused:    {"streams-refused", "hot table: streams refused throughout", (*ledger).changesAgain},
	checkpointLost:    {"checkpoint-lost", "checkpoint not saved", (*ledger).changesAgain},
	checkpointStale:   {"checkpoint-stale", "mapping fell back to a stale checkpoint", (*ledger).changesAgain},
	shardsRolled:      {"shards-rolled", "all shards of the stream rolled", says("the children read after their parents")},
	archiveAnswerLost: {"archive-answer-lost", "archive took it, its answer lost", says("put again: the same name, the same bytes")},
	payloadAnswerLost: {"payload-answer-lost", "payload bucket took it, its answer lost",
		says("put again before the item: the same name, the same bytes")},
}

// list returns every kind of trouble and what became of it.
func (l *ledger) list() []Trouble {
	var list []Trouble
	for k := range kinds {
		text := kindTexts[k]
		list = append(list, Trouble{Kind: text.name, Title: text.title, Injected: l.injected[k], Touched: l.touched[k],
			Verdicts: verdictCounts(l.became[k]), Became: text.tell(l, k)})
	}
	return list
}

func says(text string) func(*ledger, kind) string {
	return func(*ledger, kind) string { return text }
}

// byVerdict says what became of messages: "68 Duplicate, 2 Inserted".
func (l *ledger) byVerdict(k kind) string {
	return strings.Join(l.counts(k, func(event.Verdict) bool { return true }), ", ")
}

// counts returns the wanted verdicts on messages of a kind, each with its number.
func (l *ledger) counts(k kind, wanted func(event.Verdict) bool) (parts []string) {
	for _, v := range event.Verdicts {
		if n := l.became[k][v]; n > 0 && wanted(v) {
			parts = append(parts, show.Comma(n)+" "+v.String())
		}
	}
	return parts
}

// inQuarantine says what became of messages that mostly end in quarantine: "25 Conflict: in
// quarantine; 2 Stale".
func (l *ledger) inQuarantine(k kind) string {
	var stories []string
	if kept := l.counts(k, event.Verdict.Quarantined); len(kept) > 0 {
		stories = append(stories, strings.Join(kept, ", ")+": in quarantine")
	}
	if others := l.counts(k, func(v event.Verdict) bool { return !v.Quarantined() }); len(others) > 0 {
		stories = append(stories, strings.Join(others, ", "))
	}
	return strings.Join(stories, "; ")
}

func (l *ledger) cameBack(k kind) string {
	if l.touched[k] == 0 {
		return "no message came again for it"
	}
	return fmt.Sprintf("%s came again: %s", show.Count(l.touched[k], "message"), l.byVerdict(k))
}

func (l *ledger) changesAgain(k kind) string {
	return fmt.Sprintf("%s came again; those counted were dropped by %s", show.Count(l.touched[k], "change"), l.proof)
}

func (l *ledger) messagePart() Deliveries {
	return Deliveries{Sent: l.sent, Arrays: l.arrays, Received: l.deliveries, Unjudged: l.unjudged, Verdicts: verdictCounts(l.verdicts)}
}

func (l *ledger) changePart() Changes {
	return Changes{Received: l.records, Repeated: l.repeated, Updates: l.updates, Dropped: l.dropped}
}
