package pipeline

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// levels is a file whose lists are those of the totals that share a level and an area.
const levels = `ingot: 1
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
    by: {player: "{player}", level: "{level}", area: "{area | lower}"}
    rank: {value: points, shards: 4, within: [level, area]}
    from:
      win: {values: {points: sum points, last: newest level, wins: count}}
`

// What the lists share is part of the definition, in the order of by.
func TestWithinIsPartOfTheDefinition(t *testing.T) {
	p := mustLoad(t, levels)
	def, _ := p.Definition("scores")
	if !reflect.DeepEqual(def.Rank.Within, []string{"area", "level"}) ||
		!strings.Contains(def.Text, `"rank":{"shards":4,"value":"points","within":["area","level"]},`) {
		t.Errorf("%+v %s", def.Rank, def.Text)
	}
	sameAgain(t, p)
	by, err := p.By("scores", envelope.Message{Body: `{"level": 7, "area": "North"}`}, def.Rank.Within...)
	must.Succeed(t, err)
	must.Equal(t, fmt.Sprint(by), "map[area:north level:7]")
}

// The key of a total in the index may be longer than its key in the table. What does not fit is
// Poison, and what fits by a byte is counted.
func TestKeyInTheIndexOfRanks(t *testing.T) {
	p := mustLoad(t, strings.Replace(levels, "    since: 1\n", "    since: 1\n    window: 1d\n", 1))
	longest := event.MaxPK - len("scores#1#2026-03-01T00:00:00Z#3##7")
	for area, want := range map[int]string{longest: "", longest + 1: "aggregate scores: its key in the index of ranks takes 2049 bytes"} {
		_, err := p.Plan(envelope.Message{Body: `{"type":"win","id":"1","at":"2026-03-01T00:00:00Z","player":"p","level":7,"points":1,"area":"` +
			strings.Repeat("a", area) + `"}`})
		if want == "" {
			must.Succeed(t, err)
			continue
		}
		var refused *event.Refusal
		if !errors.As(err, &refused) || refused.Reason != event.KeyTooLong {
			t.Errorf("%d bytes: %v", area, err)
		}
		must.Fail(t, err, want)
	}
}

func TestMistakesOfWithin(t *testing.T) {
	for within, want := range map[string]string{
		"[level]":        "",
		"[levl]":         "p.yaml:13:47: levl is not in by; write level",
		"[level, level]": "p.yaml:13:54: level is named twice; write it once",
		"[player, level, area]": "p.yaml:13:46: within names all of by, so each total would be alone in its list; " +
			"write within: [area, level], or rank without within",
		"[player, level, area, area]": "p.yaml:13:68: area is named twice; write it once",
		"level":                       "p.yaml:13:46: within is text, not a list; write [level]",
	} {
		refused(t, strings.Replace(levels, "[level, area]", within, 1), want)
	}
	const only = `by: {player: "{player}"}`
	by := func(now string) *strings.Replacer {
		return strings.NewReplacer(`by: {player: "{player}", level: "{level}", area: "{area | lower}"}`, now, "[level, area]", "[player]")
	}
	refused(t, by(only).Replace(levels), "each total would be alone in its list; write rank without within")
	refused(t, by("window: 1d").Replace(levels), "without by there is only one total in each window")
}

// The parameters of a pattern with top are the fields of what the rank is within.
func TestTopWithin(t *testing.T) {
	for pattern, want := range map[string]string{
		"{total: scores, top: 10}":                      "Query the top 10 totals of scores area {area|lower}, level {level}",
		"{total: scores, top: 10, as: {place: [area]}}": "Query the top 10 totals of scores area {place|lower}, level {level}",
		"{total: scores, top: 10, as: {who: [player]}}": "player is not in what the rank of scores is within; write one of area, level",
		"{total: scores, top: 9, newest: true}":         "newest cannot be used with top",
	} {
		p, err := loadText(levels + "patterns:\n  leaders: " + pattern + "\n")
		if err != nil {
			must.Fail(t, err, want)
			continue
		}
		must.Equal(t, p.Patterns()[0].Request(), want)
	}
}
