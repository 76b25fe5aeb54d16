package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
)

// replies adds posts: a reply requires the post that it answers. Some have parts, in one
// transaction or not, and one part of a reply requires another post.
func replies(atomic bool) option {
	return func(s *setup) {
		adds(&s.Spec, fmt.Sprintf(`
events:
  post: {id: "{id}", at: "{at}", key: {pk: "POST#{id}", sk: "-"}}
  reply:
    {id: "{id}", at: "{at}", key: {pk: "REPLY#{id}", sk: "-"}, atomic: %t,
     requires: [{type: post, key: {id: "{to}"}}]}
  quote:
    {part: {of: reply, each: quotes, with: [id]}, id: "{id}#{post}", key: {pk: "REPLY#{id}", sk: "{post}"},
     requires: [{type: post, key: {id: "{post}"}}]}
  like:
    {id: "{id}", at: "{at}", key: {pk: "LIKE#{id}", sk: "-"}, mode: latest, revision: rev number,
     requires: [{type: reply, key: {id: "{reply}"}}]}
`, atomic))
	}
}

// However events are divided into calls and in whatever order they come, an event is stored if and
// only if what it requires was stored before it or in the same call. The twin is one map.
func TestRequiresAgainstANaiveTwin(t *testing.T) {
	for _, seed := range replay.Seeds(t, 1, 150) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := newWorld(t, replies(seed%2 == 0))
		stored := map[string]bool{}
		for range 6 {
			var items events
			for range 1 + r.IntN(12) {
				items = append(items, randomReply(w, r))
			}
			results, _ := w.store.Put(deadline(t), items)
			for again := true; again; {
				again = false
				for _, item := range items {
					ready := true
					for _, needed := range item.Requires {
						ready = ready && stored[needed.Key.String()]
					}
					if ready && !stored[item.Key.String()] {
						stored[item.Key.String()], again = true, true
					}
				}
			}
			for i, item := range items {
				got, want := results[i].Verdict, stored[item.Key.String()]
				if got.Stored() != want || !want && (got != event.Rejected || results[i].Refusal.Reason != event.Requires) {
					t.Fatalf("%s\n%s is %s, and the twin has it: %t", replay.Command(t, seed), item.Key, got, want)
				}
			}
		}
		for item, err := range w.store.Items(t.Context()) {
			must.Succeed(t, err)
			if item.Type != "quote" && !stored[item.Key.String()] {
				t.Fatalf("%s\n%s is stored", replay.Command(t, seed), item.Key)
			}
		}
	}
}

func randomReply(w *world, r *rand.Rand) *event.Item {
	const at = `"at":"2099-03-01T10:00:00Z"`
	id := fmt.Sprintf(`"id":"%d"`, r.IntN(5))
	switch r.IntN(4) {
	case 0:
		return w.item(`"type":"post"`, id, at)
	case 1:
		return w.item(`"type":"like"`, id, strings.Replace(id, "id", "reply", 1), fmt.Sprintf(`"rev":%d`, 1+r.IntN(3)), at)
	}
	n := r.IntN(5) // each reply has one payload
	quotes := "[]"
	if n%2 == 0 {
		quotes = fmt.Sprintf(`[{"post":"%d"}]`, (n+1)%5)
	}
	return w.item(`"type":"reply"`, fmt.Sprintf(`"id":"%d"`, n), fmt.Sprintf(`"to":"%d"`, n), `"quotes":`+quotes, at)
}
