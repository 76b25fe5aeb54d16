package sim

import (
	"context"
	"encoding/base64"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/pipeline"
)

// stuck are the records that nothing can count, and what people do about them.
type stuck struct {
	*World
	stranded stranded
}

// mostStrange is how many items of a world get the strange stamp.
const mostStrange = 2

// stranded holds the stream records that carry the strange stamp, by sequence number as the stream
// writes it. Nothing can count them, so their shard waits for a person.
type stranded struct {
	records map[string]*strandedRecord
	made    int
}

type strandedRecord struct {
	name    string // as letters name a record
	asked   bool   // somebody is working on it
	givenUp bool   // it has its item X#
}

// stampByHand lets a person give an item a stamp that no pipeline has. The person sees the mistake
// at once and takes it back. Both changes carry that stamp. Neither of them adds anything, so both
// may be given up.
func (w *stuck) stampByHand() {
	if w.stranded.made == mostStrange {
		return
	}
	var there []string
	for _, key := range sortedKeys(w.model.Keys) {
		if live := w.model.Keys[key].Live; live != nil && !live.InBytes {
			there = append(there, key)
		}
	}
	if len(there) == 0 {
		return
	}
	w.stranded.made++
	img := w.model.Keys[there[w.Rng.IntN(len(there))]].Live
	w.Fault(strangeStamp, img.Key())
	for _, epoch := range []string{"77", model.ValueOf(img.Whole["epoch"])} {
		w.spending.eventWrites++
		_, err := w.ingot.Engine.DynamoDB().UpdateItem(context.Background(),
			&dynamodb.UpdateItemInput{TableName: aws.String(eventsTable), Key: keyOfItem(img.PK, img.SK),
				UpdateExpression:          aws.String("SET epoch = :e"),
				ExpressionAttributeValues: map[string]types.AttributeValue{":e": &types.AttributeValueMemberN{Value: epoch}}})
		w.Must(err)
		w.observe()
	}
}

// noteStranded notes a record that carries the strange stamp. It returns false for any other
// record.
func (w *stuck) noteStranded(c *model.Change, seq string) bool {
	if (c.Old == nil || c.Old.Epoch != model.StrangeEpoch) && (c.New == nil || c.New.Epoch != model.StrangeEpoch) {
		return false
	}
	w.stranded.records[seq] = &strandedRecord{name: c.New.PK + "|" + c.New.SK + "|" + c.Seq}
	return true
}

var keyToGiveUp = regexp.MustCompile(`PK (X#\S+#([0-9]+)) in the aggregates table`)

// readError lets a person read the error of a streams function. If the error is about a record that
// no function will ever count, the person gives the record up as the error describes.
func (w *stuck) readError(err error) {
	found := keyToGiveUp.FindStringSubmatch(err.Error())
	if found == nil {
		return
	}
	pk, record := found[1], w.stranded.records[found[2]]
	if record == nil { // a newer function will count it
		if w.Chance(0.1) {
			w.putAside(pk)
		}
		return
	}
	if record.asked {
		return
	}
	record.asked = true
	w.Spawn("operator", nil, func() {
		w.Sleep(time.Duration(10+w.Rng.IntN(120)) * time.Second)
		if w.Chance(0.5) {
			w.putAside(pk)
			w.Sleep(time.Duration(10+w.Rng.IntN(60)) * time.Second)
		}
		record.givenUp = true
		w.Fault(givenUp, pk)
		w.putMark(pk)
	})
}

// putAside lets a person give up a record that blocks nothing: the same sequence number in another
// shard or in no shard, or another number in the same shard. The code must not confuse it with the
// record that does block its shard.
func (w *stuck) putAside(pk string) {
	w.Fault(misgiven, pk)
	lane, seq := pk[len("X#"):strings.LastIndexByte(pk, '#')], pk[strings.LastIndexByte(pk, '#')+1:]
	shards := append(sortedKeys(w.shards), "")
	for _, i := range w.Rng.Perm(len(shards)) {
		hash := w.model.LaneHash(shards[i])
		if other := base64.RawURLEncoding.EncodeToString(hash[:12]); other != lane {
			w.putMark("X#" + other + "#" + seq)
		}
	}
	w.putMark("X#" + lane + "#" + seq + "0")
	w.putMark("X#" + lane)
}

func (w *stuck) putMark(pk string) {
	_, err := w.ingot.Engine.DynamoDB().PutItem(context.Background(),
		&dynamodb.PutItemInput{TableName: aws.String(totals), Item: keyOfItem(pk, "-")})
	w.Must(err)
}

// checkGivenUp checks a letter about a record that is given up. A person must have given up exactly
// this record.
func (w *stuck) checkGivenUp(name, seq string) {
	if r := w.stranded.records[seq]; r == nil || !r.givenUp || r.name != name {
		w.Fail(Undeserved, "record %s is taken for given up, and nobody has given it up", name)
	}
}

// settledGivenUp checks a batch that is answered. Consider the records in it that have a strange
// stamp and that the mapping will not deliver again. Each must be given up and in quarantine, and
// the heads must be flagged.
func (w *stuck) settledGivenUp(payload []byte, answer handler.StreamResponse, by *pipeline.Pipeline) {
	for _, seq := range sortedKeys(w.stranded.records) {
		if failures := answer.BatchItemFailures; len(failures) > 0 && model.Pad(seq) >= model.Pad(failures[0].ItemIdentifier) ||
			!strings.Contains(string(payload), `"`+seq+`"`) {
			continue // it comes again, or belongs to another batch
		}
		if r := w.stranded.records[seq]; !w.trouble.letters.givenUp[r.name] {
			w.Fail(Unkept, "a batch is done with, and its record %s carries a stamp of no pipeline and is not in quarantine", r.name)
			return
		}
		w.trouble.checkFlags(by)
	}
}

// checkStranded checks, at rest, that each record with a strange stamp is given up and in
// quarantine.
func (w *stuck) checkStranded() {
	for _, seq := range sortedKeys(w.stranded.records) {
		if r := w.stranded.records[seq]; !w.trouble.letters.givenUp[r.name] {
			w.Fail(Unkept, "record %s carries a stamp of no pipeline and is not in quarantine", r.name)
			return
		}
	}
}
