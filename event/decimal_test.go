package event

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

// seeded makes the random numbers of a test.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(replay.Seed(t, 0), 0))
}

// decimal reads a number.
func decimal(t *testing.T, literal string) Decimal {
	t.Helper()
	d, err := ParseDecimal(literal)
	must.Succeed(t, err)
	return d
}

func TestDecimalNormalForm(t *testing.T) {
	nines := func(n int) string { return strings.Repeat("9", n) }
	zeros := func(n int) string { return strings.Repeat("0", n) }
	cases := []struct{ literal, want string }{
		{"0", "0"}, {"-0", "0"}, {"0.000", "0"}, {"-0e5", "0"}, {"0e999999999999999999", "0"},
		{"1", "1"}, {"1.0", "1"}, {"1e0", "1"}, {"10e-1", "1"}, {"0.1e1", "1"}, {"1E+0", "1"}, {"1e-0", "1"},
		{"-12.50", "-12.5"}, {"1200", "1200"}, {"12e2", "1200"}, {"1e3", "1000"},
		{"0.001", "0.001"}, {"1e-3", "0.001"}, {"12e-1", "1.2"}, {"12e-2", "0.12"}, {"12e-3", "0.012"},
		{"9007199254740993", "9007199254740993"}, {"9007199254740992", "9007199254740992"},
		{"1e37", "1" + zeros(37)}, {"1e38", "1e38"}, {"120e36", "12e37"}, {"12e36", "12" + zeros(36)},
		{"1e-37", "0." + zeros(36) + "1"}, {"1e-38", "1e-38"},
		{nines(38), nines(38)}, {nines(39), nines(39) + "e0"}, {nines(38) + "0", nines(38) + "e1"},
		{"0." + nines(37), "0." + nines(37)}, {"0." + nines(38), nines(38) + "e-38"},
		{nines(37) + ".9", nines(37) + ".9"}, {nines(38) + ".9", nines(39) + "e-1"},
		{"1e000000000000000000007", "10000000"}, {"-1.5e400", "-15e399"},
		{"1e999999999999999999", "1e999999999999999999"}, {"1e-999999999999999999", "1e-999999999999999999"},
		{"18446744073709551616", "18446744073709551616"}, {"10000000000000000001", "10000000000000000001"},
		{"100000000000000000000000000000000000001", "100000000000000000000000000000000000001e0"},
		{"10000000000000000000000000000000000001", "10000000000000000000000000000000000001"},
	}
	for _, c := range cases {
		d := decimal(t, c.literal)
		must.Equal(t, d.String(), c.want)
		must.Equal(t, decimal(t, d.String()), d)
	}
}

func TestDecimalRefusesWhatIsNoNumber(t *testing.T) {
	for _, s := range []string{"", "-", "+1", "01", "-01", "1.", ".1", "1e", "1e+", "1_0", "0x1", "1 ", " 1", "NaN", "Infinity",
		"1e1000000000000000000", "1e-1000000000000000000", "٣", "1,5"} {
		if d, err := ParseDecimal(s); err == nil {
			t.Errorf("%q: read as %s", s, d)
		}
	}
}

// rat is the naive twin's number.
func rat(t *testing.T, d Decimal) *big.Rat {
	t.Helper()
	return rational(t, d.String())
}

// someLiteral makes numbers around all the edges: zeros in odd places, 18 to 41 digits, exponents
// near each other so that coefficients meet.
func someLiteral(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	digit := func() byte { return "0011259"[r.IntN(7)] }
	if n := r.IntN(22) * r.IntN(3); n > 0 {
		b.WriteByte('1' + byte(r.IntN(9)))
		for range n {
			b.WriteByte(digit())
		}
	} else {
		b.WriteByte('0')
	}
	if n := r.IntN(22) * r.IntN(2); n > 0 {
		b.WriteByte('.')
		for range n {
			b.WriteByte(digit())
		}
	}
	if r.IntN(3) == 0 {
		b.WriteString([]string{"e0", "e1", "E+2", "e-1", "e-9", "e18", "e-19", "e37", "e-38", "e60"}[r.IntN(10)])
	}
	return b.String()
}

