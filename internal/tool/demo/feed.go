package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

const (
	users   = 80
	follows = 500
	posts   = 240
	likes   = 900
)

// firstPost is when the invented posts begin. They last twelve days, so they are of two months.
var firstPost = time.Date(2024, 5, 24, 0, 0, 0, 0, time.UTC)

// Feed returns the invented users of a social network: whom they follow, what they write and what
// they like. They are made again from the seed each time they are read.
func Feed(seed uint64) Data {
	return Data{
		Name:     "follows, posts and likes",
		About:    synthetic,
		Lines:    made(func() []fact { return feedFacts(source(seed, forFeed)) }),
		Alter:    rewrite,
		Distinct: true,
	}
}

func feedFacts(die *rand.Rand) []fact {
	day := func(days float64) time.Time {
		return firstPost.Add(time.Duration(days * float64(24*time.Hour))).Truncate(time.Millisecond)
	}
	// The first users are better known. Nobody follows somebody twice, or likes a post twice.
	known := func() int { return min(die.IntN(users), die.IntN(users)) }
	pair := func(done map[[2]int]bool, a, b func() int) (x, y int) {
		for {
			if x, y = a(), b(); x != y && !done[[2]int{x, y}] {
				done[[2]int{x, y}] = true
				return x, y
			}
		}
	}
	anyone := func() int { return die.IntN(users) }
	var facts []fact
	add := func(at time.Time, format string, values ...any) {
		values = append(values, at.Format(time.RFC3339Nano))
		facts = append(facts, fact{at, fmt.Sprintf(`{"synthetic":true,`+format+`,"at":%q}`, values...)})
	}
	edges := map[[2]int]bool{}
	for range follows {
		x, y := pair(edges, anyone, known)
		add(day(3*die.Float64()), `"type":"user.followed","follower":"u-%02d","followee":"u-%02d"`, x, y)
	}
	for n := range posts {
		words := postLength(n, die)
		add(day(1+8*die.Float64()), `"type":"post.written","post_id":"p-%03d","author":"u-%02d","title":"Post %d","words":%d,"text":%q`, n,
			known(), n, words, prose(words, die))
	}
	liked := map[[2]int]bool{}
	for range likes {
		post, user := pair(liked, func() int { return min(die.IntN(posts), die.IntN(posts)) }, anyone)
		add(day(9+3*die.Float64()), `"type":"post.liked","post_id":"p-%03d","user":"u-%02d"`, post, user)
	}
	return facts
}

// postLength returns how many words a post has. Most posts are notes. Every fifth is a story of a
// few kilobytes, and every tenth an essay of tens of them, which is too large for its item.
func postLength(n int, die *rand.Rand) int {
	switch {
	case n%10 == 0:
		return 2000 + die.IntN(6000)
	case n%5 == 1:
		return 300 + die.IntN(600)
	}
	return 3 + die.IntN(40)
}

// syllables make the words of the invented posts.
var syllables = []string{"ba", "do", "fi", "ge", "hu", "ka", "lo", "mi", "ne", "pu", "ra", "so", "ti", "ve", "wu", "za"}

// prose returns a text of invented words.
func prose(words int, die *rand.Rand) string {
	var b strings.Builder
	for range words {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for range 1 + die.IntN(3) {
			b.WriteString(syllables[die.IntN(len(syllables))])
		}
	}
	return b.String()
}

// rewrite changes the words of a post, and adds a member to any other event.
func rewrite(body string, die *rand.Rand) string {
	if text, ok := strings.CutSuffix(body, "}"); ok {
		body = text
	}
	return fmt.Sprintf(`%s,"edited":%d}`, body, die.IntN(1000))
}
