package aggregate

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/keys"
)

// MaxDated is how many bytes of JSON a [Newest] or [Oldest] value may have.
const MaxDated = 1 << 10

// Dated is what a [Newest] or [Oldest] value keeps: a scalar, and the time of its event.
type Dated struct {
	At   time.Time
	JSON string // a string, number or boolean, in canonical form
}

// tieDigits is the length of the tie in hex digits.
const tieDigits = 32

// timeLength is the length of a stored time.
const timeLength = len("2006-01-02T15:04:05.000000000Z")

// DatedText returns the text of a dated value of the event with this key. The byte order of such
// texts is the order of their times. If two times are equal, a hash of the key decides: the tie. It
// is the first 16 bytes, in hex, of the SHA-256 over PK and SK, each preceded by its length in four
// bytes, big-endian. Time, tie and JSON are separated by blanks.
func DatedText(d Dated, key event.Key) string {
	framed := make([]byte, 0, 128)
	for _, part := range []string{key.PK, key.SK} {
		framed = append(binary.BigEndian.AppendUint32(framed, uint32(len(part))), part...)
	}
	sum := sha256.Sum256(framed)
	return keys.FormatTime(d.At) + " " + hex.EncodeToString(sum[:tieDigits/2]) + " " + d.JSON
}

// ParseDated reads what [DatedText] writes.
func ParseDated(text string) (Dated, error) {
	const data = timeLength + 1 + tieDigits + 1
	if len(text) <= data || text[timeLength] != ' ' || text[data-1] != ' ' {
		return Dated{}, fmt.Errorf("%q is not a dated value", excerpt.Of(text, 60))
	}
	at, err := keys.ParseTime(text[:timeLength])
	if err != nil {
		return Dated{}, fmt.Errorf("%q is not a dated value: %w", excerpt.Of(text, 60), err)
	}
	return Dated{At: at, JSON: text[data:]}, nil
}
