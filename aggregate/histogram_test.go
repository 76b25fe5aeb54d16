package aggregate_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func decimal(t *testing.T, text string) event.Decimal {
	t.Helper()
	d, err := event.ParseDecimal(text)
	must.Succeed(t, err)
	return d
}

// naiveBucket needs no table: a size is at least 10^(k/47) exactly if its 47th power is at least
// 10^k. It is exact for any number.
func naiveBucket(t *testing.T, text string) int {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	sign := r.Sign()
	if sign == 0 {
		return 0
	}
	r.Mul(r.Abs(r), big.NewRat(1_000_000_000, 1)) // a whole number, since it has at most 9 decimals
	power := new(big.Int).Exp(r.Num(), big.NewInt(47), nil)
	return sign * len(power.String())
}

func TestBucket(t *testing.T) {
	for text, want := range map[string]int{
		"0": 0, "1": 424, "-1": -424, "1.05": 424, "1.06": 425, "0.000000001": 1, "1e18": aggregate.LastBucket,
		"-1e18": -aggregate.LastBucket,
		"1000":  565, "999.999999999": 564, "1000.000000001": 565, "123456789012345678.987654321": 1227,
	} {
		if got := aggregate.Bucket(decimal(t, text)); got != want || naiveBucket(t, text) != want {
			t.Errorf("%s is in bucket %d, or naively in %d, want %d", text, got, naiveBucket(t, text), want)
		}
	}
	// Only 18 digits decide. The number is hardly greater than the beginning of bucket 1224.
	const long = "105021107963666661.362435821"
	if got := aggregate.Bucket(decimal(t, long)); got != 1223 || naiveBucket(t, long) != 1224 {
		t.Errorf("%s is in bucket %d", long, got)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := strconv.FormatInt(rng.Int64N(1e18)>>rng.IntN(60), 10)
		if rng.IntN(2) == 0 {
			text += "." + strconv.Itoa(rng.IntN(1e9))
		}
		if got, want := aggregate.Bucket(decimal(t, text)), naiveBucket(t, text); got != want {
			t.Errorf("%s is in bucket %d, want %d", text, got, want)
		}
	}
}

// A quantile is at most 2.5 % away from the number that it stands for.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := aggregate.Buckets{}
	var all []*big.Rat
	for range 2000 {
		text := strconv.FormatInt(rng.Int64N(2e6)>>rng.IntN(20)-50, 10)
		r, _ := new(big.Rat).SetString(text)
		all = append(all, r)
		b[aggregate.Bucket(decimal(t, text))]++
	}
	slices.SortFunc(all, (*big.Rat).Cmp)
	for _, q := range []float64{0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1} {
		got, ok := b.Quantile(q)
		want := all[max(1, int(q*2000+0.999999))-1]
		is, _ := new(big.Rat).SetString(got.String())
		off := new(big.Rat).Sub(is, want)
		if off.Abs(off); !ok || off.Cmp(new(big.Rat).Mul(big.NewRat(25, 1000), new(big.Rat).Abs(want))) > 0 {
			t.Errorf("quantile %v is %s, and exactly %s", q, got, want.FloatString(0))
		}
	}
	for k := 1; k < aggregate.LastBucket; k++ { // both ends of every bucket
		middle, _ := aggregate.Buckets{k: 1}.Quantile(0.5)
		is, _ := middle.Rat().Float64()
		for _, end := range []int{k - 1, k} {
			number := math.Pow(10, float64(end)/47-9)
			if off := math.Abs(is-number) / number; off > aggregate.BucketError {
				t.Errorf("bucket %d stands for %s, which is %v off %v", k, middle, off, number)
			}
		}
	}
	if _, ok := (aggregate.Buckets{}).Quantile(0.5); ok {
		t.Error("no numbers have a median")
	}
}

func TestBucketsText(t *testing.T) {
	b := aggregate.Buckets{424: 2, -1: 1, 0: 3, 7: 0}
	must.Equal(t, b.Text(), "-1:1,0:3,424:2")
	back := aggregate.Buckets{}
	if err := back.Add(b.Text(), 1); err != nil || back.Text() != b.Text() || back.Count() != 6 {
		t.Errorf("%v %v", back, err)
	}
	if err := back.Add("424:3", -1); err != nil || back.Text() != "-1:1,0:3,424:-1" || back.Count() != 4 {
		t.Errorf("%v %v", back, err)
	}
	for _, text := range []string{"x", "1", "1:", ":1", "01:1", "+1:1", "1271:1", "-1271:1", "1:1;2:1"} {
		if err := (aggregate.Buckets{}).Add(text, 1); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
