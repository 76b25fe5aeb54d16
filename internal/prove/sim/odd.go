package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/verify"
)

// trouble is what goes badly wrong: writes by others, outages, and letters about records.
type trouble struct {
	*World
	odds     odds
	outage   time.Time       // until then, almost nothing gets through
	outOf    map[string]bool // the requests that the outage hits
	outWith  error           // the error that they get
	choosy   time.Time       // until then, quarantine never takes all letters of a batch and blames their sender
	worsened int             // how often worse struck
	letters  letters
}

// ofStream reports whether a letter is about a stream record rather than a message of a producer.
func ofStream(body string) bool { return strings.Contains(body, `"sequenceNumbers":`) }

// letters holds what quarantine has taken besides messages of producers: records that cannot be
// understood, and updates of aggregate items that are refused for good.
type letters struct {
	odd     map[string]int64 // by key and sequence number: the lowest epoch of the code that sent a letter
	refused map[string]bool  // by aggregate item and sequence number
	givenUp map[string]bool  // by key and sequence number
}

func newLetters() letters { return letters{map[string]int64{}, map[string]bool{}, map[string]bool{}} }

// recordLetter is what a letter about stream records says.
type recordLetter struct {
	PK, SK, Reason  string
	SequenceNumbers []string
}

func (l *recordLetter) name(seq string) string { return l.PK + "|" + l.SK + "|" + model.Pad(seq) }

// checkRecordLetter checks a letter about stream records on its way to quarantine. Either no code
// can understand such a record, or a person has given it up.
func (w *trouble) checkRecordLetter(body string) {
	var letter recordLetter
	if err := json.Unmarshal([]byte(body), &letter); err != nil {
		w.Fail(Undeserved, "a letter about stream records cannot be read: %v: %s", err, body)
		return
	}
	for _, seq := range letter.SequenceNumbers {
		switch name := letter.name(seq); {
		case letter.Reason == "given-up":
			w.stuck.checkGivenUp(name, seq)
		case letter.Reason == "undecodable-record" && !slices.Contains(w.odds.records, name):
			w.Fail(Undeserved, "record %s goes to quarantine as one that cannot be understood, and newer code can", name)
		}
	}
}

// take reads a letter with the standard library alone.
func (l letters) take(body string, epoch int64) {
	var letter recordLetter
	if !ofStream(body) || json.Unmarshal([]byte(body), &letter) != nil {
		return
	}
	for _, seq := range letter.SequenceNumbers {
		name := letter.name(seq)
		switch letter.Reason {
		case "undecodable-record":
			if had, ok := l.odd[name]; !ok || epoch < had {
				l.odd[name] = epoch
			}
		case "given-up":
			l.givenUp[name] = true
		case "refused-update":
			l.refused[name] = true
		}
	}
}

// oddKeys is the beginning of the keys of odd items.
const oddKeys = "ODD#"

// odds holds the odd items of the events table, and what the stream said about them.
type odds struct {
	made    int
	live    map[string]bool // by PK
	records []string        // key and sequence number
}

// writeOdds lets a person work on a few odd items at a time.
func (w *trouble) writeOdds() {
	for range 1 + w.Rng.IntN(5) {
		w.writeOdd()
	}
}

// mostWorse is how often [World.worse] may strike in a world. A record that cannot be reported is
// delivered again and again.
const mostWorse = 3

// worse sometimes adds an outage to other trouble. Something cannot be counted, and at that moment
// either the queue that should get it has an outage, or the tables have one.
func (w *trouble) worse() {
	if w.Calm || w.worsened == mostWorse || w.Now.Before(w.outage) || w.Now.Before(w.choosy) || !w.Chance(0.3) {
		return
	}
	w.worsened++
	until := w.Now.Add(time.Duration(20+w.Rng.IntN(60)) * time.Second)
	switch w.Rng.IntN(3) {
	case 0:
		w.outage, w.outOf, w.outWith = until, keepers, []error{stage.Throttled, denied, locked}[w.Rng.IntN(3)]
	case 1:
		w.outage, w.outOf, w.outWith = until, tablesAPI, []error{stage.Throttled, lockedTable}[w.Rng.IntN(2)]
	case 2:
		w.choosy = until
	}
}

// writeOdd lets a person write, change or remove an item that claims to be Ingot's but cannot be
// understood.
func (w *trouble) writeOdd() {
	live := sortedKeys(w.odds.live)
	pk := ""
	if len(live) > 0 && w.Chance(0.6) {
		pk = live[w.Rng.IntN(len(live))]
	} else {
		w.odds.made++
		pk = fmt.Sprintf("%s%04d", oddKeys, w.odds.made)
	}
	w.Fault(oddItem, pk)
	w.spending.eventWrites++
	key := keyOfItem(pk, "-")
	var err error
	if w.odds.live[pk] && w.Chance(0.5) {
		_, err = w.ingot.Engine.DynamoDB().DeleteItem(context.Background(),
			&dynamodb.DeleteItemInput{TableName: aws.String(eventsTable), Key: key})
	} else {
		_, err = w.ingot.Engine.DynamoDB().PutItem(context.Background(),
			&dynamodb.PutItemInput{TableName: aws.String(eventsTable), Item: w.spoiled(key)})
	}
	w.Must(err)
	w.observe()
}

