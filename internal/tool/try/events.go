package try

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/fields"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/keys"
)

// apart is how far apart the numbers of two events are. Each also uses the numbers behind its own.
const apart = 16

// make makes up the messages of the first round. Those that must be stored are noted, and those
// that must be in quarantine.
func (t *trial) make() (bodies []string, err error) {
	maker, spec := send.NewMaker(t.Pipeline), t.Pipeline.Describe().Spec
	var names []string
	for _, name := range slices.Sorted(maps.Keys(spec.Events)) {
		if spec.Events[name].Part.Of == "" {
			names = append(names, name)
		}
	}
	n := t.began.UnixNano()
	for _, name := range names {
		if spec.Events[name].Migrated != "" {
			t.found("events of type "+name, NotShown, "a migration moves rows into it")
			continue
		}
		for range max(1, t.Number/len(names)) {
			n += apart
			text, err := maker.Full(name, nil, t.began, n, 2)
			if err != nil {
				t.found("events of type "+name, NotShown, "%v", err)
				break
			}
			item, err := t.Pipeline.Plan(envelope.Message{Body: text})
			if err != nil {
				return nil, err
			}
			if !t.expect(item) {
				continue // made-up numbers are few, so its key was there
			}
			if err := t.require(maker, item, n); err != nil {
				return nil, err
			}
			t.types[name], t.texts[item.Key] = true, text
			bodies = append(bodies, text)
			if len(bodies)%3 == 0 {
				bodies = append(bodies, text)
			}
		}
		if old, is := t.expired(maker, name, n); is {
			t.bodies[old] = event.Expired.String()
			bodies = append(bodies, old)
		}
	}
	for i := range 3 {
		broken := fmt.Sprintf(`{"ingotTrial": "%d-%d", "broken": `, n, i)
		t.bodies[broken] = event.Poison.String()
		bodies = append(bodies, broken)
	}
	return bodies, nil
}

// require makes up the events that an event and its parts require.
func (t *trial) require(maker *send.Maker, item *event.Item, n int64) error {
	spec := t.Pipeline.Describe().Spec
	for _, i := range item.All() {
		doc, err := event.ParseDocument(i.Data)
		if err != nil {
			return err
		}
		source := keys.Source{Data: doc.Root(), Type: i.Type, ID: i.ID, At: i.At, HasAt: true}
		for _, r := range spec.Events[i.Type].Requires {
			payload := map[string]any{}
			for path, text := range r.Key {
				template, err := keys.ParseTemplate(text)
				if err != nil {
					return err
				}
				value, err := template.Plain(&source)
				if err != nil {
					return err
				}
				if err := fields.Set(payload, path, value); err != nil {
					return err
				}
			}
			text, err := maker.Full(r.Type, payload, t.began, n, 2)
			if err != nil {
				return err
			}
			needed, err := t.Pipeline.Plan(envelope.Message{Body: text})
			if err != nil {
				return err
			}
			if was, made := t.texts[needed.Key]; made {
				text = was
			} else if !t.expect(needed) {
				continue
			}
			t.needed[needed.Key] = text
		}
	}
	return nil
}

// expect notes that an item must be stored, with its parts. It returns false if a key is taken.
func (t *trial) expect(item *event.Item) bool {
	all := item.All()
	if slices.ContainsFunc(all, func(i *event.Item) bool { return t.stored[i.Key] != nil }) {
		return false
	}
	for _, i := range all {
		t.stored[i.Key] = i
	}
	return true
}

// forget says that an event is not stored after all.
func (t *trial) forget(item *event.Item) {
	delete(t.texts, item.Key)
	for _, i := range item.All() {
		delete(t.stored, i.Key)
	}
}

// expired makes an event whose time is over.
func (t *trial) expired(maker *send.Maker, name string, n int64) (text string, is bool) {
	text, err := maker.Full(name, nil, t.began, n+1, 2)
	if err != nil {
		return "", false
	}
	item, err := t.Pipeline.Plan(envelope.Message{Body: text})
	if err != nil || item.ExpiresAt == 0 {
		return "", false
	}
	ago := time.Unix(item.ExpiresAt, 0).Sub(item.At) + 48*time.Hour
	if text, err = maker.Full(name, nil, t.began.Add(-ago), n+1, 2); err != nil {
		return "", false
	}
	item, err = t.Pipeline.Plan(envelope.Message{Body: text})
	return text, err == nil && item.Expired(t.began)
}

// conflicts sends another payload under a key of each type. Its event must be stored by then.
func (t *trial) conflicts(ctx context.Context) error {
	var bodies []string
	done := map[string]bool{}
	for key, first := range t.texts {
		was, text := t.stored[key], altered(first)
		item, err := t.Pipeline.Plan(envelope.Message{Body: text})
		if done[was.Type] || err != nil || item.Key != key || item.Digest == was.Digest {
			continue
		}
		verdict, err := t.judge(ctx, item)
		if err != nil {
			return err
		}
		if verdict == event.Conflict {
			done[was.Type] = true
			t.bodies[text] = verdict.String()
			bodies = append(bodies, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.types)) {
		if !done[name] {
			t.found("a second payload of type "+name+" is noticed", NotShown, "no other payload could be made up under a key of it")
		}
	}
	return t.lines(ctx, bodies)
}

// altered returns the message with one more member in its payload.
func altered(text string) string {
	var message map[string]any
	if json.Unmarshal([]byte(text), &message) != nil {
		return text
	}
	payload := message
	if data, is := message["data"].(map[string]any); is && message["specversion"] != nil {
		payload = data
	}
	payload["ingotTrial"] = "another payload"
	out, err := json.Marshal(message)
	if err != nil {
		return text
	}
	return string(out)
}
