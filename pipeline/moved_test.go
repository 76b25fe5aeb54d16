package pipeline_test

import (
	"strings"
	"testing"
)

const movedFile = `ingot: 1
epoch: 3
type: "{type}"
events:
  received:
    id: "{id}"
    at: "{at}"
    key: {pk: "IN#{id}", sk: IN}
  reserved:
    id: "{id}"
    at: "{at}"
    key: {pk: "OUT#{id}", sk: OUT}
aggregates:
  stock:
    since: 2
    by: {sku: "{sku}"}
    movedBy: put
    atLeast: {available: 0}
    from:
      received: {values: {available: sum quantity}}
      reserved: {values: {available: sum -quantity, reservations: count}, where: quantity > 0}
`

func TestMistakesOfMovedBy(t *testing.T) {
	for old, c := range map[string]struct{ now, want string }{
		"movedBy: put":                  {"movedBy: puts", `p.yaml:17:14: unknown movedBy puts; write put instead`},
		"    movedBy: put\n":            {"", `p.yaml:17:5: atLeast is a condition of the transaction that puts an event, and these totals are moved by the stream; write movedBy: put beside it instead`},
		"    since: 2\n":                {"    since: 2\n    spread: 2\n", `p.yaml:19:5: spread is 2, and a floor needs a total that is one item; write spread: 1 beside it, or leave atLeast out, instead`},
		"    by: {sku":                  {"    onExpire: subtract\n    by: {sku", `p.yaml:19:5: onExpire is subtract, so what expires could bring the total below its floor; write onExpire: keep beside it, or leave atLeast out, instead`},
		"{available: 0}":                {"{avalable: 0}", `p.yaml:18:15: there is no value avalable in stock; write available instead`},
		"atLeast: {available: 0}":       {"atLeast: 0", `p.yaml:18:14: atLeast is a number, not a mapping; write {available: 0} instead`},
		"available: 0}":                 {"available: none}", `p.yaml:18:26: available is none, which is not a plain number; write a number such as 0 or -100.5 instead`},
		"available: 0":                  {"available: [0]", `p.yaml:18:26: available is a list, not a number; write a number such as 0 or -100.5 instead`},
		" 0}":                           {" 1e400}", `p.yaml:18:26: available has more than the 38 digits or the exponent that a table can hold; write a number such as 0 or -100.5 instead`},
		"reservations: count":           {"reservations: max quantity", `p.yaml:21:67: reservations is a max, and a total that is movedBy: put has only counts and sums; write count or sum, or movedBy: stream, instead`},
		"    key: {pk: \"IN#{id}\", sk": {"    mode: latest\n    revision: v number\n    key: {pk: \"IN#{id}\", sk", `p.yaml:22:7: mode of received is latest, and a total that is movedBy: put counts only events that never change; write movedBy: stream, or mode: insert for received, instead`},
	} {
		_, err := loadText(strings.Replace(movedFile, old, c.now, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s for %s: got  %v\nwant %s", c.now, old, err, c.want)
		}
	}
}
