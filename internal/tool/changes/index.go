package changes

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/ingot-events/ingot/pipeline"
)

const (
	indexKeys = "items that are stored keep the key they have, until a newer revision replaces them or they expire: read both until then"
	indexPK   = "items that are stored keep the key they have, until a newer revision replaces them or they expire: put the old pk into " +
		"was, so that patterns read both until then"
	indexWas   = "nothing needs to be done: patterns also read items under the old key, because was has it"
	indexWhere = "items that are stored stay in the index or out of it, until a newer revision replaces them or they expire"
	moreShards = "nothing needs to be done: the larger number has all shards of the smaller one, so patterns still read every stored item"
	lessShards = "patterns would no longer read the items in the shards that are left out: keep the larger number, or put the old pk " +
		"into was until those items are gone"
	wasTaken = "make sure first that no item is stored under it any more: patterns do not read it from then on"
)

// indexChanges reports the keys of indexes that a type is in both before and after. It does not
// report an index that is added or removed. Such an index shows this by itself: it lacks the older
// items or the newer ones.
func indexChanges(name string, was, is pipeline.Spec) []Change {
	after := is.Events[name].Indexes
	var list []Change
	for _, index := range sorted(was.Events[name].Indexes) {
		a, b := was.Events[name].Indexes[index], after[index]
		if _, kept := after[index]; !kept {
			continue
		}
		report := func(kind Kind, member, old, new, do string) {
			list = append(list, Change{kind, "events." + name, "indexes." + index + "." + member, old, new, do})
		}
		if a.PK != b.PK {
			kind, do := newKey(a.PK, b)
			report(kind, "pk", a.PK, b.PK, do)
		}
		if a.SK != b.SK {
			report(Index, "sk", a.SK, b.SK, indexKeys)
		}
		if a.Where != b.Where {
			report(Index, "where", a.Where, b.Where, indexWhere)
		}
		for _, old := range a.Was {
			if old != b.PK && !slices.Contains(b.Was, old) {
				report(Index, "was", old, "", wasTaken)
			}
		}
	}
	return list
}

var shardFunction = regexp.MustCompile(`\|shard:[0-9]+`)

// newKey says what a change of an index's pk means, from old to that of now.
func newKey(old string, now pipeline.IndexSpec) (Kind, string) {
	before, after := shardFunction.FindAllString(old, -1), shardFunction.FindAllString(now.PK, -1)
	switch {
	case slices.Contains(now.Was, old):
		return Index, indexWas
	case len(before) != len(after) || len(before) == 0 ||
		shardFunction.ReplaceAllString(old, "") != shardFunction.ReplaceAllString(now.PK, ""):
		return Index, indexPK
	}
	for i := range before {
		a, _ := strconv.Atoi(before[i][len("|shard:"):])
		if b, _ := strconv.Atoi(after[i][len("|shard:"):]); b < a {
			return Shards, lessShards
		}
	}
	return Index, moreShards
}
