package store

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// edit is one conditional update of an aggregate item: what it writes, and on which conditions. It
// does not say how it is sent. [edit.expression] writes it for UpdateItem, [edit.statement] for
// PartiQL.
type edit struct {
	adds    []operand    // numbers to add; a missing one counts as 0
	sets    []assignment // values to set
	removes []string     // attributes to remove
	guards  []guard      // conditions, all of which must hold
}

// operand is an attribute with a value for it, and the name that expressions give the value.
type operand struct {
	name        string
	slot        slot
	placeholder string
	value       types.AttributeValue
}

type assignment struct {
	operand
	first bool // set it only if the attribute is missing
}

// guard compares an attribute with a value. If the attribute is missing, the guard holds only if
// orMissing is set. Without a sign, it holds only if the attribute is missing.
type guard struct {
	operand
	sign      string
	orMissing bool
}

// fold adds the delta: values, n and fingerprint. It also writes a delta of zero, because the write
// is what moves the mark.
func (e *edit) fold(u *lanes.Update, d *lanes.Delta, seen *observation) {
	def := u.Def
	e.addNumber("n", slotN, ":n", integer(d.N))
	e.addNumber("fp", slotFP, ":fp", number(d.FP.String()))
	if !d.FPX.IsZero() {
		e.addNumber("fpx", slotFPX, ":fpx", number(d.FPX.String()))
	}
	for i, amount := range d.Values {
		if !amount.Set {
			continue
		}
		v := operand{def.Values[i].Name, slotOf(i), ":v" + strconv.Itoa(i), storedAmount(def.Values[i].Op, amount)}
		if def.Values[i].Op.Additive() {
			e.adds = append(e.adds, v)
			if def.Values[i].Name == def.Rank.Value {
				e.adds = append(e.adds, operand{lanes.ScoreAttribute, slotScore, ":score", v.value})
				e.place(u)
			}
			continue
		}
		if def.Values[i].Op == aggregate.Distinct {
			e.distinct(v, amount, seen.extreme(i), ":s"+strconv.Itoa(i))
			continue
		}
		if moved := e.extreme(def.Values[i], v, amount, seen.extreme(i)); moved && def.Values[i].Name == def.Rank.Value {
			e.sets = append(e.sets, assignment{operand: operand{lanes.ScoreAttribute, slotScore, ":score", v.value}})
			e.place(u)
		}
	}
	for i, b := range d.Buckets {
		e.histogram(def.Values[i].Name, i, b)
	}
	e.floors(u, d, seen)
	if d.Flag != "" {
		e.flag(d.Last.Created(), d.Flag)
	}
}

// floors flags a total that falls below its floor because an event was removed or corrected, which
// a floor does not prevent. Whether it falls depends on what is stored. As in [edit.extreme], the
// guess is part of the condition. An event that a touch pass adds never causes a flag: until the
// pass is over, the sum lacks other events.
func (e *edit) floors(u *lanes.Update, d *lanes.Delta, seen *observation) {
	if u.Def.AtLeast == nil || !slices.ContainsFunc(u.Steps, func(s lanes.Step) bool { return s.Minus != nil && !s.Closes }) {
		return
	}
	var fallen []string
	for i, floor := range u.Def.AtLeast {
		if !floor.Set || d.Values[i].Number.Sign() >= 0 {
			continue
		}
		need := floor.Number.Sub(d.Values[i].Number) // the least that must be stored
		o := operand{u.Def.Values[i].Name, slotNone, ":f" + strconv.Itoa(i), number(need.String())}
		if !need.Storable() { // it cannot be written into a comparison
			fallen = append(fallen, o.name)
			continue
		}
		if seen.floored(i).Cmp(need) >= 0 {
			e.guards = append(e.guards, guard{o, ">=", need.Sign() <= 0})
			continue
		}
		e.guards = append(e.guards, guard{o, "<", need.Sign() > 0})
		fallen = append(fallen, o.name)
	}
	if len(fallen) > 0 {
		e.flag(d.Last.Created(), "an event was removed or corrected, and that has brought "+strings.Join(fallen, ", ")+" below its floor")
	}
}

