package frequent

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestFewWordsAreCountedExactly(t *testing.T) {
	c := New(3)
	for _, w := range []string{"a", "b", "a", "c", "a", "b"} {
		c.Add(w)
	}
	must.Equal(t, fmt.Sprint(c.Top(5), c.Total()), "[{a 3 3} {b 2 2} {c 1 1}] 6")
	if n, exact := c.Distinct(); n != 3 || !exact {
		t.Errorf("%d words, exact %v", n, exact)
	}
	must.Equal(t, len(c.Top(1)), 1)
}

// For every stream, the true count of each word lies between the two bounds. The bounds differ by
// at most the length of the stream divided by the number of words kept. Every word with a higher
// count than this is kept.
func TestBoundsHold(t *testing.T) {
	for seed := range uint64(200) {
		die := rand.New(rand.NewPCG(seed, 1))
		most, words, length := 1+die.IntN(20), 1+die.IntN(60), die.IntN(2000)
		c, truth := New(most), map[string]int{}
		for range length {
			word := fmt.Sprint(int(float64(words) * die.Float64() * die.Float64()))
			truth[word]++
			c.Add(word)
		}
		kept := map[string]Count{}
		for _, w := range c.Top(most) {
			kept[w.Word] = w
			if n := truth[w.Word]; n < w.AtLeast || n > w.AtMost || w.AtMost-w.AtLeast > length/most {
				t.Fatalf("seed %d: %+v, and it came %d times of %d, with %d kept", seed, w, n, length, most)
			}
		}
		for word, n := range truth {
			if _, ok := kept[word]; !ok && n > length/most {
				t.Fatalf("seed %d: %s came %d times of %d and is not among %d", seed, word, n, length, most)
			}
		}
		if n, exact := c.Distinct(); exact != (len(truth) <= most) || exact && n != len(truth) || len(kept) > most {
			t.Fatalf("seed %d: %d different words, exact %v, of %d", seed, n, exact, len(truth))
		}
	}
}
