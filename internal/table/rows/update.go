package rows

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// Edit is one conditional update of an aggregate item: what it writes, and on which conditions. It
// does not say how it is sent. [Edit.Update] writes it for transactions, and with [Request] for
// UpdateItem, and [Edit.Statement] for PartiQL.
type Edit struct {
	adds    []Operand    // numbers to add; a missing one counts as 0
	Sets    []Assignment // values to set
	Removes []string     // attributes to remove
	Guards  []Guard      // conditions, all of which must hold
}

// Operand is an attribute with a value for it, and the name that expressions give the value.
type Operand struct {
	Name        string
	Slot        slot
	Placeholder string
	Value       types.AttributeValue
}

type Assignment struct {
	Operand
	first bool // set it only if the attribute is missing
}

// Guard compares an attribute with a value. If the attribute is missing, the guard holds only if
// orMissing is set. Without a sign, it holds only if the attribute is missing.
type Guard struct {
	Operand
	Sign      string
	OrMissing bool
}

// Fold adds the delta: values, n and fingerprint. It also writes a delta of zero, because the write
// is what moves the mark.
func (e *Edit) Fold(u *lanes.Update, d *lanes.Delta, seen *Observation) {
	def := u.Def
	e.addNumber("n", slotN, ":n", Integer(d.N))
	e.addNumber("fp", slotFP, ":fp", Number(d.FP.String()))
	if !d.FPX.IsZero() {
		e.addNumber("fpx", slotFPX, ":fpx", Number(d.FPX.String()))
	}
	for i, amount := range d.Values {
		if !amount.Set {
			continue
		}
		v := Operand{def.Values[i].Name, slotOf(i), ":v" + strconv.Itoa(i), StoredAmount(def.Values[i].Op, amount)}
		if def.Values[i].Op.Additive() {
			e.adds = append(e.adds, v)
			if def.Values[i].Name == def.Rank.Value {
				e.adds = append(e.adds, Operand{lanes.ScoreAttribute, slotScore, ":score", v.Value})
				e.place(u)
			}
			continue
		}
		if def.Values[i].Op == aggregate.Distinct {
			e.distinct(v, amount, seen.extreme(i), ":s"+strconv.Itoa(i))
			continue
		}
		if moved := e.extreme(def.Values[i], v, amount, seen.extreme(i)); moved && def.Values[i].Name == def.Rank.Value {
			e.Sets = append(e.Sets, Assignment{Operand: Operand{lanes.ScoreAttribute, slotScore, ":score", v.Value}})
			e.place(u)
		}
	}
	for i, b := range d.Buckets {
		e.histogram(def.Values[i].Name, i, b)
	}
	e.bounds(u, d, seen)
	if d.Flag != "" {
		e.Flag(d.Last.Created(), d.Flag)
	}
}

// bounds flags a total that falls below its floor or rises above its ceiling because an event was
// removed or corrected, which a bound does not prevent. Whether it does depends on what is stored.
// As in extreme, the guess is part of the condition. An event that a touch pass adds never causes a
// flag: until the pass is over, the sum lacks other events.
func (e *Edit) bounds(u *lanes.Update, d *lanes.Delta, seen *Observation) {
	if u.Def.Bounds == nil || !slices.ContainsFunc(u.Steps, func(s lanes.Step) bool { return s.Minus != nil && !s.Closes }) {
		return
	}
	var broken []string
	for i, b := range u.Def.Bounds {
		if !b.Nears(d.Values[b.Value]) {
			continue
		}
		before := b.Before(d.Values[b.Value]) // of what is stored
		holds := before.Holds(seen.bounded(b.Value))
		if e.Bound(u.Def, i, before, holds); !holds {
			broken = append(broken, u.Def.Values[b.Value].Name+" "+b.Beyond())
		}
	}
	if len(broken) > 0 {
		e.Flag(d.Last.Created(), "an event was removed or corrected, and that has brought "+strings.Join(broken, " and "))
	}
}

// Bound adds the condition that the stored value is within a bound, or that it is beyond it. place
// is that of the bound in the definition. If the value is missing, it is 0.
func (e *Edit) Bound(def *aggregate.Definition, place int, b aggregate.Bound, within bool) {
	o := Operand{def.Values[b.Value].Name, SlotNone, ":f" + strconv.Itoa(place), Number(b.Limit.String())}
	e.Guards = append(e.Guards, Guard{o, b.Sign(within), b.Holds(event.Decimal{}) == within})
}

// place puts a ranked total into its partition of the index, where the copy of its value has moved.
// The place follows from the key, so it is the same every time.
func (e *Edit) place(u *lanes.Update) {
	e.Sets = append(e.Sets, Assignment{Operand: Operand{lanes.RankAttribute, slotRank, ":rank", Text(lanes.RankOf(u.Def, u.Key))}})
}