// place puts a ranked total into its partition of the index, where the copy of its value has moved.
// The place follows from the key, so it is the same every time.
func (e *edit) place(u *lanes.Update) {
	e.sets = append(e.sets, assignment{operand: operand{lanes.RankAttribute, slotRank, ":rank", text(lanes.RankOf(u.Def, u.Key))}})
}

// rankUnits returns what the index of ranked totals costs if the edit is carried out. For a new
// total, an entry is written. If the total's value has moved, the entry is removed and written
// again.
func (e *edit) rankUnits(u *lanes.Update, seen *observation) int {
	if u.Def.Rank.Value == "" {
		return 0
	}
	var score, rank operand
	for _, a := range e.adds {
		if a.slot == slotScore && (!seen.has(slotScore) || numberOf(a.value) != "0") {
			score = a
		}
	}
	for _, s := range e.sets {
		switch s.slot {
		case slotScore:
			score = s.operand
		case slotRank:
			rank = s.operand
		}
	}
	if score.slot != slotScore {
		return 0
	}
	entry := imageSize(keyImage(u.Key)) + len(rank.name) + valueSize(rank.value) + len(score.name) + valueSize(score.value)
	if seen.has(slotScore) {
		return 2 * itemform.WriteUnits(entry)
	}
	return itemform.WriteUnits(entry)
}

// distinct replaces a sketch with one that has also met the candidate's values, on condition that
// the stored sketch has not changed since it was read. If the stored sketch has met all of these
// values already, it stays, on the same condition.
func (e *edit) distinct(o operand, candidate, stored aggregate.Amount, placeholder string) {
	merged := lanes.Merge(aggregate.Distinct, stored, candidate)
	if merged.Text != stored.Text {
		o.value = storedAmount(aggregate.Distinct, merged)
		e.sets = append(e.sets, assignment{operand: o})
	}
	if !stored.Set {
		e.guards = append(e.guards, guard{operand: operand{name: o.name}})
		return
	}
	e.guards = append(e.guards, guard{operand: operand{o.name, slotNone, placeholder, storedAmount(aggregate.Distinct, stored)}, sign: "="})
}

// histogram adds to the buckets of one value.
func (e *edit) histogram(name string, value int, moved aggregate.Buckets) {
	for _, k := range slices.Sorted(maps.Keys(moved)) {
		if moved[k] != 0 {
			e.addNumber(bucketPrefix+name+":"+strconv.Itoa(k), bucketSlot(value, k), ":h"+strconv.Itoa(len(e.adds)), integer(moved[k]))
		}
	}
}

// storedAmount returns an amount as it is stored.
func storedAmount(o aggregate.Op, a aggregate.Amount) types.AttributeValue {
	if o == aggregate.Distinct {
		return binary([]byte(a.Text))
	}
	if o.Textual() {
		return text(a.Text)
	}
	return number(a.Number.String())
}

// amountOf reads what [storedAmount] writes. Another type of attribute is not an amount.
func amountOf(o aggregate.Op, v types.AttributeValue) aggregate.Amount {
	if o == aggregate.Distinct {
		stored := string(bytesOf(v))
		var s aggregate.Sketch
		if stored == "" || s.Merge(stored) != nil {
			return aggregate.Amount{}
		}
		return aggregate.Amount{Set: true, Text: stored}
	}
	if o.Textual() {
		stored := textOf(v)
		return aggregate.Amount{Set: stored != "", Text: stored}
	}
	n, err := event.ParseDecimal(numberOf(v))
	if err != nil {
		return aggregate.Amount{}
	}
	return aggregate.Amount{Set: true, Number: n}
}

func (e *edit) addNumber(attribute string, at slot, placeholder string, v types.AttributeValue) {
	e.adds = append(e.adds, operand{attribute, at, placeholder, v})
}

// extreme moves a value that only moves outwards: a min or max, or a newest or oldest. Which of the
// two forms is right depends on what is stored. The guess is part of the condition. So a wrong
// guess fails, and the image that comes back corrects it. extreme reports whether the value moves.
func (e *edit) extreme(v aggregate.Value, o operand, candidate, stored aggregate.Amount) (moves bool) {
	beyond, within := "<", ">="
	if v.Op == aggregate.Min || v.Op == aggregate.Oldest {
		beyond, within = ">", "<="
	}
	if stored.Set && lanes.Equal(lanes.Merge(v.Op, stored, candidate), stored) {
		e.guards = append(e.guards, guard{operand: o, sign: within})
		return false
	}
	e.sets = append(e.sets, assignment{operand: o})
	e.guards = append(e.guards, guard{o, beyond, true})
	return true
}

