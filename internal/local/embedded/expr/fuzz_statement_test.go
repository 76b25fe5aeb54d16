package expr

import (
	"errors"
	"reflect"
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
		`INSERT INTO "t" VALUE {'PK': ?, 'SK': ?}`, `insert into t value{'it''s':?,'"':?}`, `INSERT INTO "a""b" VALUE {'x': ?}`, `INSERT INTO t VALUE {'PK': 'literal'}`,
		`INSERT INTO t VALUE {'PK': ?, 'PK': ?}`, `SELECT * FROM t`, `INSERT INTO t VALUE {'PK': ?} -- x`, `INSERT INTO "" VALUE {'': ?}`, "INSERT\nINTO\tt VALUE ?",
		`UPDATE "t" SET "a" = a + ?, "m:L" = ? REMOVE "m:X" WHERE PK = ? AND SK = ? AND ("m:L" IS MISSING OR "m:L" < ?)`,
		`update t remove "it""s" set a=a-? set b=? where (a>=? or b<=? and c is not missing) and PK=? and SK=? and d<>? and e>?`,
		`UPDATE t SET a = ? WHERE PK = ? OR SK = ?`, `UPDATE t SET count = ? WHERE PK = ?`, `UPDATE t SET a = ? + a WHERE PK = ?`, `UPDATE t SET a.b = ? WHERE PK = ?`,
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
		names[i] = "'" + strings.ReplaceAll(name, "'", "''") + "': ?"
	}
	return `INSERT INTO ` + quote(in.Table) + ` VALUE {` + strings.Join(names, ", ") + "}"
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func writeUpdate(u *UpdateStatement) string {
	b := "UPDATE " + quote(u.Table)
	for _, a := range u.Update.actions {
		switch path := quote(a.path[1:]); {
		case a.kind == updateRemove:
			b += " REMOVE " + path
		case a.sign == 0:
			b += " SET " + path + " = ?"
		default:
			b += " SET " + path + " = " + quote(a.term.text[1:]) + " " + string(a.sign) + " ?"
		}
	}
	return b + " WHERE " + writeCondition(u.Where.root)
}

func writeCondition(n *node) string {
	switch n.op {
	case opAnd, opOr:
		parts := make([]string, len(n.children))
		for i, child := range n.children {
			parts[i] = writeCondition(child)
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
	return quote(n.operands[0].text[1:]) + " " + n.sign + " ?"
}

func checkInsert(t *testing.T, src string, in *Insert) {
	parameters := make([]types.AttributeValue, len(in.names))
	for i := range parameters {
		parameters[i] = str(in.names[i])
	}
	attributes, err := in.Item(parameters)
	if err != nil || len(attributes) != len(in.names) {
		t.Fatalf("%q makes %v, %v", src, attributes, err)
	}
	for name, v := range attributes {
		if v.(*types.AttributeValueMemberS).Value != name {
			t.Fatalf("%q gives %s another's value", src, name)
		}
	}
	if _, err := in.Item(parameters[1:]); err == nil {
		t.Fatalf("%q takes one parameter too few", src)
	}
}

// checkUpdate binds a statement that has a whole key, first with the parameters of the key and then
// with one too few.
func checkUpdate(t *testing.T, src string, u *UpdateStatement) {
	keys := []string{"PK", "SK"}
	parameters := make([]types.AttributeValue, u.parameters)
	for i := range parameters {
		parameters[i] = str("other")
	}
	pk, isPK := u.equal["PK"]
	sk, isSK := u.equal["SK"]
	if isPK && isSK {
		parameters[pk], parameters[sk] = str("partition"), str("sort")
	}
	k, _, err := u.Bind(keys, parameters)
	switch {
	case err == nil && (!isPK || !isSK):
		t.Fatalf("%q has no key and is taken", src)
	case err == nil && (!value.Equal(k["PK"], str("partition")) || !value.Equal(k["SK"], str("sort"))):
		t.Fatalf("%q writes %v", src, k)
	case err == nil && len(parameters) > 0:
		if _, _, err := u.Bind(keys, parameters[1:]); err == nil {
			t.Fatalf("%q takes one parameter too few", src)
		}
	}
}
