package rowmap

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// The name of a row says its key, whatever that holds, and only a person writes another one.
func TestNames(t *testing.T) {
	names := []string{"a", "b"}
	for _, key := range []Row{
		{"a": &types.AttributeValueMemberS{Value: "x\"#é"}, "b": &types.AttributeValueMemberN{Value: "-1.5"}},
		{"a": &types.AttributeValueMemberB{Value: []byte{0, 1}}, "b": &types.AttributeValueMemberS{Value: ""}},
	} {
		if got := ParseName(NameOf(key, names)); !reflect.DeepEqual(got, key) {
			t.Errorf("%s is %v", NameOf(key, names), got)
		}
	}
	for _, one := range []string{"1.0", "100e-2"} { // as payloads spell it
		must.Equal(t, NameOf(Row{"a": &types.AttributeValueMemberN{Value: one}}, names[:1]), `{"a":{"N":"1"}}`, one)
	}
	for _, name := range []string{"", "x", `{"a":{"X":"1"}}`, `{"a":{"B":"?"}}`, `{"a":1}`} {
		if got := ParseName(name); got != nil {
			t.Errorf("%q is %v", name, got)
		}
	}
}
