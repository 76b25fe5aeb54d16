package explain

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// A total says in which list it is, unless its group is personal.
func TestListsAreExplained(t *testing.T) {
	file := `ingot: 1
epoch: 1
type: win
events:
  win: {id: "{id}", at: "{at}", key: {pk: "{id}", sk: "-"}}
aggregates:
  scores:
    since: 1
    by: {level: "{level}", player: "{player}"}
    rank: {value: points, within: [level]}
    from: {win: {values: {points: sum points}}}
`
	win := body(`{"id":"1","at":"2026-03-01T10:00:00Z","level":7,"player":"ann","points":5}`)
	e := of(t, file)
	r := e.Explain([]Message{win})
	must.Equal(t, r.Messages[0].Aggregates[0].List, "scores#1#-#0#7")
	var b strings.Builder
	r.WriteText(&b)
	must.Say(t, b.String(), "in the list scores#1#-#0#7")
	e = of(t, strings.Replace(file, `pk: "{id}"`, `pk: "{id}#{player | hmac}"`, 1))
	e.Personal = show.PersonalOf(e.Pipeline)
	must.Equal(t, e.Explain([]Message{win}).Messages[0].Aggregates[0].List, show.Mask)
}
