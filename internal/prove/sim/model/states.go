package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ShelfFacts returns the states of an order: for each shelf that it names, the newest version.
func (f Fact) ShelfFacts() (list []Fact) {
	if f.Shelves == "" || f.Shelves == NoLines {
		return nil
	}
	for text := range strings.SplitSeq(f.Shelves, ",") {
		shelf, version, _ := strings.Cut(text, "=")
		state := Fact{Type: "shelf", ID: shelf, Merchant: f.Merchant, At: f.At, Rev: atoi(version), Owner: f.ID}
		if i := slices.IndexFunc(list, func(s Fact) bool { return s.ID == shelf }); i < 0 {
			list = append(list, state)
		} else if state.Rev > list[i].Rev {
			list[i] = state
		}
	}
	return list
}

// SpellShelves writes the shelves of an order as a member of its payload.
func (f Fact) SpellShelves() string {
	if f.Shelves == "" {
		return ""
	}
	var list []string
	for _, s := range f.shelves() {
		list = append(list, fmt.Sprintf(`{"shelf":%q,"version":%d}`, s.Shelf, s.Version))
	}
	return `,"shelves":[` + strings.Join(list, ",") + "]"
}

// shelf is an element of the array in the payload of an order.
type shelf struct {
	Shelf   string `json:"shelf"`
	Version int64  `json:"version"`
}

func (f Fact) shelves() []shelf {
	list := []shelf{}
	if f.Shelves == NoLines {
		return list
	}
	for text := range strings.SplitSeq(f.Shelves, ",") {
		name, version, _ := strings.Cut(text, "=")
		list = append(list, shelf{name, atoi(version)})
	}
	return list
}

// readShelves returns shelves in the form of [Fact.Shelves].
func readShelves(shelves []shelf) string {
	if shelves == nil {
		return ""
	}
	var list []string
	for _, s := range shelves {
		list = append(list, fmt.Sprintf("%s=%d", s.Shelf, s.Version))
	}
	return cmp.Or(strings.Join(list, ","), NoLines)
}

// readShelf reads the payload of a state.
func readShelf(data string) (Fact, error) {
	var raw struct {
		ID, Merchant, At, Shelf string
		Version                 int64
	}
	if err := json.Unmarshal([]byte(data), &raw); err != nil {
		return Fact{}, err
	}
	return Fact{Type: "shelf", ID: raw.Shelf, Merchant: raw.Merchant, At: raw.At, Rev: raw.Version, Owner: raw.ID}, nil
}

// newerState compares two states of one shelf: by their versions, then by the times of their
// orders, then by the ids of these. Orders that differ and have one id are told apart by the
// digests of their states.
func (f Fact) newerState(other Fact) bool {
	mine, theirs := f.Digest(), other.Digest()
	return cmp.Or(cmp.Compare(f.Rev, other.Rev), f.Time().Compare(other.Time()), strings.Compare(f.Owner, other.Owner),
		slices.Compare(mine[:], theirs[:])) > 0
}

// Tied returns what is stored beside the version of a state to break ties: the time of its order,
// as text in the order of the numbers, and the id.
func (f Fact) Tied() string { return ordered(f.Time().UnixNano()) + "," + f.Owner }

// storedShelf returns what the item of a state must hold. See [Fact.stored].
func (f Fact) storedShelf() map[string]Typed {
	all := f.common()
	all["revision"], all["i:revision"] = Typed{"N", strconv.FormatInt(f.Rev, 10)}, Typed{"S", f.Tied()}
	return all
}

// digestShelf returns the digest of a state, which is about its order too.
func (f Fact) digestShelf() [sha256.Size]byte {
	payload := map[string]any{"id": f.Owner, "merchant": f.Merchant, "at": f.At, "shelf": f.ID, "version": f.Rev}
	text, _ := json.Marshal([]any{f.Type, payload, "order", f.Owner}) // texts and numbers: Marshal cannot fail
	return sha256.Sum256(text)
}

// contributeShelf returns what a state contributes.
func (m *Model) contributeShelf(img *Image) Part {
	return Part{Name: "shelves", By: img.Merchant, since: m.LinesSince, Window: "-", subtract: true, spread: 1,
		Values: map[string]int64{"shelves": 1, "versions": img.Rev}}
}
