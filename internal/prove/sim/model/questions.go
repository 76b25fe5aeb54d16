package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"
)

// GSI4PK begins with one of these: see [addPatterns].
const OldDay, NewDay = "D#", "DAY#"

const WholeIn = time.Second

// Between lists what a key may have held from one time to another.
func (h *History) Between(from, to time.Time) (list []State) {
	if h == nil {
		return nil
	}
	for i, s := range h.States {
		if s.at.After(to) || i+1 < len(h.States) && h.States[i+1].at.Add(WholeIn).Before(from) {
			continue
		}
		list = append(list, s)
	}
	return list
}

// Flapped reports whether something that a total counts was stored, left the table and was stored
// again between two times.
func (m *Model) Flapped(total string, from, to time.Time) bool {
	for _, h := range m.Keys {
		held, left := false, false
		for _, s := range h.Between(from, to) {
			if s.Image == nil || s.Image.Barred {
				left = held
				continue
			}
			if held = true; left && slices.ContainsFunc(m.Parts(s.Image), func(p Part) bool { return TotalText(p.slot(0)) == total }) {
				return true
			}
		}
	}
	return false
}

// Steady returns what a key held from one time to another. It returns nil if that changed, if it
// was not an event that can be read, or if it expired.
func (h *History) Steady(from, to time.Time) *Fact {
	list := h.Between(from, to)
	if len(list) == 0 || list[0].at.Add(WholeIn).After(from) {
		return nil
	}
	first := list[0].Image
	for _, s := range list {
		img := s.Image
		if img == nil || img.Barred || img.Epoch == StrangeEpoch || img.Fact != first.Fact || img.ExpiresAt <= to.Unix() ||
			ValueOf(img.Whole["GSI4PK"]) != ValueOf(first.Whole["GSI4PK"]) {
			return nil
		}
	}
	return &first.Fact
}

// DayKeys returns the two texts that GSI4PK of a fact may have.
func (f Fact) DayKeys() (old, new string) {
	rest := fmt.Sprintf("%s#%d", f.Time().UTC().Format(time.DateOnly), shardOf(f.ID, 3))
	return OldDay + rest, NewDay + rest
}

// shardOf returns the shard of a text.
func shardOf(text string, n uint64) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:8]) % n
}
