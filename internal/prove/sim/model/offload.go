package model

import (
	"crypto/sha256"
	"encoding/hex"
)

// contributeNote returns what an order contributes to the aggregate of notes.
func contributeNote(img *Image) Part {
	p := Part{Name: "noted", since: 2, Window: "-", subtract: true, spread: 1, Values: map[string]int64{}}
	if img.Note > 0 {
		p.Values["notes"] = 1
	}
	return p
}

// Apart is what an image has of a payload that is in the payload bucket.
type Apart struct {
	Kept string // its data
	Sum  [sha256.Size]byte
}

// offloaded reads what an image has of a payload that is elsewhere. It returns nil if the payload
// is in the item.
func (m *Model) offloaded(sum, data string) (e *Apart, text string) {
	if sum == "" {
		return nil, data
	}
	e = &Apart{Kept: data}
	copy(e.Sum[:], sum)
	return e, m.Texts[e.Sum]
}

// ObjectName returns the name of the object that holds the payload of an image.
func (img *Image) ObjectName() string {
	return PayloadFolder(img.Fact) + hex.EncodeToString(img.Elsewhere.Sum[:]) + ".json"
}

// PayloadFolder returns what the names of all payloads of an event's key begin with.
func PayloadFolder(f Fact) string {
	key := sha256.Sum256(Framed(f.PK(), f.SK()))
	return f.Type + "/" + hex.EncodeToString(key[:]) + "/"
}