// mark moves the lane's mark, on condition that it is below the first record.
func (e *edit) mark(lane lanes.LaneID, d *lanes.Delta) {
	name, first := lane.MarkAttribute(), d.First.Bytes()
	e.sets = append(e.sets, assignment{operand: operand{name, slotNone, ":mark", binary(d.Last[:])}})
	e.guards = append(e.guards, guard{operand{name, slotNone, ":first", binary(first[:])}, "<", true})
}

// maxPrunes bounds what one update removes, so that its expression stays far below 4 KB.
const maxPrunes = 12

// prune removes marks of lanes that are long gone. It removes each only if it still has the value
// that was seen.
func (e *edit) prune(seen *observation, own string, first time.Time) {
	marks := seen.prunable(own, first)
	for i, m := range marks[:min(len(marks), maxPrunes)] {
		e.removes = append(e.removes, m.name)
		e.guards = append(e.guards, guard{operand: operand{m.name, slotNone, ":p" + strconv.Itoa(i), binary(m.mark[:])}, sign: "="})
	}
}

// expiry sets the aggregate item's own expiry with every update. So if an update creates an item
// again that time to live has removed, the new item has expired from the start.
func (e *edit) expiry(at int64) {
	if at != 0 {
		e.sets = append(e.sets, assignment{operand: operand{"expiresAt", slotExpiry, ":expiresAt", integer(at)}})
	}
}

// flag records on the item why its values are no longer proven. A reason that is there stays.
func (e *edit) flag(at time.Time, reason string) {
	e.sets = append(e.sets, assignment{operand{"flag", slotFlag, ":flag", text(flagText(at, reason))}, true})
}

// refused records that an update was refused. It takes the place of a flag that says less: whoever
// mends the total or accepts its flag must notice that it lacks something.
func (e *edit) refused(at time.Time, cause error) {
	e.sets = append(e.sets,
		assignment{operand: operand{"flag", slotFlag, ":flag",
			text(flagText(at, "an update was refused and is in quarantine: "+cause.Error()))}})
}

// expression is an edit as UpdateItem and transactions take it.
type expression struct {
	update    string
	condition *string // nil: none
	names     map[string]string
	values    image
}

// expression gives each attribute and value a placeholder, because attribute names may hold
// characters and words that expressions may not.
func (e *edit) expression() expression {
	x := expression{names: map[string]string{}, values: image{}}
	var known []string
	name := func(attribute string) string {
		i := slices.Index(known, attribute)
		if i < 0 {
			i, known = len(known), append(known, attribute)
			x.names["#n"+strconv.Itoa(i)] = attribute
		}
		return "#n" + strconv.Itoa(i)
	}
	value := func(o operand) string {
		x.values[o.placeholder] = o.value
		return o.placeholder
	}
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
		b = append(append(append(b, name(a.name)...), ' '), value(a)...)
	}
	for i, s := range e.sets {
		clause("SET ", i)
		n, v := name(s.name), value(s.operand)
		if s.first {
			v = "if_not_exists(" + n + ", " + v + ")"
		}
		b = append(append(append(b, n...), " = "...), v...)
	}
	for i, attribute := range e.removes {
		clause("REMOVE ", i)
		b = append(b, name(attribute)...)
	}
	x.update = string(b)
	var conditions []byte
	for i, g := range e.guards {
		if i > 0 {
			conditions = append(conditions, " AND "...)
		}
		n := name(g.name)
		if g.sign == "" {
			conditions = append(conditions, "attribute_not_exists("+n+")"...)
			continue
		}
		compared := n + " " + g.sign + " " + value(g.operand)
		if g.orMissing {
			compared = "(attribute_not_exists(" + n + ") OR " + compared + ")"
		}
		conditions = append(conditions, compared...)
	}
	if len(conditions) > 0 {
		condition := string(conditions)
		x.condition = &condition
	}
	return x
}
