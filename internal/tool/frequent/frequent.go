// Package frequent finds the most frequent words of a stream in little memory. It uses the
// space-saving algorithm (Metwally, Agrawal, El Abbadi, 2005).
//
// A [Counter] keeps a fixed number of words. A new word that is not kept replaces the least
// frequent one, and inherits its count. So no count is ever too low, and each count says by how
// much it may be too high. Divide the length of the stream by the number of words kept: every word
// that came more often than this is among those kept.
package frequent

import (
	"cmp"
	"container/heap"
	"slices"
)

// Counter counts words. Its zero value keeps no words; make one with [New].
type Counter struct {
	most  int
	words map[string]*word
	least byCount
	total int
	full  bool // a word has been replaced: counts may be too high
}

type word struct {
	text           string
	count, surplus int
	index          int
}

// Count is how often a word came: at least AtLeast and at most AtMost times.
type Count struct {
	Word            string
	AtLeast, AtMost int
}

// New returns a counter that keeps at most this many words, and at least one.
func New(most int) *Counter {
	return &Counter{most: max(1, most), words: map[string]*word{}}
}

// Add counts a word once.
func (c *Counter) Add(text string) {
	c.total++
	if w := c.words[text]; w != nil {
		w.count++
		heap.Fix(&c.least, w.index)
		return
	}
	if len(c.words) < c.most {
		w := &word{text: text, count: 1}
		c.words[text] = w
		heap.Push(&c.least, w)
		return
	}
	c.full = true
	w := c.least[0]
	delete(c.words, w.text)
	w.text, w.surplus = text, w.count
	w.count++
	c.words[text] = w
	heap.Fix(&c.least, 0)
}

// Total returns how many words were counted, including repetitions.
func (c *Counter) Total() int { return c.total }

// Distinct returns how many different words there were. If it is not exact, there were more.
func (c *Counter) Distinct() (n int, exact bool) { return len(c.words), !c.full }

// Top lists the most frequent words, at most n, by AtMost, then AtLeast, then in byte order.
func (c *Counter) Top(n int) []Count {
	list := make([]Count, 0, len(c.words))
	for _, w := range c.words {
		list = append(list, Count{Word: w.text, AtLeast: w.count - w.surplus, AtMost: w.count})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.AtMost, a.AtMost), cmp.Compare(b.AtLeast, a.AtLeast), cmp.Compare(a.Word, b.Word))
	})
	return list[:min(n, len(list))]
}

// byCount is a heap with the least frequent word first.
type byCount []*word

func (h byCount) Len() int           { return len(h) }
func (h byCount) Less(i, j int) bool { return h[i].count < h[j].count }
func (h byCount) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements [heap.Interface].
func (h *byCount) Push(x any) {
	w := x.(*word)
	w.index = len(*h)
	*h = append(*h, w)
}

// Pop implements [heap.Interface]. Nothing is ever taken out.
func (h *byCount) Pop() any { panic("frequent: words are replaced, never taken out") }
