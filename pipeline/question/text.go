package question

import (
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// padsNumbers puts numbers in order that have up to twelve digits.
const padsNumbers = "pad:12"

// Sorter returns the function that brings texts like this one into the order of what they say, if
// the texts as they stand may be in another order: pad for numbers, time or rfc2822 for times.
// never reports whether that is so even if they all have one length. For every other text, Sorter
// returns "".
func Sorter(text string) (function string, never bool) {
	if _, err := event.ParseDecimal(text); err == nil {
		return padsNumbers, text[0] == '-'
	}
	if _, err := time.Parse(time.RFC1123Z, text); err == nil {
		return "rfc2822", true
	}
	if _, err := keys.ParseTime(text); err == nil {
		return "time", !strings.HasSuffix(text, "Z")
	}
	return "", false
}

// Bare reports whether the slot has its values as they stand in the payload, or with nothing done
// to them that would change their order.
func Bare(s *pattern.Slot) bool {
	return s.Kind == pattern.SlotValue && unordered(s) == "" && !s.Part.Applies(func(f keys.Function) bool { return f.Pads || f.Hash })
}

// Padded shows the slot's variable with pad, if it is a number that is not padded. It is empty for
// every other slot.
func Padded(s *pattern.Slot) string {
	if unordered(s) == "" || s.Kind != pattern.SlotTime && !quoted(s) {
		return ""
	}
	return ordered(s)
}

// quoted reports whether the slot has the normal form of a number.
func quoted(s *pattern.Slot) bool {
	return s.Kind == pattern.SlotValue && slices.ContainsFunc(s.Part.Funcs, func(f keys.Func) bool {
		return f.Function().TakesNumber() && !f.Function().Pads
	})
}
