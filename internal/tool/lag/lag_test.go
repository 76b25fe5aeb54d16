package lag

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/env"
)

// While the stream stands still, a command says at once for what it waits, and then every half
// minute.
func TestWaitingForTheStreamIsSaid(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var said strings.Builder
	clock := env.Env{Now: func() time.Time { return now }}
	lag := Told(lagFunc(func() (time.Time, error) {
		return time.Date(2026, 3, 1, 11, 58, 0, 0, time.UTC), nil
	}), 15*time.Minute, clock, &said)
	for range 13 { // a minute
		if _, err := lag.Counted(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(5 * time.Second)
	}
	want := `ingot: waiting up to 15m0s for the proof that the stream has counted everything that was written before 12:00:00; so far it is proven for what was written before 11:58:00
ingot: it is proven for what was written before 11:58:00; waiting for 14m30s more at most (ingot status shows whether the stream stands still)
ingot: it is proven for what was written before 11:58:00; waiting for 14m0s more at most (ingot status shows whether the stream stands still)
`
	if said.String() != want {
		t.Errorf("said:\n%s", &said)
	}
	said.Reset()
	quick := Told(lagFunc(func() (time.Time, error) { return now, nil }), time.Minute, clock, &said)
	if _, err := quick.Counted(t.Context()); err != nil || said.Len() > 0 {
		t.Errorf("%v\n%s", err, &said)
	}
}

// lagFunc is a lag that a test makes up.
type lagFunc func() (time.Time, error)

func (f lagFunc) Counted(context.Context) (time.Time, error) { return f() }
