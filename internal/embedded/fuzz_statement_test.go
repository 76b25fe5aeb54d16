package embedded

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// FuzzStatement writes every PartiQL statement that is understood anew, and reads it back.
func FuzzStatement(f *testing.F) {
	for _, seed := range []string{
		`INSERT INTO "t" VALUE {'PK': ?, 'SK': ?}`, `insert into t value{'it''s':?,'"':?}`, `INSERT INTO "a""b" VALUE {'x': ?}`, `INSERT INTO t VALUE {'PK': 'literal'}`,
		`INSERT INTO t VALUE {'PK': ?, 'PK': ?}`, `SELECT * FROM t`, `INSERT INTO t VALUE {'PK': ?} -- x`, `INSERT INTO "" VALUE {'': ?}`, "INSERT\nINTO\tt VALUE ?",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		in, err := parseInsert("ExecuteStatement", src)
		if err != nil {
			var bad *malformed
			var unknown *UnsupportedError
			if !errors.As(err, &bad) && !errors.As(err, &unknown) {
				t.Fatalf("%q: %T %v", src, err, err)
			}
			return
		}
		names := make([]string, len(in.names))
		for i, name := range in.names {
			names[i] = "'" + strings.ReplaceAll(name, "'", "''") + "': ?"
		}
		written := `INSERT INTO "` + strings.ReplaceAll(in.table, `"`, `""`) + `" VALUE {` + strings.Join(names, ", ") + "}"
		if again, err := parseInsert("ExecuteStatement", written); err != nil || !reflect.DeepEqual(again, in) {
			t.Fatalf("%q, written %q, is read back as %+v, %v", src, written, again, err)
		}
		parameters := make([]types.AttributeValue, len(in.names))
		for i := range parameters {
			parameters[i] = str(in.names[i])
		}
		attributes, err := in.item(parameters)
		if err != nil || len(attributes) != len(in.names) {
			t.Fatalf("%q makes %v, %v", src, attributes, err)
		}
		for name, v := range attributes {
			if v.(*types.AttributeValueMemberS).Value != name {
				t.Fatalf("%q gives %s another's value", src, name)
			}
		}
		if _, err := in.item(parameters[1:]); err == nil {
			t.Fatalf("%q takes one parameter too few", src)
		}
	})
}

// FuzzRedrive reads a queue's redrive policy.
func FuzzRedrive(f *testing.F) {
	for _, seed := range []string{`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:0:dlq","maxReceiveCount":5}`, `{"deadLetterTargetArn":"a","maxReceiveCount":"1000"}`,
		`{"deadLetterTargetArn":"a","maxReceiveCount":0}`, `{"maxReceiveCount":1}`, `{"deadLetterTargetArn":"a","maxReceiveCount":"\"1\""}`, `null`, `[]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		r, err := parseRedrive(value)
		if err != nil {
			return
		}
		var plain map[string]any
		if json.Unmarshal([]byte(value), &plain) != nil || r.target == "" || r.maximum < 1 || r.maximum > 1000 || r.describe != value {
			t.Fatalf("%q is read as %+v", value, r)
		}
	})
}
