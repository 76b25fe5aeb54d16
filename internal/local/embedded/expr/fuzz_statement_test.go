package expr

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// FuzzStatement parses PartiQL statements. If a statement can be parsed, the test writes it again
// as text and parses that text.
func FuzzStatement(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{
		`INSERT INTO "t" VALUE {'PK': ?, 'SK': ?}`, `insert into t value{'it''s':?,'"':?}`, `INSERT INTO "a""b" VALUE {'x': ?}`,
		`INSERT INTO t VALUE {'PK': 'literal'}`,
		`INSERT INTO t VALUE {'PK': ?, 'PK': ?}`, `SELECT * FROM t`, `INSERT INTO t VALUE {'PK': ?} -- x`, `INSERT INTO "" VALUE {'': ?}`,
		"INSERT\nINTO\tt VALUE ?",
		`UPDATE "t" SET "a" = a + ?, "m:L" = ? REMOVE "m:X" WHERE PK = ? AND SK = ? AND ("m:L" IS MISSING OR "m:L" < ?)`,
		`update t remove "it""s" set a=a-? set b=? where (a>=? or b<=? and c is not missing) and PK=? and SK=? and d<>? and e>?`,
		`UPDATE t SET a = ? WHERE PK = ? OR SK = ?`, `UPDATE t SET count = ? WHERE PK = ?`, `UPDATE t SET a = ? + a WHERE PK = ?`,
		`UPDATE t SET a.b = ? WHERE PK = ?`,
		`UPDATE t SET data = 'it''s', b = -1.5e3, c = b - 2, d = c WHERE 'p' = PK AND SK = '' AND TRUE <> e AND 5 < f`,
		`INSERT INTO t VALUE {'a': 'x', 'b': 1, 'c': true, 'd': Null, 'e': ?}`,
		`INSERT INTO t VALUE {'a': [1]}`, `UPDATE t SET a = 5x WHERE PK = 1e99999999`, `UPDATE t SET a = ? * 2 WHERE PK = ?`,
		`UPDATE t SET a = 'x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		parsed, err := parseStatement("ExecuteStatement", src)
		if err != nil {
			var bad *Malformed
			var unknown *api.UnsupportedError
			if !errors.As(err, &bad) && !errors.As(err, &unknown) {
				t.Fatalf("%q: %T %v", src, err, err)
			}
			return
		}
		var written string
		if parsed.Insert != nil {
			written = writeInsert(parsed.Insert)
		} else {
			written = writeUpdate(parsed.Update)
		}
		if again, err := parseStatement("ExecuteStatement", written); err != nil || !reflect.DeepEqual(again, parsed) {
			t.Fatalf("%q, written %q, is read back as %+v, %v", src, written, again, err)
		}
		if parsed.Insert != nil {
			checkInsert(t, src, parsed.Insert)
		} else {
			checkUpdate(t, src, parsed.Update)
		}
	})
}

func writeInsert(in *Insert) string {
	names := make([]string, len(in.names))
	for i, name := range in.names {
		names[i] = "'" + strings.ReplaceAll(name, "'", "''") + "': " + writeValue(in.slots[i])
	}
	return `INSERT INTO ` + quote(in.Table) + ` VALUE {` + strings.Join(names, ", ") + "}"
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func writeValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "'" + strings.ReplaceAll(v.Value, "'", "''") + "'"
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return strings.ToUpper(strconv.FormatBool(v.Value))
	case *types.AttributeValueMemberNULL:
		return "NULL"
	}
	return "?"
}

func (u *UpdateStatement) write(o operand) string {
	if !o.value {
		return quote(o.text[1:])
	}
	slot, _ := strconv.Atoi(o.text[1:])
	return writeValue(u.slots[slot])
}

func writeUpdate(u *UpdateStatement) string {
	b := "UPDATE " + quote(u.Table)
	for _, a := range u.Update.actions {
		switch path := quote(a.path[1:]); {
		case a.kind == updateRemove:
			b += " REMOVE " + path
		case a.sign == 0:
			b += " SET " + path + " = " + u.write(a.term.operand)
		default:
			b += " SET " + path + " = " + u.write(a.term.operand) + " " + string(a.sign) + " " + u.write(a.plus.operand)
		}
	}
	return b + " WHERE " + u.writeCondition(u.Where.root)
}

func (u *UpdateStatement) writeCondition(n *node) string {
	switch n.op {
	case opAnd, opOr:
		parts := make([]string, len(n.children))
		for i, child := range n.children {
			parts[i] = u.writeCondition(child)
			if child.op == opOr || child.op == n.op { // AND in AND had parentheses too
				parts[i] = "(" + parts[i] + ")"
			}
		}
		return strings.Join(parts, " "+n.sign+" ")
	case opNotExists:
		return quote(n.operands[0].text[1:]) + " IS MISSING"
	case opExists:
		return quote(n.operands[0].text[1:]) + " IS NOT MISSING"
	}
	return quote(n.operands[0].text[1:]) + " " + n.sign + " " + u.write(n.operands[1])
}

// given returns a parameter for each ? among the slots.
func (s slots) given() []types.AttributeValue {
	var out []types.AttributeValue
	for i, v := range s {
		if v == nil {
			out = append(out, str(strconv.Itoa(i)))
		}
	}
	return out
}

func checkInsert(t *testing.T, src string, in *Insert) {
	parameters := in.slots.given()
	attributes, err := in.Item(parameters)
	if err != nil { // a number in the text may be out of range
		return
	}
	if len(attributes) != len(in.names) {
		t.Fatalf("%q makes %v", src, attributes)
	}
	for i, name := range in.names {
		want := in.slots[i]
		if want == nil {
			want = str(strconv.Itoa(i))
		}
		if !value.Equal(attributes[name], want) {
			t.Fatalf("%q gives %s another's value", src, name)
		}
	}
	if len(parameters) > 0 {
		if _, err := in.Item(parameters[1:]); err == nil {
			t.Fatalf("%q takes one parameter too few", src)
		}
	}
}

// checkUpdate binds a statement with its parameters, and then with one too few.
func checkUpdate(t *testing.T, src string, u *UpdateStatement) {
	parameters := u.slots.given()
	k, _, err := u.Bind([]string{"PK", "SK"}, parameters)
	if err != nil {
		return
	}
	for _, name := range []string{"PK", "SK"} {
		slot, is := u.equal[name]
		if !is {
			t.Fatalf("%q has no key and is taken", src)
		}
		want := u.slots[slot]
		if want == nil {
			want = str(strconv.Itoa(slot))
		}
		if !value.Equal(k[name], want) {
			t.Fatalf("%q writes %v", src, k)
		}
	}
	if len(parameters) > 0 {
		if _, _, err := u.Bind([]string{"PK", "SK"}, parameters[1:]); err == nil {
			t.Fatalf("%q takes one parameter too few", src)
		}
	}
}
