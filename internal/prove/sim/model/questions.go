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

// Flapped reports whether something was in a total, left it and came back as it was, between two
// times.
func (m *Model) Flapped(total string, from, to time.Time) bool {
	for _, h := range m.Keys {
		var held, left []int64 // the terms of what was there, and of what was there before
		for _, s := range h.Between(from, to) {
			var now []int64
			for _, p := range m.Parts(s.Image) {
				if TotalText(p.slot(0)) == total {
					now = append(now, p.Term)
				}
			}
			if slices.ContainsFunc(now, func(term int64) bool { return slices.Contains(left, term) && !slices.Contains(held, term) }) {
				return true
			}
			held, left = now, append(left, held...)
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
