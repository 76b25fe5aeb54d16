package integration

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// TestDeadLetters shows that a message that quarantine cannot take stays in the queue. After
// maxReceiveCount receives, the queue moves the original to its dead-letter queue. The other
// messages of the batch are not held up.
func TestDeadLetters(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		for name, bend := range map[string]func(*world){
			"no quarantine":                  func(w *world) { w.ingest.Quarantine = nil },
			"a quarantine that is not there": func(w *world) { w.quarantineAt(w.quarantine + "-gone") },
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, b, aggregate.Receipts)
				bend(w)
				poison := `{"type":"order","id":"` + strings.Repeat("é", 100) + `"}`
				w.send(order("m0", "o1", 5, began), poison, order("m0", "o2", 6, began))
				w.consume()
				letters := w.take(w.dead)
				letter, ok := letters[poison]
				if !ok || len(letters) != 1 {
					t.Fatalf("dead letters: %v", letters)
				}
				if letter.Attributes["DeadLetterQueueSourceArn"] != w.arn(w.queue) ||
					letter.MessageAttributes["ingot"].StringValue != nil ||
					aws.ToString(letter.MessageAttributes["trace"].StringValue) == "" {
					t.Errorf("the letter is not the original: %v %v", letter.Attributes, letter.MessageAttributes)
				}
				if w.verdicts[event.Inserted] != 2 || w.verdicts[event.Duplicate] != 0 || w.verdicts[event.Poison] != 3 {
					t.Errorf("verdicts %v; want both orders once and the poison three times", w.verdicts)
				}
				if got := w.take(w.quarantine); len(got) != 0 {
					t.Errorf("in quarantine: %v", got)
				}
			})
		}
	})
}