// RankUnits returns what the index of ranked totals costs if the edit is carried out. For a new
// total, an entry is written. If the total's value has moved, the entry is removed and written
// again.
func (e *Edit) RankUnits(u *lanes.Update, seen *Observation) int {
	if u.Def.Rank.Value == "" {
		return 0
	}
	var score, rank Operand
	for _, a := range e.adds {
		if a.Slot == slotScore && (!seen.Has(slotScore) || NumberOf(a.Value) != "0") {
			score = a
		}
	}
	for _, s := range e.Sets {
		switch s.Slot {
		case slotScore:
			score = s.Operand
		case slotRank:
			rank = s.Operand
		}
	}
	if score.Slot != slotScore {
		return 0
	}
	entry := ImageSize(KeyImage(u.Key)) + len(rank.Name) + ValueSize(rank.Value) + len(score.Name) + ValueSize(score.Value)
	if seen.Has(slotScore) {
		return 2 * itemform.WriteUnits(entry)
	}
	return itemform.WriteUnits(entry)
}

// distinct replaces a sketch with one that has also met the candidate's values, on condition that
// the stored sketch has not changed since it was read. If the stored sketch has met all of these
// values already, it stays, on the same condition.
func (e *Edit) distinct(o Operand, candidate, stored aggregate.Amount, placeholder string) {
	merged := lanes.Merge(aggregate.Distinct, stored, candidate)
	if merged.Text != stored.Text {
		o.Value = StoredAmount(aggregate.Distinct, merged)
		e.Sets = append(e.Sets, Assignment{Operand: o})
	}
	if !stored.Set {
		e.Guards = append(e.Guards, Guard{Operand: Operand{Name: o.Name}})
		return
	}
	e.Guards = append(e.Guards, Guard{Operand: Operand{o.Name, SlotNone, placeholder, StoredAmount(aggregate.Distinct, stored)}, Sign: "="})
}

// histogram adds to the buckets of one value.
func (e *Edit) histogram(name string, value int, moved aggregate.Buckets) {
	for _, k := range slices.Sorted(maps.Keys(moved)) {
		if moved[k] != 0 {
			e.addNumber(BucketPrefix+name+":"+strconv.Itoa(k), bucketSlot(value, k), ":h"+strconv.Itoa(len(e.adds)), Integer(moved[k]))
		}
	}
}

// StoredAmount returns an amount as it is stored.
func StoredAmount(o aggregate.Op, a aggregate.Amount) types.AttributeValue {
	if o == aggregate.Distinct {
		return Binary([]byte(a.Text))
	}
	if o.Textual() {
		return Text(a.Text)
	}
	return Number(a.Number.String())
}

// amountOf reads what [StoredAmount] writes. Another type of attribute is not an amount.
func amountOf(o aggregate.Op, v types.AttributeValue) aggregate.Amount {
	if o == aggregate.Distinct {
		stored := string(BytesOf(v))
		var s aggregate.Sketch
		if stored == "" || s.Merge(stored) != nil {
			return aggregate.Amount{}
		}
		return aggregate.Amount{Set: true, Text: stored}
	}
	if o.Textual() {
		stored := TextOf(v)
		return aggregate.Amount{Set: stored != "", Text: stored}
	}
	n, err := event.ParseDecimal(NumberOf(v))
	if err != nil {
		return aggregate.Amount{}
	}
	return aggregate.Amount{Set: true, Number: n}
}

func (e *Edit) addNumber(attribute string, at slot, placeholder string, v types.AttributeValue) {
	e.adds = append(e.adds, Operand{attribute, at, placeholder, v})
}

// extreme moves a value that only moves outwards: a min or max, or a newest or oldest. Which of the
// two forms is right depends on what is stored. The guess is part of the condition. So a wrong
// guess fails, and the image that comes back corrects it. extreme reports whether the value moves.
func (e *Edit) extreme(v aggregate.Value, o Operand, candidate, stored aggregate.Amount) (moves bool) {
	beyond, within := "<", ">="
	if v.Op == aggregate.Min || v.Op == aggregate.Oldest {
		beyond, within = ">", "<="
	}
	if stored.Set && lanes.Equal(lanes.Merge(v.Op, stored, candidate), stored) {
		e.Guards = append(e.Guards, Guard{Operand: o, Sign: within})
		return false
	}
	e.Sets = append(e.Sets, Assignment{Operand: o})
	e.Guards = append(e.Guards, Guard{o, beyond, true})
	return true
}

// Mark moves the lane's mark, on condition that it is below the first record.
func (e *Edit) Mark(lane lanes.LaneID, d *lanes.Delta) {
	name, first := lane.MarkAttribute(), d.First.Bytes()
	e.Sets = append(e.Sets, Assignment{Operand: Operand{name, SlotNone, ":mark", Binary(d.Last[:])}})
	e.Guards = append(e.Guards, Guard{Operand{name, SlotNone, ":first", Binary(first[:])}, "<", true})
}

