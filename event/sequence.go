package event

import (
	"bytes"
	"fmt"
)

// Sequence is a stream's sequence number: 21 to 40 decimal digits (DynamoDB Streams API reference).
// It is compared as a number, never as text. The zero value is not a sequence number, and is below
// every other.
type Sequence struct {
	text   string
	number [sequenceBytes]byte
}

// sequenceBytes is the width of a sequence number as a big-endian integer: 10^40 needs 133 bits.
const sequenceBytes = 17

// ParseSequence reads a sequence number as the stream writes it.
func ParseSequence(text string) (Sequence, error) {
	if len(text) < 21 || len(text) > 40 {
		return Sequence{}, fmt.Errorf("sequence number %q: has %d characters, not 21 to 40 digits", text, len(text))
	}
	s := Sequence{text: text}
	for i := range len(text) {
		d := text[i]
		if d < '0' || d > '9' {
			return Sequence{}, fmt.Errorf("sequence number %q: character %d is not a digit", text, i+1)
		}
		carry := uint16(d - '0')
		for j := sequenceBytes - 1; j >= 0; j-- {
			carry += uint16(s.number[j]) * 10
			s.number[j] = byte(carry)
			carry >>= 8
		}
	}
	return s, nil
}

// String returns the text as the stream wrote it. A batch item failure must repeat this text
// exactly.
func (s Sequence) String() string { return s.text }

// IsZero reports whether s is the zero Sequence.
func (s Sequence) IsZero() bool { return s.text == "" }

// Bytes returns the number as a big-endian integer: byte order is number order.
func (s Sequence) Bytes() [17]byte { return s.number }

// Compare orders sequence numbers by their value.
func (s Sequence) Compare(other Sequence) int { return bytes.Compare(s.number[:], other.number[:]) }
