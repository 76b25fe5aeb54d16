package scenario

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// statement describes what a PartiQL statement asks for: the key of the event that it inserts, or
// what it adds to a total and sets in it.
func (w *world) statement(s types.BatchStatementRequest) string {
	partiql := aws.ToString(s.Statement)
	e := &expression{names: w.names, values: attributes{}}
	switch {
	case !strings.Contains(partiql, `"`+totals+`"`):
		return parameter(s, "PK")
	case strings.HasPrefix(partiql, "INSERT"):
		return "INSERT " + w.insertion(partiql, s.Parameters, e)
	default:
		return "UPDATE " + w.change(partiql, s.Parameters, e)
	}
}

// insertion reads INSERT INTO "table" VALUE {'PK': ?, 'n': ?, …}.
func (w *world) insertion(partiql string, values []types.AttributeValue, e *expression) string {
	_, list, _ := strings.Cut(partiql, "{")
	for i, part := range strings.Split(strings.TrimSuffix(list, "}"), ", ") {
		name := strings.Trim(strings.TrimSuffix(part, ": ?"), "'")
		switch {
		case name == "PK" || name == "SK":
		case strings.HasPrefix(name, lanes.MarkPrefix):
			e.say("mark %s", e.names.mark(values[i].(*types.AttributeValueMemberB).Value))
		case name == "fp" || name == "fpx":
			e.add(name, text(values[i]))
		default:
			e.assign(name, values[i])
		}
	}
	return w.names.address(text(values[0]), text(values[1])) + ": " + strings.Join(e.said, ", ")
}

// change reads UPDATE "table" SET "n" = n + ?, "largest" = ? REMOVE "m:…" WHERE PK = ? AND SK = ?
// AND …
func (w *world) change(partiql string, values []types.AttributeValue, e *expression) string {
	sets, conditions, _ := strings.Cut(partiql, " WHERE PK = ? AND SK = ?")
	_, sets, _ = strings.Cut(sets, " SET ")
	parts := strings.Split(sets, " REMOVE ")
	assigned := strings.Split(parts[0], ", ")
	rest := values[len(assigned):]
	pk, sk, rest := text(rest[0]), text(rest[1]), rest[2:]
	missing := map[string]bool{}
	var stays []string
	for _, condition := range strings.Split(conditions, " AND ") {
		fields := strings.Fields(strings.Trim(condition, "()"))
		switch {
		case len(fields) == 0:
		case strings.HasPrefix(condition, "("): // the mark: ("m:…" IS MISSING OR "m:…" < ?)
			e.values[":first"], rest = rest[0], rest[1:]
		case strings.HasSuffix(condition, " IS MISSING"):
			missing[unquoted(fields[0])] = true
		case strings.HasSuffix(condition, "?"):
			stays, rest = append(stays, unquoted(fields[0])+" stays if "+fields[1]+" "+text(rest[0])), rest[1:]
		}
	}
	for i, part := range assigned {
		name, value, _ := strings.Cut(part, " = ")
		name = unquoted(name)
		if strings.HasSuffix(value, " + ?") {
			e.add(name, text(values[i]))
			continue
		}
		e.assign(name, values[i])
		if missing[name] {
			e.said[len(e.said)-1] += " if missing"
		}
	}
	for _, name := range parts[1:] {
		e.say("mark of %s pruned", e.names.lanes[unquoted(name)])
	}
	return w.names.address(pk, sk) + ": " + strings.Join(slices.Concat(e.said, stays), ", ")
}

func unquoted(name string) string { return strings.Trim(name, `"`) }