// maxPrunes bounds what one update removes, so that its expression stays far below 4 KB.
const maxPrunes = 12

// Prune removes marks of lanes that are long gone. It removes each only if it still has the value
// that was seen.
func (e *Edit) Prune(seen *Observation, own string, first time.Time) {
	marks := seen.prunable(own, first)
	for i, m := range marks[:min(len(marks), maxPrunes)] {
		e.Removes = append(e.Removes, m.Name)
		e.Guards = append(e.Guards, Guard{Operand: Operand{m.Name, SlotNone, ":p" + strconv.Itoa(i), Binary(m.mark[:])}, Sign: "="})
	}
}

// Expiry sets the aggregate item's own expiry with every update. So if an update creates an item
// again that time to live has removed, the new item has expired from the start.
func (e *Edit) Expiry(at int64) {
	if at != 0 {
		e.Sets = append(e.Sets, Assignment{Operand: Operand{"expiresAt", slotExpiry, ":expiresAt", Integer(at)}})
	}
}

// Flag records on the item why its values are no longer proven. A reason that is there stays.
func (e *Edit) Flag(at time.Time, reason string) {
	e.Sets = append(e.Sets, Assignment{Operand{"flag", slotFlag, ":flag", Text(FlagText(at, reason))}, true})
}

// Refused records that an update was refused. It takes the place of a flag that says less: a person
// who mends the total or accepts its flag must notice that it lacks something.
func (e *Edit) Refused(at time.Time, cause error) {
	e.Sets = append(e.Sets,
		Assignment{Operand: Operand{"flag", slotFlag, ":flag",
			Text(FlagText(at, "an update was refused and is in quarantine: "+cause.Error()))}})
}

// Update returns the edit of an item as transactions take it. It gives each attribute and value a
// placeholder, because attribute names may hold characters and words that expressions may not.
func (e *Edit) Update(table *string, key event.Key) types.Update {
	x := placeholders{names: map[string]string{}, values: Image{}}
	clauses := x.clauses(e)
	u := types.Update{TableName: table, Key: KeyImage(key), UpdateExpression: &clauses,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values}
	if conditions := x.conditions(e.Guards); conditions != "" {
		u.ConditionExpression = &conditions
	}
	return u
}

// Request returns an update of a transaction as a request of its own.
func Request(u types.Update) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression,
		ConditionExpression: u.ConditionExpression, ExpressionAttributeNames: u.ExpressionAttributeNames,
		ExpressionAttributeValues: u.ExpressionAttributeValues}
}

// placeholders belong to an expression under construction.
type placeholders struct {
	names  map[string]string
	values Image
	known  []string // the attributes that have a placeholder, in its order
}

func (x *placeholders) name(attribute string) string {
	i := slices.Index(x.known, attribute)
	if i < 0 {
		i, x.known = len(x.known), append(x.known, attribute)
		x.names["#n"+strconv.Itoa(i)] = attribute
	}
	return "#n" + strconv.Itoa(i)
}

func (x *placeholders) value(o Operand) string {
	x.values[o.Placeholder] = o.Value
	return o.Placeholder
}

// clauses returns what the edit writes.
func (x *placeholders) clauses(e *Edit) string {
	var b []byte
	clause := func(word string, i int) {
		switch {
		case i > 0:
			b = append(b, ", "...)
		case len(b) > 0:
			b = append(append(b, ' '), word...)
		default:
			b = append(b, word...)
		}
	}
	for i, a := range e.adds {
		clause("ADD ", i)
		b = append(append(append(b, x.name(a.Name)...), ' '), x.value(a)...)
	}
	for i, s := range e.Sets {
		clause("SET ", i)
		n, v := x.name(s.Name), x.value(s.Operand)
		if s.first {
			v = "if_not_exists(" + n + ", " + v + ")"
		}
		b = append(append(append(b, n...), " = "...), v...)
	}
	for i, attribute := range e.Removes {
		clause("REMOVE ", i)
		b = append(b, x.name(attribute)...)
	}
	return string(b)
}

// conditions returns what must be true for the edit to be written, or "" if nothing must.
func (x *placeholders) conditions(guards []Guard) string {
	var b []byte
	for i, g := range guards {
		if i > 0 {
			b = append(b, " AND "...)
		}
		n := x.name(g.Name)
		if g.Sign == "" {
			b = append(b, "attribute_not_exists("+n+")"...)
			continue
		}
		compared := n + " " + g.Sign + " " + x.value(g.Operand)
		if g.OrMissing {
			compared = "(attribute_not_exists(" + n + ") OR " + compared + ")"
		}
		b = append(b, compared...)
	}
	return string(b)
}
