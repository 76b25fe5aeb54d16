package sim

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// shelfOf returns the state of an order with this id, so long after the beginning.
func shelfOf(owner string, version int64, after time.Duration) model.Fact {
	return model.Fact{Type: "shelf", ID: "3", Rev: version, At: stage.Origin.Add(after).Format(time.RFC3339), Owner: owner}
}

// TestNewerStates shows which of two states is the newer one. What the item says of it has the same
// order.
func TestNewerStates(t *testing.T) {
	w := newWorld(StillPlan(1), false)
	defer w.KillAll()
	list := []model.Fact{shelfOf("z", 1, time.Hour), shelfOf("b", 2, 0), shelfOf("z", 2, 0), shelfOf("a", 2, time.Second),
		shelfOf("b", 2, time.Second), shelfOf("a", 10, 0)}
	for i, a := range list {
		item := map[string]types.AttributeValue{"revision": &types.AttributeValueMemberN{Value: strconv.FormatInt(a.Rev, 10)},
			"i:revision": &types.AttributeValueMemberS{Value: a.Tied()}}
		for j, b := range list {
			if a.Newer(b) != (i > j) || w.states.stands(b, item) != (i >= j) || atLeast(&model.Image{Fact: a}, b) != (i >= j) {
				t.Errorf("%+v after %+v: %v", a, b, a.Newer(b))
			}
		}
	}
	if w.states.stands(list[0], nil) {
		t.Error("nothing stands in the place of a state")
	}
}

// TestShelves shows which states an order has: of each shelf, the newest version.
func TestShelves(t *testing.T) {
	f := order(1)
	f.Shelves = "3=1,5=0,3=2,3=1"
	var got []string
	for _, p := range f.ShelfFacts() {
		got = append(got, p.ID+"="+strconv.FormatInt(p.Rev, 10))
	}
	must.Equal(t, strings.Join(got, " "), "3=2 5=0", f.Shelves)
	must.Equal(t, f.SpellShelves(), `,"shelves":[{"shelf":"3","version":1},{"shelf":"5","version":0},`+
		`{"shelf":"3","version":2},{"shelf":"3","version":1}]`, "spelled")
	again, err := model.Read("{" + f.SpellShelves()[1:] + "}")
	if err != nil || again.Shelves != f.Shelves {
		t.Errorf("%q, %v", again.Shelves, err)
	}
}
