package payloads

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestRoom(t *testing.T) {
	r := &Room{Size: 10}
	first, second, third := Share{Of: r}, Share{Of: r}, Share{Of: r}
	step := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Fatalf("%s: fits is %t; want %t", what, got, want)
		}
	}
	step("a payload larger than the empty room", first.Fits(25), true)
	step("another beside it", second.Fits(1), false)
	step("the larger one again, from a second request", first.Fits(25), true)
	step("the first one shrinks", first.Fits(6), true)
	step("one that fills the room", second.Fits(4), true)
	step("one byte more", third.Fits(1), false)
	step("the second one grows", second.Fits(5), false)
	step("what it had before is free", third.Fits(4), true)
	first.Leave()
	third.Leave()
	must.Equal(t, r.Used(), 0)
	step("a payload larger than the room, when everybody has left", second.Fits(11), true)
}
