package pipeline

import (
	"slices"

	"github.com/ingot-events/ingot/internal/lanes"
	"github.com/ingot-events/ingot/keys"
)

// HidesKeys reports whether hmac is used anywhere in an event type's declaration. Its keys then appear in logs as
// hashes only. Of a type that is not known, such as "", it reports whether any type uses hmac.
func (p *Pipeline) HidesKeys(eventType string) bool {
	t, ok := p.types[eventType]
	if !ok {
		return p.usesHMAC
	}
	for tpl := range t.templates() {
		if tpl.UsesHMAC() {
			return true
		}
	}
	return false
}

// SecretCheck is a value of 16 hex digits that tells the secret of hmac from another, without telling the secret. It
// is empty where hmac makes no part of any event's key or key in an index: such keys are the same under any secret.
// (What totals are grouped by has a check value of its own in each definition.)
func (p *Pipeline) SecretCheck() string {
	if len(p.secret) == 0 || !slices.ContainsFunc(p.names, p.hashesKeys) {
		return ""
	}
	return keys.SecretCheck(p.secret, lanes.SecretKey.PK)
}

func (p *Pipeline) hashesKeys(eventType string) bool {
	t := p.types[eventType]
	return t.hashes(t.pk) || t.hashes(t.sk) || slices.ContainsFunc(t.indexes, func(i index) bool { return t.hashes(i.pk) || t.hashes(i.sk) })
}

// HidesTotals reports whether the keys of an aggregate's totals appear as hashes only: some event type that feeds it
// hides its own.
func (p *Pipeline) HidesTotals(aggregate string) bool {
	return slices.ContainsFunc(p.names, func(eventType string) bool {
		feeds := slices.ContainsFunc(p.types[eventType].feeds, func(f feed) bool { return f.def.Name == aggregate })
		return feeds && p.HidesKeys(eventType)
	})
}

// hashes reports whether hmac makes a part of what the template gives for an event of this type: by itself, or by the
// id that it shows.
func (t *eventType) hashes(tpl *keys.Template) bool {
	return tpl != nil && (tpl.UsesHMAC() || t.id != nil && t.id.UsesHMAC() && slices.Contains(tpl.Derived(), "@id"))
}
