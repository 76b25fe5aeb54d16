package explain

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// A message is explained with all the items that it yields, and what each of them adds.
func TestPartsAreExplained(t *testing.T) {
	const file = `ingot: 1
epoch: 1
type: "{type}"
events:
  order: {id: "{order}", at: "{at}", key: {pk: "ORDER#{order}", sk: "ORDER"}}
  line:
    part: {of: order, each: lines, with: [order]}
    id: "{order}#{line}"
    key: {pk: "ORDER#{order}", sk: "LINE#{line}"}
aggregates:
  sold: {since: 1, by: {sku: "{sku}"}, from: {line: {values: {pieces: sum quantity}}}}
`
	e := of(t, file)
	order := func(lines int) Message {
		list := make([]string, lines)
		for i := range list {
			list[i] = fmt.Sprintf(`{"line":%d,"sku":"a","quantity":3}`, i)
		}
		return body(`{"type":"order","order":"1","at":"2026-03-01T00:00:00Z","lines":[` + strings.Join(list, ",") + `]}`)
	}
	r := e.Explain([]Message{order(2)})
	x := r.Messages[0]
	if len(x.Parts) != 2 || x.Parts[1].Key.SK != "LINE#1" || x.Parts[1].Aggregates[0].Adds[0].Amount != "3" ||
		fmt.Sprintf("%x", sha256.Sum256([]byte(x.Parts[1].DigestText))) != x.Parts[1].Digest {
		t.Errorf("%+v", x.Parts)
	}
	single := r.Messages[0]
	both := of(t, strings.Replace(file, "order: {id", "order: {atomic: true, id", 1)).Explain([]Message{order(2)})
	if x := both.Messages[0]; !x.Atomic || x.Item.WriteUnits != 2*single.Item.WriteUnits ||
		x.Parts[1].Item.EachUnits != 2*single.Parts[1].Item.EachUnits || single.Atomic {
		t.Errorf("atomic: %+v", x)
	}
	must.Say(t, text(t, both), "part 2 of 2, put in one transaction with the whole")
	for lines, want := range map[int]string{2: "part 2 of 2, put once the whole is stored", 6: "part 6 of 6,",
		50: "\n45 more parts are put too; --output json lists them.\n"} {
		must.Say(t, text(t, e.Explain([]Message{order(lines)})), want)
	}
}
