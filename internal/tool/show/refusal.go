package show

import (
	"errors"

	"github.com/ingot-events/ingot/event"
)

// Refusal says what is wrong with the fields. It leaves out the verdict, which is for events.
func Refusal(err error) string {
	var refusal *event.Refusal
	if errors.As(err, &refusal) {
		return refusal.Detail
	}
	return err.Error()
}
