package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Place returns the partition of the index in which an aggregate item belongs. It is empty if the
// item has no copy of the value that totals are ranked by.
func (s *Slot) Place() string {
	if _, most := s.Max["i:score"]; !most {
		if _, summed := s.Values["i:score"]; !summed {
			return ""
		}
	}
	pk, sk, _ := strings.Cut(s.Key, "|")
	parts, shard := strings.Split(pk, "#"), uint64(0)
	if parts[1] == "leaders" {
		sum := sha256.Sum256(Framed(pk, sk))
		shard = binary.BigEndian.Uint64(sum[:8]) % RankShards
	}
	place := fmt.Sprintf("%s#%s#%s#%d", parts[1], parts[2], sk, shard)
	if parts[1] == "tallest" { // whose key ends with a day and a merchant
		place += "#" + parts[5]
	}
	return place
}

// Has reports whether an aggregate item may have a number with this name.
func (s *Slot) Has(name string) bool {
	switch name {
	case "n", "fp", "fpx", "expiresAt":
		return true
	}
	_, summed := s.Values[name]
	_, greatest := s.Max[name]
	_, least := s.Min[name]
	return summed || greatest || least
}

func atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// TotalText names the total of a slot as verify does.
func TotalText(key string) string {
	name, by, window := SlotName(key)
	text := fmt.Sprintf("%s since %s", name, strings.SplitN(key, "#", 4)[2])
	if by != "" {
		text += " by " + by
	}
	if window != "-" {
		text += " at " + window
	}
	return text
}

const RankShards = 3
