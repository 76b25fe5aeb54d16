package store

import (
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// maxStatementText is the service's limit for the text of one statement, in characters.
const maxStatementText = 8192

// statement returns the edit in PartiQL: an UPDATE if the item was seen, otherwise an INSERT. It
// returns false if the text is too long. Then the edit must go as an UpdateItem.
//
// PartiQL has no ADD, and it refuses a sum with an attribute that is missing. So the form depends
// on the last observation. If the attribute was there, the edit writes a sum. If not, it writes the
// first value, on condition that the attribute is still missing. A sum needs no condition, because
// the service refuses it if the attribute has gone.
func (e *edit) statement(table string, key event.Key, seen *observation) (types.BatchStatementRequest, bool) {
	if seen.state != present {
		return e.insert(table, key), true
	}
	var set, where statementText
	size := len(e.adds) + len(e.sets) + len(e.guards)
	parameters, compared := make([]types.AttributeValue, 0, size+2), make([]types.AttributeValue, 0, len(e.guards))
	set = append(make(statementText, 0, 64+48*size), "UPDATE "...).quoted(table)
	sets := 0
	assign := func(o operand) {
		if sets++; sets == 1 {
			set = set.add(" SET ")
		} else {
			set = set.add(", ")
		}
		set = set.quoted(o.name).add(" = ")
		parameters = append(parameters, o.value)
	}
	for _, a := range e.adds {
		assign(a)
		if seen.has(a.slot) {
			set = set.named(a.name).add(" + ?")
			continue
		}
		set, where = set.add("?"), where.add(" AND ").quoted(a.name).add(" IS MISSING")
	}
	for _, s := range e.sets {
		switch {
		case !s.first:
		case seen.has(s.slot):
			where = where.add(" AND ").quoted(s.name).add(" IS NOT MISSING")
			continue
		default:
			where = where.add(" AND ").quoted(s.name).add(" IS MISSING")
		}
		assign(s.operand)
		set = set.add("?")
	}
	for _, name := range e.removes {
		set = set.add(" REMOVE ").quoted(name)
	}
	for _, g := range e.guards {
		if g.sign == "" {
			where = where.add(" AND ").quoted(g.name).add(" IS MISSING")
			continue
		}
		compared = append(compared, g.value)
		if g.orMissing {
			where = where.add(" AND (").quoted(g.name).add(" IS MISSING OR ").quoted(g.name).add(" ").add(g.sign).add(" ?)")
			continue
		}
		where = where.add(" AND ").quoted(g.name).add(" ").add(g.sign).add(" ?")
	}
	set = append(set.add(" WHERE PK = ? AND SK = ?"), where...)
	parameters = append(append(parameters, text(key.PK), text(key.SK)), compared...)
	return request(set, parameters), utf8.RuneCount(set) <= maxStatementText
}

// insert returns the edit of an item that does not exist. What it adds and sets is the whole item.
// It needs no guards: the condition that the item does not exist is stronger.
func (e *edit) insert(table string, key event.Key) types.BatchStatementRequest {
	parameters := make([]types.AttributeValue, 0, len(e.adds)+len(e.sets)+2)
	b := append(make(statementText, 0, 512), "INSERT INTO "...).quoted(table).add(" VALUE {'PK': ?, 'SK': ?")
	parameters = append(parameters, text(key.PK), text(key.SK))
	take := func(o operand) {
		b = b.add(", '").add(strings.ReplaceAll(o.name, "'", "''")).add("': ?")
		parameters = append(parameters, o.value)
	}
	for _, a := range e.adds {
		take(a)
	}
	for _, s := range e.sets {
		take(s.operand)
	}
	return request(b.add("}"), parameters)
}
