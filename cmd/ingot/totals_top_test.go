package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const leaderboardSpec = `ingot: 1
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
    window: 1mo
    rank: {value: points, shards: 2}
    from:
      win: {values: {points: sum points, wins: count}}
  wins:
    since: 1
    by: {player: "{player}"}
    from:
      win: {values: {wins: count}}
  levels:
    since: 1
    by: {player: "{player}", level: "{match.level}"}
    rank: {value: points, within: [level]}
    from:
      win: {where: exists match.level, values: {points: sum points}}
patterns:
  leaders: {total: scores, top: 2}
  board: {total: levels, top: 2, as: {level: [match.level]}}
  won: {total: wins}
`

func TestTotalsTop(t *testing.T) {
	w := newDevWorldOf(t, leaderboardSpec)
	for id, win := range map[string]string{"g-1": `"player":"ann","points":5`, "g-2": `"player":"bob","points":7`,
		"g-3": `"player":"ann","points":4`, "g-4": `"player":"cyd","points":-1`} {
		w.post(w.dev.Stack().Queue, `{"type":"win","id":"`+id+`","at":"2026-03-01T09:00:00Z",`+win+`}`, nil)
	}
	now := time.Now().UTC().Format(time.DateOnly)
	w.post(w.dev.Stack().Queue, `{"type":"win","id":"g-5","at":"`+now+`T00:00:00Z","player":"bob","points":70}`, nil)
	for id, win := range map[string]string{"g-6": `"player":"dan","points":5,"match":{"level":7}`,
		"g-7": `"player":"eve","points":4,"match":{"level":7}`, "g-8": `"player":"eve","points":9,"match":{"level":8}`} {
		w.post(w.dev.Stack().Queue, `{"type":"win","id":"`+id+`","at":"2020-01-01T00:00:00Z",`+win+`}`, nil)
	}
	until(t, "the levels are counted", func() bool {
		return strings.Count(w.run(0, "totals levels match.level=7 --top 9 --local").out, "all time") == 2
	})
	const top = "totals scores --from 2026-03-20 --local --top "
	until(t, "the last events are counted", func() bool {
		return strings.Contains(w.run(0, "totals scores --top 1 --local --from", now).out, "70") &&
			strings.Contains(w.run(0, "totals wins player=ann --local").out, "2")
	})
	until(t, "the first events are counted", func() bool { return strings.Count(w.run(0, top+"9").out, "2026-03") == 3 })
	for _, tt := range []struct {
		exit int
		want string
		line string
	}{
		{0, "  player  window   points  wins\n  ann     2026-03       9     2\n  bob     2026-03       7     1\n", top + "2"},
		{0, `"player": "ann"`, top + "1 --output json"},
		{0, "player,window,points,wins,building,flags\nann,2026-03-01T00:00:00Z,9,2,false,\n", top + "1 --output csv"},
		{0, "ann  2026-03  points=9  wins=2", "query leaders --from 2026-03-20 --local"},
		{0, `i:rank = "scores#1#2026-03-01T00:00:00Z#0", backward`, "query leaders --from 2026-03-20 --local --explain"},
		{0, `/index/rank"`, "policy leaders --local"},
		{0, "  level  player  window    points\n  7      dan     all time       5\n  7      eve     all time       4\n",
			"totals levels match.level=7 --top 9 --local"},
		{0, "  level  player  window    points\n  8      eve     all time       9\n",
			"totals levels level=8 --top 9 --local"},
		{0, "7  dan  all time  points=5", "query board level=7 --local"},
		{0, `i:rank = "levels#1#-#0#7", backward`, "query board level=7 --local --explain"},
		{2, "a list of levels is found by match.level, and field match.level is missing: give that too",
			"totals levels --top 9 --local"},
		{2, "levels has no field player in what its rank is within; a list of levels is found by match.level",
			"totals levels level=7 player=dan --top 9 --local"},
		{5, "or those with the greatest points with --top and level=VALUE", "totals levels level=7 --local"},
		{2, "0 totals were asked for; ask for 1 to 1000", top + "0"},
		{2, "--top ranks all totals of a window: leave the fields out", top + "1 player=ann"},
		{2, "--top reads one window through an index: leave --scan and --to out", top + "1 --scan"},
		{0, "ingot: this is the window of now, 20", "totals scores --top 1 --local"},
		{0, "  player  window   points  wins\n  bob     " + now[:7] + "      70     1\n",
			"totals scores --top 1 --from " + now + " --local"},
		{2, "--from and --to choose windows, and wins has none: its totals are of all time; leave --from and --to out",
			"totals wins player=ann --from 2026-03-01 --local"},
		{2, "--from and --to choose windows, and wins has none", "totals wins --scan --to 2026-03-01 --local"},
		{2, "from and to choose windows, and wins has none: its totals are of all time; leave from and to out",
			"query won player=ann --from 2026-03-01 --local"},
		{0, "ann  all time  wins=2", "query won player=ann --local"},
		{2, "it declares no rank, so its totals are in no order, and to list them would need a Scan; write rank: {value: wins}",
			"totals wins --top 1 --local"},
		{5, "or those with the greatest points with --top", "totals scores --local"},
	} {
		got := w.run(tt.exit, tt.line)
		must.Say(t, got.out+got.errors, tt.want)
	}
}
