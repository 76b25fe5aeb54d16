package demo

import (
	"context"
	"fmt"
)

// payloads reads every payload in the payload bucket, and compares its digest with the digest in
// the item.
func (w *world) payloads(ctx context.Context) (Check, error) {
	c := Check{Name: "payloads", About: "every payload in the payload bucket against the digest of what was sent", Differences: []string{}}
	for item, err := range w.reader.Items(ctx) {
		if err != nil {
			return c, err
		}
		if item.Payload == nil {
			continue
		}
		c.Compared++
		text, err := w.reader.Payload(ctx, item)
		if err != nil {
			c.Differences = append(c.Differences, fmt.Sprintf("%s: %v", item.Key, err))
			continue
		}
		if w.plan.IsPart(item.Type) { // its digest covers its whole too, so it cannot be compared here
			continue
		}
		if digest, err := w.plan.Redigest(item.Type, text); err != nil || digest != item.Digest {
			c.Differences = append(c.Differences, fmt.Sprintf("%s: the payload in the bucket is not the one of the item", item.Key))
		}
	}
	return c, nil
}
