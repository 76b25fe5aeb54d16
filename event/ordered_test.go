package event_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

func TestOrderedText(t *testing.T) {
	for literal, want := range map[string]string{"0": "2", "1": "35001", "10": "35011", "0.1": "34991", "12.5": "3501125", "-1": "15008~",
		"-12.5": "1499874~", "1e125": "36251", "1e-130": "33701", "-1e125": "13758~"} {
		d, err := event.ParseDecimal(literal)
		must.Succeed(t, err)
		must.Equal(t, string(d.AppendOrdered(nil)), want, literal)
	}
}

// FuzzOrderedText: two numbers compare as their texts do, alone and with others after them.
func FuzzOrderedText(f *testing.F) {
	corpus.Add(f)
	for _, pair := range [][2]string{{"1", "10"}, {"-1", "-10"}, {"0", "-0.5"}, {"12", "123"}, {"-12", "-123"}, {"9e-130", "1e125"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		a, err := event.ParseDecimal(one)
		b, err2 := event.ParseDecimal(other)
		if err != nil || err2 != nil || a.Unstorable() != "" || b.Unstorable() != "" {
			t.Skip()
		}
		checkOrdered(t, a, b)
	})
}

func TestOrderedTextAtRandom(t *testing.T) {
	seed := replay.Seed(t, 0)
	rng := rand.New(rand.NewPCG(seed, 1))
	number := func() event.Decimal {
		text := []string{"", "-"}[rng.IntN(2)] + strconv.FormatUint(rng.Uint64N(uint64(1)<<rng.IntN(60)+1), 10) + "e" +
			strconv.Itoa(rng.IntN(8)-4)
		d, err := event.ParseDecimal(text)
		must.Succeed(t, err)
		return d
	}
	for range 20000 {
		checkOrdered(t, number(), number())
	}
}

func checkOrdered(t *testing.T, a, b event.Decimal) {
	t.Helper()
	x, y := string(a.AppendOrdered(nil)), string(b.AppendOrdered(nil))
	if strings.Compare(x, y) != a.Cmp(b) || x != y && strings.Compare(x+",36", y+",1") != a.Cmp(b) {
		t.Fatalf("%s is %s and %s is %s", a, x, b, y)
	}
	if x <= "0" || strings.Contains(x, ",") {
		t.Fatalf("%s is %s", a, x)
	}
}