// spoiled returns the item with one impossible thing about it.
func (w *trouble) spoiled(item map[string]types.AttributeValue) map[string]types.AttributeValue {
	f := model.Fact{Type: "order", ID: "odd", Merchant: merchants[0], Cents: w.Rng.Int64N(2000), At: w.Now.UTC().Format(time.RFC3339)}
	item["type"], item["id"] = &types.AttributeValueMemberS{Value: f.Type}, &types.AttributeValueMemberS{Value: f.ID}
	item["data"] = &types.AttributeValueMemberS{Value: f.Spell(w.Rng)}
	item["at"] = &types.AttributeValueMemberS{Value: w.Now.UTC().Format("2006-01-02T15:04:05.000000000Z")}
	item["digest"] = &types.AttributeValueMemberB{Value: make([]byte, 32)}
	item["epoch"] = &types.AttributeValueMemberN{Value: "1"}
	if w.Chance(0.5) { // time to live removes it
		item["expiresAt"] = &types.AttributeValueMemberN{Value: fmt.Sprint(w.Now.Unix() + w.Rng.Int64N(36*3600))}
	}
	switch w.Rng.IntN(4) {
	case 0:
		delete(item, "data")
	case 1:
		item["digest"] = &types.AttributeValueMemberS{Value: "not bytes"}
	case 2:
		delete(item, "at")
	case 3:
		item["data"] = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
	}
	return item
}

// odd notes a record of an odd item. It returns false for a record of any other item.
func (w *trouble) odd(r streamtypes.Record) bool {
	pk, _ := r.Dynamodb.Keys["PK"].(*streamtypes.AttributeValueMemberS)
	if pk == nil || !strings.HasPrefix(pk.Value, oddKeys) {
		return false
	}
	delete(w.odds.live, pk.Value)
	if r.Dynamodb.NewImage != nil {
		w.odds.live[pk.Value] = true
	}
	w.odds.records = append(w.odds.records, pk.Value+"|-|"+model.Pad(*r.Dynamodb.SequenceNumber))
	w.Tracef("odd record of %s", pk.Value)
	return true
}

// settledOdd checks the odd records of a batch that is answered. Those that its mapping will not
// deliver again must be in quarantine by now.
func (w *trouble) settledOdd(payload []byte, answer handler.StreamResponse, by *pipeline.Pipeline) {
	if len(w.odds.records) == 0 || !bytes.Contains(payload, []byte(`"`+oddKeys)) {
		return
	}
	from := ""
	if failures := answer.BatchItemFailures; len(failures) > 0 {
		from = model.Pad(failures[0].ItemIdentifier)
	}
	for _, name := range w.odds.records {
		seq := name[strings.LastIndexByte(name, '|')+1:]
		if from != "" && seq >= from || !bytes.Contains(payload, []byte(`"`+strings.TrimLeft(seq, "0")+`"`)) {
			continue // it comes again, or belongs to another batch
		}
		if _, kept := w.letters.odd[name]; !kept {
			w.Fail(Unkept, "a batch is done with, and its record %s cannot be understood and is not in quarantine", name)
			return
		}
		w.checkFlags(by)
	}
}

// checkFlags checks that code that met an odd record has flagged every head that it knows.
func (w *trouble) checkFlags(by *pipeline.Pipeline) {
	for _, def := range by.Definitions() {
		if !w.flaggedHead(def) {
			w.Fail(Unkept, "a record that cannot be understood is in quarantine, and the head of %s is not flagged", def)
		}
	}
}

// checkOdd checks, at rest, that each odd record is in quarantine. It also checks the heads that
// the code knew that sent the record there: they must be flagged.
func (w *trouble) checkOdd() {
	epoch := int64(0)
	for _, name := range w.odds.records {
		by, ok := w.letters.odd[name]
		if !ok {
			w.Fail(Unkept, "the record %s cannot be understood and is not in quarantine", name)
			return
		}
		epoch = max(epoch, by)
	}
	if epoch > 0 {
		w.checkFlags(w.pipelineOf(epoch))
	}
}

func (w *trouble) flaggedHead(def *aggregate.Definition) bool {
	key := lanes.HeadKey(def)
	head := w.read(totals, key.PK, key.SK)
	return head["flag"] != nil
}

// keyOfItem returns a key in the form that requests use.
func keyOfItem(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk}}
}

// checkReport checks that verify names each odd item, each part without its whole, and no other.
func (w *trouble) checkReport(r *verify.Report, epoch int64) {
	told := strings.Join(r.Unreadable, "\n")
	for _, pk := range sortedKeys(w.odds.live) {
		if !strings.Contains(told, pk) {
			w.Fail(Wrong, "verify does not name the odd item %s", pk)
		}
	}
	orphans := w.wholes.orphanedParts(epoch)
	for _, p := range orphans {
		if !strings.Contains(told, fmt.Sprintf("item %q is a part of an event", keyOfFact(p))) {
			w.Fail(Wrong, "verify does not name %s, whose order is not stored", p.Key())
		}
	}
	if n := len(w.odds.live) + len(orphans); len(r.Unreadable) != n {
		w.Fail(Wrong, "verify names %d odd items of %d: %s", len(r.Unreadable), n, told)
	}
}
