package propose

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/kit/slow"
)

// producer makes messages, and knows which of them are one event.
type producer struct {
	die   *rand.Rand
	taken map[string]bool
	types []string // values of the field of the type; empty: there is none
	typ   []string // the path to each field
	id    [][]string
	owner []string
	at    []string
	sent  [][]string // what sending sets anew
	data  [][]string
	kind  int // of time
	nesting,
	form int
	quotes bool
	coarse time.Duration
	around []int // the owner of each object, if the object around it has that
}

// words of nobody's list, and words that producers use.
var (
	ownWords   = []string{"blip", "quor", "zan", "melt", "urd", "fennel", "gx7", "ñandú", "knot", "pel", "vast", "wick"}
	knownWords = map[string][]string{"id": {"id", "order_id", "eventId", "uuid", "invoice-number", "$id"},
		"at":   {"occurred_at", "timestamp", "createdAt", "ts"},
		"sent": {"trace_id", "sent_at", "requestId", "attempt"}, "type": {"type", "event_type", "kind", "action"},
		"owner": {"customer_id", "device_id", "account"}, "data": {"status", "total_cents", "note", "city", "amount", "quantity"}}
)

// path returns a new path to a field, at any depth.
func (p *producer) path(of string) []string {
	for {
		var list []string
		for range p.die.IntN(p.nesting) {
			list = append(list, ownWords[p.die.IntN(3)])
		}
		name := knownWords[of][p.die.IntN(len(knownWords[of]))]
		if p.die.IntN(5) < 3 {
			name = ownWords[3+p.die.IntN(len(ownWords)-3)] + []string{"", "-x", " y", "_z", ".w", "#"}[p.die.IntN(6)]
		}
		list = append(list, name)
		if text := strings.Join(list, "\x00"); !p.taken[text] {
			p.taken[text] = true
			return list
		}
	}
}

func newProducer(die *rand.Rand) *producer {
	p := &producer{die: die, taken: map[string]bool{}, nesting: 1 + die.IntN(3), kind: die.IntN(7), form: die.IntN(8),
		quotes: die.IntN(2) == 0,
		coarse: []time.Duration{time.Millisecond, time.Second, time.Minute}[die.IntN(3)]}
	p.typ, p.owner, p.at = p.path("type"), p.path("owner"), p.path("at")
	for range die.IntN(4) {
		p.types = append(p.types, []string{"door", "window", "sensor.x", "заказ"}[die.IntN(4)]+"."+
			[]string{"opened", "closed", "p q"}[die.IntN(3)])
	}
	for range 1 + die.IntN(2) {
		p.id = append(p.id, p.path("id"))
	}
	for range die.IntN(3) {
		p.sent = append(p.sent, p.path("sent"))
	}
	for range 2 + die.IntN(3) {
		p.data = append(p.data, p.path("data"))
	}
	return p
}

// put puts a value at a path of an object.
func put(object map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		if object[name] == nil {
			object[name] = map[string]any{}
		}
		object = object[name].(map[string]any)
	}
	object[path[len(path)-1]] = value
}

func (p *producer) time(at time.Time) any {
	switch p.kind {
	case 0:
		return at.Unix()
	case 1:
		return at.UnixMilli()
	case 2:
		return fmt.Sprint(at.Unix())
	case 3:
		return at.Format("2006-01-02 15:04:05.000")
	case 4:
		return at.Format(time.RFC1123Z)
	}
	return at.Format(time.RFC3339Nano)
}

// events returns the messages of some events, with the number of the event of each.
func (p *producer) events(n int) (objects []map[string]any, which []int) {
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	owners, series := 2+p.die.IntN(n), p.die.IntN(4) == 0 // owner and time tell the events of a series apart
	seen, nth := map[string]bool{}, map[int]int{}
	for i := range n {
		owner, at := p.die.IntN(owners), begin.Add(time.Duration(p.die.IntN(n*2))*p.coarse)
		typ := ""
		if len(p.types) > 0 {
			typ = p.types[p.die.IntN(len(p.types))]
		}
		if text := fmt.Sprint(owner, p.time(at), typ); series && seen[text] {
			continue
		} else {
			seen[text] = true
		}
		state := p.die.Uint64()
		copies := 1
		nth[owner]++
		if p.die.IntN(8) == 0 {
			copies += 1 + p.die.IntN(2)
		}
		for range copies {
			object, same := map[string]any{}, rand.New(rand.NewPCG(state, 1))
			if typ != "" {
				put(object, p.typ, typ)
			}
			if put(object, p.owner, fmt.Sprint("c", owner)); p.form == 6 { // the objects around them have it
				p.around = append(p.around, owner)
				put(object, p.owner, "x")
			}
			put(object, p.at, p.time(at))
			if !series {
				put(object, p.id[0], fmt.Sprint("n", i))
				if p.form == 6 {
					put(object, p.id[0], nth[owner])
				}
				if len(p.id) == 2 && p.form != 6 { // neither is enough
					put(object, p.id[0], fmt.Sprint("n", i/3))
					put(object, p.id[1], i%3)
				}
			}
			for j, path := range p.data {
				var value any = same.IntN(1 + 20*j)
				if p.quotes {
					value = fmt.Sprint(value, ".50")
				}
				put(object, path, value)
			}
			lines := []any{}
			for k := range p.form % 3 {
				line := map[string]any{"n": k}
				if len(p.sent) > 1 {
					line["trace"] = p.die.Uint32()
				}
				lines = append(lines, line)
			}
			put(object, []string{"lines"}, lines)
			for _, path := range p.sent {
				put(object, path, fmt.Sprint("t", p.die.Uint32()))
			}
			objects, which = append(objects, object), append(which, i)
		}
	}
	p.die.Shuffle(len(objects), func(i, j int) {
		objects[i], objects[j], which[i], which[j] = objects[j], objects[i], which[j], which[i]
		if p.form == 6 {
			p.around[i], p.around[j] = p.around[j], p.around[i]
		}
	})
	return objects, which
}

