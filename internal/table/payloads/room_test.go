package handler

import "testing"

func TestRoom(t *testing.T) {
	r := &room{size: 10}
	first, second, third := share{of: r}, share{of: r}, share{of: r}
	step := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Fatalf("%s: fits is %t; want %t", what, got, want)
		}
	}
	step("a payload larger than the empty room", first.fits(25), true)
	step("another beside it", second.fits(1), false)
	step("the larger one again, from a second request", first.fits(25), true)
	step("the first one shrinks", first.fits(6), true)
	step("one that fills the room", second.fits(4), true)
	step("one byte more", third.fits(1), false)
	step("the second one grows", second.fits(5), false)
	step("what it had before is free", third.fits(4), true)
	first.leave()
	third.leave()
	if r.used != 0 {
		t.Errorf("%d bytes are in use when everybody has left; want 0", r.used)
	}
	step("a payload larger than the room, when everybody has left", second.fits(11), true)
}
