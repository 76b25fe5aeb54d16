package aggregate

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Sketch is what a [Distinct] value keeps: a HyperLogLog with 4,096 registers, from which the
// number of different values can be estimated. Each value has one register, the first 12 bits of
// its hash, and a rank, which is 1 plus the number of zeros that the other 52 bits begin with. A
// register holds the greatest rank that it has met. The zero Sketch has met no value.
//
// The hash is the first 8 bytes of the SHA-256 of the value's canonical JSON. It has no secret, so
// that every program finds the same registers, and totals need no second key beside that of their
// by. A sketch holds no value. But a person who can read a total with few values can test whether a
// guessed value may be among them.
type Sketch struct {
	ranks [registers]uint8
}

const (
	registerBits = 12
	registers    = 1 << registerBits
	mostRank     = 64 - registerBits + 1

	sparse = 1 // three bytes for each register that is not 0: its number in two, and its rank
	dense  = 2 // six bits for each register, in order, the first bit of each being the highest
	packed = registers * 6 / 8
)

// DistinctError is the standard error of [Sketch.Estimate], as a part of the estimate.
const DistinctError = 0.0163 // 1.04 / sqrt(4096)

// DistinctText returns the text of a sketch that has met one value, given as canonical JSON.
func DistinctText(json []byte) string {
	sum := sha256.Sum256(json)
	hash := binary.BigEndian.Uint64(sum[:8])
	rank := min(mostRank, 1+bits.LeadingZeros64(hash<<registerBits))
	register := hash >> (64 - registerBits)
	return string([]byte{sparse, byte(register >> 8), byte(register), byte(rank)})
}

// errSketch says that bytes are not what [Sketch.Text] writes.
var errSketch = errors.New("these bytes are not a sketch")

// Merge adds everything that the sketch of the text has met to s. An empty text is a sketch that
// has met nothing. If Merge returns an error, s does not change.
func (s *Sketch) Merge(text string) error {
	if text == "" {
		return nil
	}
	body := text[1:]
	switch text[0] {
	case sparse:
		if len(body) == 0 || len(body)%3 != 0 || len(body) >= packed {
			return errSketch
		}
		before := -1
		for i := 0; i < len(body); i += 3 {
			register := int(body[i])<<8 | int(body[i+1])
			if register <= before || register >= registers || body[i+2] == 0 || body[i+2] > mostRank {
				return errSketch
			}
			before = register
		}
		for i := 0; i < len(body); i += 3 {
			s.meet(int(body[i])<<8|int(body[i+1]), body[i+2])
		}
	case dense:
		if len(body) != packed {
			return errSketch
		}
		for i := range registers {
			if rankAt(body, i) > mostRank {
				return errSketch
			}
		}
		for i := range registers {
			s.meet(i, rankAt(body, i))
		}
	default:
		return errSketch
	}
	return nil
}

func (s *Sketch) meet(register int, rank uint8) {
	s.ranks[register] = max(s.ranks[register], rank)
}

// rankAt returns the six bits of a register in the dense form.
func rankAt(body string, register int) uint8 {
	at := register * 6
	two := uint16(body[at/8]) << 8
	if at/8+1 < len(body) {
		two |= uint16(body[at/8+1])
	}
	return uint8(two>>(10-at%8)) & 63
}

// Text returns the stored form. Each sketch has exactly one form. It is the sparse one if that is
// shorter. The text of a sketch that has met nothing is empty.
func (s *Sketch) Text() string {
	met := 0
	for _, rank := range s.ranks {
		if rank > 0 {
			met++
		}
	}
	switch {
	case met == 0:
		return ""
	case met*3 < packed:
		text := append(make([]byte, 0, 1+met*3), sparse)
		for register, rank := range s.ranks {
			if rank > 0 {
				text = append(text, byte(register>>8), byte(register), rank)
			}
		}
		return string(text)
	}
	text := make([]byte, 1+packed)
	text[0] = dense
	for register, rank := range s.ranks {
		at := register * 6
		two := uint16(rank) << (10 - at%8)
		text[1+at/8] |= byte(two >> 8)
		if low := byte(two); low != 0 {
			text[2+at/8] |= low
		}
	}
	return string(text)
}

// Estimate returns about how many different values the sketch has met: see [DistinctError]. It is
// the improved estimator of Ertl (2017), which needs no correction for small or large numbers.
func (s *Sketch) Estimate() int64 {
	var count [mostRank + 1]float64
	for _, rank := range s.ranks {
		count[rank]++
	}
	if count[0] == registers {
		return 0
	}
	z := registers * tau(1-count[mostRank]/registers)
	for rank := mostRank - 1; rank >= 1; rank-- {
		z = (z + count[rank]) / 2
	}
	z += registers * sigma(count[0]/registers)
	return int64(math.Round(registers * registers / (2 * math.Ln2 * z)))
}

func sigma(x float64) float64 {
	sum := x
	for y := 1.0; ; y += y {
		x *= x
		before := sum
		if sum += x * y; sum == before {
			return sum
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	sum := 1 - x
	for y := 0.5; ; y /= 2 {
		x = math.Sqrt(x)
		before := sum
		if sum -= (1 - x) * (1 - x) * y; sum == before {
			return sum / 3
		}
	}
}