// No proposal takes two events for one, or one for two. If a sample does not decide it, the
// proposal says so. The producers are the same each time: INGOT_SEED makes others.
func TestProducers(t *testing.T) {
	seed := replay.Seed(t, 3)
	n := slow.Number(200, 2000)
	decided := 0
	for i := range n {
		p := newProducer(rand.New(rand.NewPCG(seed, uint64(i))))
		objects, which := p.events(10 + p.die.IntN(60))
		if p.judge(t, i, objects, which) {
			decided++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d of %d proposals are complete", decided, n)
	if decided*6 < n {
		t.Errorf("only %d of %d proposals are complete", decided, n)
	}
}

// lines writes the objects as the producer sends them: alone, in envelopes with a new id or the
// same one, or several in an array.
func (p *producer) lines(objects []map[string]any, which []int) (lines []string) {
	text := func(v any) string {
		b, _ := json.Marshal(v) // made of what JSON has
		return string(b)
	}
	fresh := p.die.IntN(2) == 0
	delivery := []string{"id", "firstEventSequence", "hook_id", "number"}[p.die.IntN(4)] // of the messages of form 7
	for i := 0; i < len(objects); i++ {
		end := min(len(objects), i+1+p.die.IntN(3))
		switch id := fmt.Sprint("e", which[i]); p.form {
		case 3:
			lines = append(lines, text(objects[i:end]))
			i = end - 1
		case 4:
			lines = append(lines, text(map[string]any{"sender": id, "batch": map[string]any{"records": objects[i:end]}}))
			i = end - 1
		case 7:
			lines = append(lines, text(map[string]any{delivery: 1000 + i, "entropy": fmt.Sprint("e", p.die.Uint32()),
				"batch": map[string]any{"events": objects[i:end]}}))
			i = end - 1
		case 6:
			feed := map[string]any{"fennel": p.around[i], "quor": map[string]any{"pel": []any{objects[i]}}}
			lines = append(lines, text(map[string]any{"feed": []any{feed}}))
		case 5:
			if fresh {
				id = fmt.Sprint("m", i)
			}
			lines = append(lines, text(map[string]any{"specversion": "1.0", "id": id, "source": "/s", "type": "ping",
				"time": "2026-03-01T00:00:00Z", "data": objects[i]}))
		default:
			lines = append(lines, text(objects[i]))
		}
	}
	return lines
}

// judge reports whether the proposal for the messages is complete. For every event that it stores,
// it must know the others that are the same event.
func (p *producer) judge(t *testing.T, number int, objects []map[string]any, which []int) (complete bool) {
	t.Helper()
	lines := p.lines(objects, which)
	proposal := proposal(t, strings.Join(append(lines, lines...), "\n"))
	_, unfit, err := proposal.Check()
	wrong := func(what string) {
		t.Fatalf("producer %d: %s\n%s\n%s", number, what, strings.Join(lines[:min(len(lines), 12)], "\n"), proposal.YAML())
	}
	if err != nil {
		wrong(err.Error())
	}
	items, keys, i := map[event.Key]*event.Item{}, map[int]*event.Item{}, 0
	is := map[event.Key]int{}
	for _, line := range lines {
		for _, one := range proposal.compiled.PlanEach(envelope.Message{Body: line}) {
			item, n := one.Item, which[i]
			i++
			if item == nil {
				continue
			}
			if first := keys[n]; first != nil && first.Key != item.Key {
				wrong(fmt.Sprintf("event %d has the keys %v and %v: %s", n, first.Key, item.Key, item.Data))
			}
			if first := items[item.Key]; first != nil && (is[item.Key] != n || first.Digest != item.Digest) {
				wrong(fmt.Sprintf("events %d and %d have the key %v: %s and %s", n, is[item.Key], item.Key, item.Data, first.Data))
			}
			keys[n], items[item.Key], is[item.Key] = item, item, n
		}
	}
	return len(unfit) == 0
}
