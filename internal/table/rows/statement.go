package rows

import (
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// maxStatementText is the service's limit for the text of one statement, in characters.
const maxStatementText = 8192

// Statement returns the edit in PartiQL: an UPDATE if the item was seen, otherwise an INSERT. It
// returns false if the text is too long. Then the edit must go as an UpdateItem.
//
// PartiQL has no ADD, and it refuses a sum with an attribute that is missing. So the form depends
// on the last observation. If the attribute was there, the edit writes a sum. If not, it writes the
// first value, on condition that the attribute is still missing. A sum needs no condition, because
// the service refuses it if the attribute has gone.
func (e *Edit) Statement(table string, key event.Key, seen *Observation) (types.BatchStatementRequest, bool) {
	if seen.State != Present {
		return e.insert(table, key), true
	}
	var set, where StatementText
	size := len(e.adds) + len(e.Sets) + len(e.Guards)
	parameters, compared := make([]types.AttributeValue, 0, size+2), make([]types.AttributeValue, 0, len(e.Guards))
	set = append(make(StatementText, 0, 64+48*size), "UPDATE "...).Quoted(table)
	sets := 0
	assign := func(o Operand) {
		if sets++; sets == 1 {
			set = set.Add(" SET ")
		} else {
			set = set.Add(", ")
		}
		set = set.Quoted(o.Name).Add(" = ")
		parameters = append(parameters, o.Value)
	}
	for _, a := range e.adds {
		assign(a)
		if seen.Has(a.Slot) {
			set = set.named(a.Name).Add(" + ?")
			continue
		}
		set, where = set.Add("?"), where.Add(" AND ").Quoted(a.Name).Add(" IS MISSING")
	}
	for _, s := range e.Sets {
		switch {
		case !s.first:
		case seen.Has(s.Slot):
			where = where.Add(" AND ").Quoted(s.Name).Add(" IS NOT MISSING")
			continue
		default:
			where = where.Add(" AND ").Quoted(s.Name).Add(" IS MISSING")
		}
		assign(s.Operand)
		set = set.Add("?")
	}
	for _, name := range e.Removes {
		set = set.Add(" REMOVE ").Quoted(name)
	}
	for _, g := range e.Guards {
		if g.Sign == "" {
			where = where.Add(" AND ").Quoted(g.Name).Add(" IS MISSING")
			continue
		}
		compared = append(compared, g.Value)
		if g.OrMissing {
			where = where.Add(" AND (").Quoted(g.Name).Add(" IS MISSING OR ").Quoted(g.Name).Add(" ").Add(g.Sign).Add(" ?)")
			continue
		}
		where = where.Add(" AND ").Quoted(g.Name).Add(" ").Add(g.Sign).Add(" ?")
	}
	set = append(set.Add(" WHERE PK = ? AND SK = ?"), where...)
	parameters = append(append(parameters, Text(key.PK), Text(key.SK)), compared...)
	return request(set, parameters), utf8.RuneCount(set) <= maxStatementText
}

// insert returns the edit of an item that does not exist. What it adds and sets is the whole item.
// It needs no guards: the condition that the item does not exist is stronger.
func (e *Edit) insert(table string, key event.Key) types.BatchStatementRequest {
	parameters := make([]types.AttributeValue, 0, len(e.adds)+len(e.Sets)+2)
	b := append(make(StatementText, 0, 512), "INSERT INTO "...).Quoted(table).Add(" VALUE {'PK': ?, 'SK': ?")
	parameters = append(parameters, Text(key.PK), Text(key.SK))
	take := func(o Operand) {
		b = b.Add(", '").Add(strings.ReplaceAll(o.Name, "'", "''")).Add("': ?")
		parameters = append(parameters, o.Value)
	}
	for _, a := range e.adds {
		take(a)
	}
	for _, s := range e.Sets {
		take(s.Operand)
	}
	return request(b.Add("}"), parameters)
}
