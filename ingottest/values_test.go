package ingottest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// Whatever fault befalls one request, a leaderboard's totals say what happened once: its newest
// value, its estimates, and the order of its players.
func TestEveryFaultOfValues(t *testing.T) {
	p, err := pipeline.Load(examples.Files, "leaderboard/pipeline.yaml")
	must.Succeed(t, err)
	scored := func(match, player string, minute, points, seconds int) string {
		return fmt.Sprintf(
			`{"type":"match.scored","match_id":%q,"player_id":%q,"ended_at":"2026-03-01T10:%02d:00Z","points":%d,"seconds":%d}`, match,
			player, minute, points, seconds)
	}
	day := must.Time("2026-03-01T12:00:00Z")
	EveryFault(t, Config{Pipeline: p, Start: day}, func(t *testing.T, w *World) {
		w.handled(scored("m3", "ann", 30, 7, 100), scored("m1", "ann", 10, 40, 200))
		w.handled(scored("m2", "bob", 20, 60, 100), scored("m1", "ann", 10, 40, 200), scored("m2", "ann", 20, 10, 300))
		w.Advance(10 * time.Second) // the index of the ranking has caught up
		ann := w.Total("records", map[string]string{"player": "ann"}, day)
		if last, _ := ann.Dated("last"); last.JSON != `"m3"` || ann.Values["best"].String() != "40" {
			t.Errorf("the newest match of ann is %s, and her best result %s", last.JSON, ann.Values["best"])
		}
		game := w.Total("game_daily", nil, day)
		players, _ := game.Distinct("players")
		seconds, _ := game.Buckets("seconds")
		if game.Values["results"].String() != "4" || players.Estimate() != 2 || seconds.Count() != 4 {
			t.Errorf("the day has %s results of %d players, and %d times", game.Values["results"], players.Estimate(), seconds.Count())
		}
		var top []string
		for _, total := range w.Read("top_of_day", query.Ask{From: "2026-03-01T00:00:00Z"}).Totals {
			top = append(top, fmt.Sprint(total.By["player"], " ", total.Values["points"]))
		}
		must.Equal(t, strings.Join(top, ", "), "bob 60, ann 57")
	})
}
