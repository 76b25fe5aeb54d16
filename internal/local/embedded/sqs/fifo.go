package sqs

import (
	"cmp"
	"slices"
	"time"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// dedupLife is how long a FIFO queue remembers a deduplication id.
const dedupLife = 5 * time.Minute

// group is one message group of a FIFO queue. While any of its messages is in flight, the queue
// gives no other message of the group.
type group struct {
	messages []*message // in order, including those in flight
	inflight int
}

func (q *queue) group(id string) *group {
	g := q.groups[id]
	if g == nil {
		g = &group{}
		q.groups[id] = g
	}
	return g
}

func (g *group) add(m *message) { g.messages = append(g.messages, m) }

// leave takes a message out of its group.
func (q *queue) leave(m *message) {
	g := q.group(m.group)
	if i := slices.Index(g.messages, m); i >= 0 {
		g.messages = slices.Delete(g.messages, i, i+1)
	}
	if len(g.messages) == 0 {
		delete(q.groups, m.group)
	}
}

// free lists the groups that may give messages. The group with the oldest first message comes
// first.
func (q *queue) free() []*group {
	var out []*group
	for _, g := range q.groups {
		if g.inflight == 0 && len(g.messages) > 0 {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *group) int { return cmp.Compare(a.messages[0].sequence, b.messages[0].sequence) })
	return out
}

// candidates lists up to n messages that a receive may take, in order. A FIFO queue gives as many
// messages of one group as it can before it turns to the next group.
func (q *queue) candidates(n int) []*message {
	var out []*message
	if q.fifo {
		for _, g := range q.free() {
			out = append(out, g.messages[:min(len(g.messages), n-len(out))]...)
			if len(out) == n {
				break
			}
		}
		return out
	}
	for len(out) < n {
		m := q.ready.pop()
		if m == nil {
			break
		}
		out = append(out, m)
	}
	return out
}

// dedup remembers what a FIFO queue has accepted recently.
type dedup struct {
	seen  map[string]accepted
	order []accepted // by time
	log   *api.Log
	space string
}

type accepted struct {
	id string // deduplication id
	at time.Time
	m  sentMessage
}

// sentMessage is the answer of SendMessage.
type sentMessage struct {
	id, bodyMD5, attributesMD5 string
	sequence                   uint64
}

func newDedup() dedup { return dedup{seen: map[string]accepted{}} }

func (d *dedup) find(id string, now time.Time) (sentMessage, bool) {
	n := 0
	for n < len(d.order) && now.Sub(d.order[n].at) >= dedupLife {
		delete(d.seen, d.order[n].id)
		d.log.Remove(d.space, d.order[n].id)
		n++
	}
	d.order = d.order[n:]
	a, ok := d.seen[id]
	return a.m, ok
}

func (d *dedup) remember(id string, now time.Time, m sentMessage) {
	a := accepted{id, now, m}
	d.seen[id] = a
	d.order = append(d.order, a)
	d.keep(a)
}