func TestDecimalAgainstRationals(t *testing.T) {
	r := seeded(t)
	for range 15_000 {
		ls, lo := someLiteral(r), someLiteral(r)
		a, b := decimal(t, ls), decimal(t, lo)
		source, _ := new(big.Rat).SetString(ls)
		ra, rb := rat(t, a), rat(t, b)
		sum, diff := a.Add(b), a.Sub(b)
		switch {
		case ra.Cmp(source) != 0:
			t.Fatalf("%s became %s", ls, a)
		case a.Cmp(b) != ra.Cmp(rb):
			t.Fatalf("Cmp(%s, %s) = %d", a, b, a.Cmp(b))
		case (a == b) != (ra.Cmp(rb) == 0):
			t.Fatalf("%s == %s is %v", a, b, a == b)
		case rat(t, sum).Cmp(new(big.Rat).Add(ra, rb)) != 0:
			t.Fatalf("%s + %s = %s", a, b, sum)
		case rat(t, diff).Cmp(new(big.Rat).Sub(ra, rb)) != 0:
			t.Fatalf("%s - %s = %s", a, b, diff)
		case reread(sum) != sum || reread(diff) != diff:
			t.Fatalf("%s ± %s is not in the form that its text is read in", a, b)
		case sum.Sub(b) != a:
			t.Fatalf("%s + %s - %s is not in one form", a, b, b)
		case a.Sign() != ra.Sign() || a.Neg().Sign() != -ra.Sign():
			t.Fatalf("Sign(%s) = %d", a, a.Sign())
		case a.IsInteger() != ra.IsInt():
			t.Fatalf("IsInteger(%s) = %v", a, a.IsInteger())
		}
		i, ok := a.Int64()
		if want := ra.IsInt() && ra.Num().IsInt64(); ok != want || ok && i != ra.Num().Int64() {
			t.Fatalf("Int64(%s) = %d, %v", a, i, ok)
		}
	}
}

func reread(d Decimal) Decimal {
	again, _ := ParseDecimal(d.String())
	return again
}

// Where a sum grows past what the small form holds, it takes the large one, and back.
func TestDecimalSumsAcrossForms(t *testing.T) {
	nines := decimal(t, strings.Repeat("9", 38))
	for add, want := range map[int64]string{
		1: "1e38", 2: "1" + strings.Repeat("0", 37) + "1e0", -1: strings.Repeat("9", 37) + "8",
	} {
		sum := nines.Add(DecimalOf(add))
		if sum.String() != want || reread(sum) != sum || sum.Sub(DecimalOf(add)) != nines {
			t.Errorf("%s + %d = %s, want %s", nines, add, sum, want)
		}
	}
	if twice := nines.Add(nines); twice.String() != "1"+strings.Repeat("9", 37)+"8e0" || reread(twice) != twice {
		t.Errorf("twice %s is %s", nines, twice)
	}
}

func TestDecimalOf(t *testing.T) {
	for _, i := range []int64{0, 1, -1, 10, -100, 1e18, -1e18, math.MaxInt64, math.MinInt64, math.MinInt64 + 1} {
		d := DecimalOf(i)
		if got, ok := d.Int64(); !ok || got != i {
			t.Errorf("DecimalOf(%d).Int64() = %d, %v", i, got, ok)
		}
		must.Equal(t, d.String(), big.NewInt(i).String(), i, d)
	}
}

func TestDecimalShift(t *testing.T) {
	d := decimal(t, "-12.5")
	for places, want := range map[int64]string{0: "-12.5", 1: "-125", 3: "-12500", -3: "-0.0125", 60: "-125e59"} {
		must.Equal(t, d.Shift(places).String(), want, places)
	}
	if !(Decimal{}).Shift(5).IsZero() {
		t.Error("0 moves")
	}
}

