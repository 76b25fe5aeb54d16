package tables

import (
	"errors"
	"fmt"
	"strings"
)

// StartError is returned by Store.Start if the aggregates table and the pipeline do not agree.
// Each mistake says where they differ, and what to do.
type StartError struct{ Mistakes []string }

// Error returns a line for each mistake, after one that says what was refused.
func (e *StartError) Error() string {
	return "start: refused, because pipeline.yaml and the aggregates table do not agree:\n  " + strings.Join(e.Mistakes, "\n  ")
}

// ErrOtherSecret is returned if the pipeline's secret of hmac is not the one that the tables were
// filled with.
var ErrOtherSecret = errors.New(
	"INGOT_PII_KEY is not the secret that the tables were filled with: under this one every event that is sent again " +
		"would be stored a second time, under another key. Give both functions, and every program that reads totals, the old secret " +
		"(parameter PiiKeySecretArn of template.yaml). If nothing was stored under the old secret, delete the item with PK K# and SK - " +
		"from the aggregates table")

// ErrPayloadLost says that a payload should be in the payload bucket and is not there, or is
// damaged. Asking again does not help. The item itself is still counted, because the table has the
// fields that totals need.
var ErrPayloadLost = errors.New("the payload is lost")

// HomeError is returned by a function that runs in another Region than the events table says.
type HomeError struct {
	Table      string // the events table
	Home, Here string // Regions
}

// Error says what to do.
func (e *HomeError) Error() string {
	return fmt.Sprintf("the home of the events table %s is %s, and this function runs in %s: two Regions could store two events "+
		"under one key, and count the same changes twice. Switch its mapping off here, or move the home with ingot region move",
		e.Table, e.Home, e.Here)
}
