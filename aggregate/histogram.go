package aggregate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// Buckets is what a [Histogram] value keeps: how many numbers fell into each bucket.
//
// Buckets have equal ratios, 47 to each power of ten, so that a number in the middle of a bucket is
// at most 2.5 % away from every number in it. Bucket 0 holds 0. Bucket k, from 1 to 1270, holds the
// sizes from 10^((k-1)/47-9) up to the beginning of the next bucket. If a number is in bucket k,
// the same number with a minus sign is in bucket -k. Numbers that can be summed have at most 9
// decimals and at most 10^18 in size, so no number is outside.
type Buckets map[int]int64

// Text returns the counts that are not 0 as text: bucket:count, in the order of the buckets, with
// commas between.
func (b Buckets) Text() string {
	var text []byte
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if b[k] == 0 {
			continue
		}
		if len(text) > 0 {
			text = append(text, ',')
		}
		text = append(strconv.AppendInt(text, int64(k), 10), ':')
		text = strconv.AppendInt(text, b[k], 10)
	}
	return string(text)
}

// Add adds sign times the counts of a text of [Buckets.Text].
func (b Buckets) Add(text string, sign int64) error {
	for text != "" {
		var one string
		one, text, _ = strings.Cut(text, ",")
		number, count, _ := strings.Cut(one, ":")
		k, err := ParseBucket(number)
		n, bad := strconv.ParseInt(count, 10, 64)
		if err != nil || bad != nil {
			return fmt.Errorf("%q is not a bucket and its count", excerpt.Of(one, 40))
		}
		b[k] += sign * n
	}
	return nil
}

// ParseBucket reads the number of a bucket in the one way in which it is written.
func ParseBucket(text string) (int, error) {
	k, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(k) != text || k < -LastBucket || k > LastBucket {
		return 0, fmt.Errorf("%q is not a bucket", excerpt.Of(text, 40))
	}
	return k, nil
}

// Count returns how many numbers the buckets hold.
func (b Buckets) Count() (n int64) {
	for _, count := range b {
		n += max(0, count)
	}
	return n
}

// BucketError is how far a quantile may be from the number that it stands for, as a part of that
// number.
const BucketError = 0.025

// Quantile returns a number that is at most [BucketError] away from the quantile q, from 0 (the
// least number) to 1 (the greatest): the first number in order such that at least q of all numbers
// are not above it. It returns false if there are no numbers.
func (b Buckets) Quantile(q float64) (event.Decimal, bool) {
	all := b.Count()
	if all == 0 {
		return event.Decimal{}, false
	}
	rank := max(1, min(all, int64(math.Ceil(q*float64(all)))))
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if rank -= max(0, b[k]); rank <= 0 {
			return middle(k), true
		}
	}
	return event.Decimal{}, false // cannot happen: the counts add up to all
}

const (
	perDecade  = 47
	firstPower = -9 // of ten, of the beginning of bucket 1
)

// LastBucket is the number of the bucket that holds 10^18.
const LastBucket = perDecade*(18-firstPower) + 1

// begins holds where the buckets of one power of ten begin: 10^(i/47), rounded up to 17 decimals,
// as integers. They are compared with the first 18 digits of a number, and what follows these is
// cut off. So a number with more digits may be in the bucket below if it is hardly greater than a
// beginning, by one part in 10^17.
var begins = [perDecade]uint64{
	100000000000000000, 105021107963666662, 110294331179161291, 115832328625471040, 121648394902585104,
	127756492146711474, 134171283547991176, 140908168551173138, 147983319823752935, 155413722080321698,
	163217212856327504, 171412525329131330, 180019333289154476, 189058298369075841, 198551119644458185,
	208520585724875396, 218990629460591482, 229986385396120991, 241534250108594721, 253661945575779923,
	266398585725877201, 279774746328854579, 293822538397100896, 308575685271605263, 324069603578716808,
	340341488251830737, 357430401822105045, 375377368192560509, 394225471120679490, 414019957645922342,
	434808346710451087, 456640543233816894, 479568957915460778, 503648633052627199, 528937374675730944,
	555495891318383437, 583387939755211890, 612680478057331699, 643443826332899352, 675751835538622044,
	709682064767475436, 745315967438229138, 782739086833749282, 822041261457490371, 863316840701158301,
	906664911341279586, 952189535408407850,
}

// Bucket returns the bucket of a number, which must be [event.Decimal.Summable]. It computes with
// integers alone, so every machine finds the same bucket.
func Bucket(d event.Decimal) int {
	if d.IsZero() {
		return 0
	}
	if d.Sign() < 0 {
		return -Bucket(d.Neg())
	}
	var room [64]byte
	text := d.AppendOrdered(room[:0]) // 3, three digits of the size, and the digits
	size := int(text[1]-'0')*100 + int(text[2]-'0')*10 + int(text[3]-'0') - 500
	var first uint64
	for i := range 18 {
		first *= 10
		if 4+i < len(text) {
			first += uint64(text[4+i] - '0')
		}
	}
	i, found := slices.BinarySearch(begins[:], first)
	if !found {
		i--
	}
	return perDecade*(size-firstPower) + i + 1
}

// middle returns a number in the middle of a bucket, with 4 digits: its relative distance from
// every number of the bucket is at most 2.5 %.
func middle(bucket int) event.Decimal {
	switch {
	case bucket == 0:
		return event.Decimal{}
	case bucket < 0:
		return middle(-bucket).Neg()
	}
	i, power := (bucket-1)%perDecade, (bucket-1)/perDecade+firstPower
	from, to := begins[i]/1e10, uint64(10e7) // 8 digits are enough for 4
	if i+1 < perDecade {
		to = begins[i+1] / 1e10
	}
	half := (2*from*to/(from+to) + 5e3) / 1e4
	return event.DecimalOf(int64(half)).Shift(int64(power) - 3)
}
