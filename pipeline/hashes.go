package pipeline

import (
	"slices"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/keys"
)

// HidesKeys reports whether hmac is used anywhere in an event type's declaration. If so, its keys
// appear in logs only as hashes. The declarations of its parts are included. For an unknown type,
// such as "", it reports whether any type uses hmac.
func (p *Pipeline) HidesKeys(eventType string) bool {
	t, ok := p.plan.Types[eventType]
	if !ok {
		return p.usesHMAC
	}
	return slices.ContainsFunc(t.TemplatesOfParts(), (*keys.Template).UsesHMAC)
}

// SecretCheck returns 16 hex digits that tell one secret of hmac from another. They do not reveal
// the secret. The result is empty if hmac is not used in any event's key or index key, because such
// keys are the same under any secret. For the by of totals, each definition has a check value of
// its own.
func (p *Pipeline) SecretCheck() string {
	if len(p.plan.Secret) == 0 || !slices.ContainsFunc(p.plan.Names, p.hashesKeys) {
		return ""
	}
	return keys.SecretCheck(p.plan.Secret, lanes.SecretKey.PK)
}

func (p *Pipeline) hashesKeys(eventType string) bool {
	t := p.plan.Types[eventType]
	return t.Hashes(t.PK) || t.Hashes(t.SK) || slices.ContainsFunc(t.Indexes, func(i planner.Index) bool {
		return t.Hashes(i.PK) || t.Hashes(i.SK)
	})
}

// HidesTotals reports whether the keys of an aggregate's totals appear only as hashes. This is so
// if any event type that feeds the aggregate hides its own keys.
func (p *Pipeline) HidesTotals(aggregate string) bool {
	return slices.ContainsFunc(p.plan.Names, func(eventType string) bool {
		feeds := slices.ContainsFunc(p.plan.Types[eventType].Feeds, func(f planner.Feed) bool { return f.Def.Name == aggregate })
		return feeds && p.HidesKeys(eventType)
	})
}
