package pipeline

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const rankedFile = `ingot: 1
epoch: 1
type: "{type}"
events:
  win:
    id: "{id}"
    at: "{at}"
    key: {pk: "GAME#{id}", sk: WIN}
aggregates:
  scores:
    since: 1
    by: {player: "{player}"}
    rank: {value: points, shards: 4}
    from:
      win: {values: {points: sum points, last: newest level, wins: count}}
`

// The rank is part of the definition, and a file without one has the definition that it had.
func TestRankIsPartOfTheDefinition(t *testing.T) {
	p := mustLoad(t, rankedFile)
	def, _ := p.Definition("scores")
	if !reflect.DeepEqual(def.Rank, aggregate.Rank{Value: "points", Shards: 4}) ||
		!strings.Contains(def.Text, `"onExpire":"keep","rank":{"shards":4,"value":"points"},"retain":0,`) {
		t.Errorf("%+v %s", def.Rank, def.Text)
	}
	sameAgain(t, p)
	p = mustLoad(t, strings.Replace(rankedFile, ", shards: 4", "", 1))
	must.Equal(t, p.Definitions()[0].Rank.Shards, 1)
	p = mustLoad(t, strings.Replace(rankedFile, "    rank: {value: points, shards: 4}\n", "", 1))
	if text := p.Definitions()[0].Text; strings.Contains(text, "rank") {
		t.Error(text)
	}
}

func TestMistakesOfTop(t *testing.T) {
	for pattern, want := range map[string]string{
		"{total: scores, top: 10}":   "",
		"{total: scores, top: 1001}": "top is 1001; write a whole number from 1 to 1000",
		"{total: plain, top: 3}": "plain declares no rank, so its totals are in no order; write rank: {value: wins} in plain, " +
			"or the pattern without top",
		"{total: scores, top: 3, newest: true}":        "newest cannot be used with top",
		"{total: scores, top: 3, as: {who: [player]}}": "as cannot be used with top if the rank is of all totals",
		"{read: [win], top: 3}":                        "top is for totals, but this pattern reads events",
	} {
		refused(t, rankedFile+
			"  plain: {since: 1, by: {player: \"{player}\"}, from: {win: {values: {wins: count}}}}\npatterns:\n  leaders: "+
			pattern+"\n", want)
	}
}

func TestMistakesOfRank(t *testing.T) {
	for old, c := range map[string]struct{ now, want string }{
		"value: points, shards": {"value: point, shards",
			`p.yaml:13:19: there is no value point in scores; write points`},
		"value: points, shards: 4": {"value: last",
			`p.yaml:13:19: last is a newest, and totals are ranked by a number; write one of points, wins`},
		"value: points, ": {"", `p.yaml:13:5: value is missing in rank; write value: orders`},
		"shards: 4":       {"shards: 101", `p.yaml:13:35: shards is 101; write a whole number from 1 to 100`},
		"    since: 1\n": {"    since: 1\n    spread: 2\n",
			`p.yaml:14:11: spread is 2, and totals that are ranked have one item each: the index cannot add up their shares; write spread: 1 beside it, or leave rank out`},
		"    by: {player: \"{player}\"}\n": {"",
			`p.yaml:12:11: without by there is only one total in each window, so there is nothing to rank; write by: {player: "{player_id}"} beside it`},
		"rank: {value: points, shards: 4}": {"rank: points", `p.yaml:13:11:`},
	} {
		_, err := loadQuietly(strings.Replace(rankedFile, old, c.now, 1)) // a word of this advice is the reader's to fill in
		must.Fail(t, err, c.want)
	}
}
