package crash

import (
	"fmt"
	"math/rand/v2"
)

// producer invents events, and sends trouble along. It records what the tables must hold in the
// end. It knows nothing of Ingot.
type producer struct {
	die    *rand.Rand
	sent   int
	sales  map[string]sale  // by id: what was sent first
	parcel map[string]stock // by id: the newest revision
	ids    []string         // of sales that a person has not removed
	refuse map[string]bool  // bodies that must end in quarantine
}

type sale struct{ merchant, cents int }

type stock struct{ revision, shelf, pieces int }

func newProducer(seed uint64) *producer {
	return &producer{die: source(seed, forEvents), sales: map[string]sale{}, parcel: map[string]stock{}, refuse: map[string]bool{}}
}

func saleBody(id string, s sale) string {
	return fmt.Sprintf(`{"type":"sale","id":%q,"at":"2099-03-01T%02d:00:00Z","merchant":"m%d","cents":%d}`, id, s.merchant,
		s.merchant, s.cents)
}

func stockBody(id string, s stock) string {
	return fmt.Sprintf(`{"type":"stock","id":%q,"at":"2099-03-01T10:00:00Z","revision":%d,"shelf":"s%d","pieces":%d}`, id, s.revision,
		s.shelf, s.pieces)
}

// burst returns messages to be delivered in any order. A message that contradicts an event comes in
// a later burst than the event, so chance does not decide which of the two counts.
func (p *producer) burst() []string {
	var bodies []string
	known := len(p.ids)
	for range 40 {
		id := fmt.Sprintf("e%05d", p.sent)
		p.sent++
		switch roll := p.die.Float64(); {
		case roll < 0.08 && known > 0: // sent again
			id = p.ids[p.die.IntN(known)]
			bodies = append(bodies, saleBody(id, p.sales[id]))
		case roll < 0.11 && known > 0: // the same id with another amount
			id = p.ids[p.die.IntN(known)]
			other := p.sales[id]
			other.cents += 1 + p.die.IntN(1000)
			body := saleBody(id, other)
			p.refuse[body] = true
			bodies = append(bodies, body)
		case roll < 0.13:
			body := fmt.Sprintf(`{"type":"sale","id":%q`, id)
			p.refuse[body] = true
			bodies = append(bodies, body)
		case roll < 0.35:
			id = fmt.Sprintf("p%02d", p.die.IntN(30))
			s := stock{p.sent, p.die.IntN(4), p.die.IntN(100)} // a later one has a higher revision
			p.parcel[id] = s
			bodies = append(bodies, stockBody(id, s))
		default:
			s := sale{p.die.IntN(6), p.die.IntN(100_000)}
			p.sales[id] = s
			p.ids = append(p.ids, id)
			bodies = append(bodies, saleBody(id, s))
			if p.die.Float64() < 0.1 {
				bodies = append(bodies, saleBody(id, s)) // twice
			}
		}
	}
	p.die.Shuffle(len(bodies), func(i, j int) { bodies[i], bodies[j] = bodies[j], bodies[i] })
	return bodies
}

// remove picks a sale that a person removes from the table. The producer does not send it again.
func (p *producer) remove() (id string) {
	i := p.die.IntN(len(p.ids))
	id = p.ids[i]
	p.ids = append(p.ids[:i], p.ids[i+1:]...)
	delete(p.sales, id)
	return id
}

// totals adds everything up. It maps "aggregate by value name" to a number.
func (p *producer) totals() map[string]int {
	sums := map[string]int{}
	for _, s := range p.sales {
		at := fmt.Sprintf("hourly m%d ", s.merchant)
		sums[at+"sales"]++
		sums[at+"cents"] += s.cents
		sums["overall sales"]++
		sums["overall cents"] += s.cents
	}
	for _, s := range p.parcel {
		at := fmt.Sprintf("shelves s%d ", s.shelf)
		sums[at+"places"]++
		sums[at+"pieces"] += s.pieces
	}
	return sums
}