func TestDecimalLimits(t *testing.T) {
	cases := []struct {
		literal            string
		summable, storable bool
	}{
		{"0", true, true}, {"1e18", true, true}, {"-1e18", true, true}, {"1000000000000000001", false, true},
		{"1000000000000000000.000000001", false, true}, {"999999999999999999.999999999", true, true},
		{"0.000000001", true, true}, {"0.0000000001", false, true}, {"2e18", false, true}, {"1e19", false, true},
		{"1e125", false, true}, {"9.9e125", false, true}, {"1e126", false, false}, {"-1e126", false, false},
		{"1e-130", false, true}, {"9e-131", false, false}, {"1e400", false, false},
		{strings.Repeat("9", 38), false, true}, {strings.Repeat("9", 39), false, false}, {strings.Repeat("9", 38) + "00", false, true},
		{"1e999999999999999999", false, false}, {"1e-999999999999999999", false, false},
	}
	for _, c := range cases {
		d := decimal(t, c.literal)
		must.Equal(t, d.Summable(), c.summable, c.literal)
		must.Equal(t, d.Storable(), c.storable, c.literal)
	}
}

// The bound that is broken is named, with what to do about it; where none is, nothing is said.
func TestDecimalSaysItsBound(t *testing.T) {
	const sum, store = "round it at the producer", "have the producer send it in a larger unit"
	for _, c := range []struct{ literal, unsummable, unstorable string }{
		{"0", "", ""}, {"1e18", "", ""}, {"-0.000000001", "", ""},
		{"0.30000000000000004", "has 17 decimals, and a sum takes at most 9; " + sum, ""},
		{"-1000000000000000001", "is beyond 10^18, the most that a sum takes; " + store, ""},
		{"1e50", "is beyond 10^18, the most that a sum takes; " + store, ""},
		{"1e126", "is beyond 10^18, the most that a sum takes; " + store, "is 1e126 or more in size, and DynamoDB stores less; " + store},
		{"-9e-131", "has 131 decimals, and a sum takes at most 9; " + sum, "is below 1e-130 in size, the least that DynamoDB stores; " +
			sum},
		{strings.Repeat("1", 41), "is beyond 10^18, the most that a sum takes; " + store,
			"has 41 significant digits, and DynamoDB stores 38; " + sum},
		{"0." + strings.Repeat("1", 39), "has 39 decimals, and a sum takes at most 9; " + sum,
			"has 39 significant digits, and DynamoDB stores 38; " + sum},
		{"1e-999999999999999999", "has 999999999999999999 decimals, and a sum takes at most 9; " + sum,
			"is below 1e-130 in size, the least that DynamoDB stores; " + sum},
	} {
		d := decimal(t, c.literal)
		must.Equal(t, d.Unsummable(), c.unsummable, c.literal)
		must.Equal(t, d.Unstorable(), c.unstorable, c.literal)
	}
}

func TestDecimalFarApart(t *testing.T) {
	huge, tiny := decimal(t, "1e999999999999999999"), decimal(t, "-1e-999999999999999999")
	if huge.Cmp(tiny) != 1 || tiny.Cmp(huge) != -1 || tiny.Cmp(DecimalOf(0)) != -1 || huge.Neg().Cmp(tiny) != -1 {
		t.Error("numbers far apart compare wrongly")
	}
	must.Equal(t, decimal(t, "0.1e-999999999999999999").String(), "1e-1000000000000000000")
	defer func() {
		if recover() == nil {
			t.Error("a sum of 10^18 digits was promised")
		}
	}()
	huge.Add(tiny)
}

func TestDecimalOfAMillionDigits(t *testing.T) {
	long := strings.Repeat("7", 1<<20)
	d := decimal(t, long)
	if d.String() != long+"e0" || d.Cmp(DecimalOf(7)) != 1 || d.Storable() || d.Summable() {
		t.Error("a long number lost something")
	}
}

func TestDecimalAllocations(t *testing.T) {
	fp := DecimalOf(1 << 61)
	got := testing.AllocsPerRun(100, func() {
		d, _ := ParseDecimal("129900")
		sum := d
		for range 50 {
			sum = sum.Add(d).Sub(DecimalOf(7)).Add(fp)
		}
		if sum.Cmp(d) <= 0 || !sum.Summable() && sum.IsZero() {
			t.Error("sum is off")
		}
	})
	must.Equal(t, got, 0)
}

func TestRat(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "-12.50": "-25/2", "1e3": "1000", "0.001": "1/1000"} {
		must.Equal(t, decimal(t, text).Rat().RatString(), want, text)
	}
	for _, text := range []string{"1e999999999999", "1e-999999999999", "123456789012345678901234567890123456789"} {
		must.Equal(t, decimal(t, text).Rat(), nil, text)
	}
}
