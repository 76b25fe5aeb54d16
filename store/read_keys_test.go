package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/store/query"
)

// newFolders is a world with files of the volume v: f0, f2, f4 and so on to f98.
func newFolders(t *testing.T) (w *world, requests map[string]int) {
	w = newWorld(t, func(s *setup) {
		s.engine.Behind = func(embedded.Read) int { return 0 }
		s.Spec = declared(`
events: {file: {id: "{volume}#{path}", at: "{at}", key: {pk: "VOLUME#{volume}", sk: "{path}"}}}
patterns: {files: {read: [file]}}
`)
	})
	for i := 0; i < 100; i += 2 {
		file := w.item(`"type":"file"`, `"volume":"v"`, `"at":"2099-03-01T12:00:00Z"`, fmt.Sprintf(`"path":"f%d"`, i))
		w.judges("Inserted", file)
	}
	requests = map[string]int{}
	w.onCall = func(api string, _ any) error {
		requests[api]++
		return nil
	}
	return w, requests
}

func paths(items events) (list []string) {
	for _, item := range items {
		list = append(list, item.Key.SK)
	}
	return list
}

// One BatchGetItem reads 100 keys. The items come in the order asked, and each key that nothing is
// stored under is said. A key costs half a read unit.
func TestReadOfManyKeys(t *testing.T) {
	w, requests := newFolders(t)
	var asked, stored []string
	for i := 99; i >= 0; i-- {
		asked = append(asked, fmt.Sprint("f", i))
		if i%2 == 0 {
			stored = append(stored, fmt.Sprint("f", i))
		}
	}
	ask := query.Ask{Values: map[string][]string{"volume": {"v"}, "path": asked}, Limit: 100}
	got, err := w.query().Read(deadline(t), "files", ask)
	must.Succeed(t, err)
	must.Match(t, paths(got.Items), stored)
	must.Match(t, requests, map[string]int{"BatchGetItem": 1})
	must.Equal(t, fmt.Sprint(got.Requests, got.Read, got.Units, got.Missing[0], len(got.Missing), got.Next), fmt.Sprint(1, 50, 50.0,
		under("VOLUME#v", "f99"), 50, ""))
	explained, _, err := w.query().Explain("files", ask)
	must.Succeed(t, err)
	must.Equal(t, len(explained), 1)
	must.Equal(t, len(explained[0].(*dynamodb.BatchGetItemInput).RequestItems[stack.Events].Keys), 100)

	clear(requests)
	ask.Values["volume"] = []string{"v", "other"}
	ask.Limit = 200
	got, err = w.query().Read(deadline(t), "files", ask)
	must.Succeed(t, err)
	must.Equal(t, fmt.Sprint(len(got.Items), len(got.Missing), requests), "50 150 map[BatchGetItem:2]")

	w.fails("BatchGetItem", errThrottled)
	if got, err = w.query().Read(deadline(t), "files", ask); err != nil || len(got.Items) != 50 {
		t.Errorf("after a throttled request: %d items, %v", len(got.Items), err)
	}
	ask.Values["volume"] = []string{"v"}
	ask.Prefix = "f"
	if _, err := w.query().Read(deadline(t), "files", ask); err == nil {
		t.Error("whole keys have a prefix")
	}
}

// The pages of a question with any keys are together its keys in the order asked, each once.
func TestPagesOfManyKeys(t *testing.T) {
	w, _ := newFolders(t)
	for _, seed := range replay.Seeds(t, 1, 200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var asked, want []string
		for range 2 + rng.IntN(30) {
			i := rng.IntN(60)
			path := fmt.Sprint("f", i)
			if i%2 == 0 && !slices.Contains(asked, path) {
				want = append(want, path)
			}
			asked = append(asked, path)
		}
		ask := query.Ask{Values: map[string][]string{"volume": {"v"}, "path": asked}, Limit: 1 + rng.IntN(8), Consistent: rng.IntN(2) == 0}
		var got []string
		for pages := 0; pages < 100; pages++ {
			page, err := w.query().Read(deadline(t), "files", ask)
			must.Succeed(t, err)
			if len(page.Items) > ask.Limit {
				t.Fatalf("%d items on a page of %d", len(page.Items), ask.Limit)
			}
			got = append(got, paths(page.Items)...)
			if ask.Page = page.Next; ask.Page == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: got %v, want %v; replay with %s", asked, got, want, replay.Command(t, seed))
		}
	}
}
