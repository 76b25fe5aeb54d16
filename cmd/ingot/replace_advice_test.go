package main

import (
	"strings"
	"testing"
)

// adviceSpec is a pipeline whose events share keys, have parts, and claim coupons.
const adviceSpec = `ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    atomic: true
    id: "{id}"
    at: "{at}"
    key: {pk: "ORDER#{id}", sk: "-"}
  line:
    part: {of: order, each: lines, with: [id, at]}
    id: "{id}#{line}"
    key: {pk: "ORDER#{id}", sk: "LINE#{line}"}
  coupon:
    part: {of: order, each: coupons}
    id: "{code}"
    key: {pk: "COUPON#{code}", sk: "-"}
  note: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "-"}}
  stray: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "LINE#1"}}
aggregates:
  pieces: {since: 1, from: {line: {values: {pieces: sum pieces}}}}
`

// Somebody who does what the refusal of a replacement says, word by word, has the message stored in
// the end, and nothing of the other event.
func TestTheAdviceOfARefusedReplacementWorks(t *testing.T) {
	const stored = `{"type":"order","id":1,"at":"2026-03-01T09:00:00Z","lines":[{"line":1,"pieces":5}],"coupons":[{"code":"SPRING"}]}`
	const note, bare = `{"type":"note","id":1,"at":"2026-03-01T09:00:00Z"}`, `{"type":"order","id":1,"at":"2026-03-01T09:00:00Z","lines":[],"coupons":[]}`
	for name, c := range map[string]struct{ stored, message, refusal, get, pieces string }{
		"no lines": {stored, bare, "the stored event has parts",
			"order id=2", "pieces\n  all time       0"},
		"the same coupon": {stored, `{"type":"order","id":1,"at":"2026-03-01T09:00:00Z","lines":[{"line":1,"pieces":3}],"coupons":[{"code":"SPRING"}]}`,
			"the stored event has parts", "order id=2", "pieces\n  all time       3"},
		"another type": {stored, note, `the stored event has another type, "order"`, "note id=2",
			"pieces\n  all time       0"},
		"lines, and had none": {bare, stored, "its event has parts", "order id=2", "pieces\n  all time       5"},
		"another whole":       {note, stored, `the stored event has another type, "note"`, "order id=2", "pieces\n  all time       5"},
		"a part": {stored, `{"type":"stray","id":1,"at":"2026-03-01T09:00:00Z"}`, "a part of another event is stored under the key",
			"stray id=2",
			"pieces\n  all time       5"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDevWorldOf(t, adviceSpec)
			w.send(0, c.stored)
			w.send(1, c.message)
			id := w.pull()[0]
			w.run(exitDifference, "quarantine show letters --local", id)
			refused := w.run(exitRefused, "quarantine resend letters --replace --yes --local", id)
			if !strings.Contains(refused.out, c.refusal) {
				t.Fatalf("%s", refused.out)
			}
			for _, step := range []string{"another id (ingot quarantine edit --overwrite)", "send it again without --replace", "erase th"} {
				if !strings.Contains(refused.out, step) {
					t.Fatalf("%s\nhas no %q", refused.out, step)
				}
			}
			if strings.Contains(refused.out, "erase the stored event (ingot erase)") {
				w.run(0, "erase order id=1 --yes --local")
				w.run(exitDifference, "get order id=1 --local")
			} else {
				w.run(0, "get line id=1 line=1 --local") // it stays, as its whole does
			}
			w.run(0, "quarantine edit letters --overwrite --set id:=2", id)
			w.run(0, "quarantine resend letters --local", id)
			w.send(0)
			w.run(0, "get --local "+c.get)
			until(t, "the pieces are counted", func() bool {
				return strings.Contains(w.run(0, "totals pieces --local").out, c.pieces)
			})
			w.run(0, "verify --local").prints(t, "no difference")
		})
	}
}
