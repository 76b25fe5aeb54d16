package keys

import (
	"crypto/sha256"

	"github.com/ingot-events/ingot/event"
)

// Digest returns the SHA-256 of [DigestText]. It identifies what an event says, however the JSON
// was spelled. Envelope fields, id, time and epoch are not in it. payload must be an object.
func Digest(typ string, payload event.Node, ignore []event.Path) event.Digest {
	text := make([]byte, 0, len(payload.Raw())+len(typ)+len(`["",]`))
	return sha256.Sum256(DigestText(text, typ, payload, ignore))
}

// PartDigestText appends the text whose SHA-256 is the digest of a part: ["<type>",<payload>,"<type
// of the whole>","<id of the whole>"]. Parts of two wholes therefore have different digests, even
// if they say the same.
func PartDigestText(dst []byte, typ string, payload event.Node, whole, wholeID string) []byte {
	dst = append(appendString(append(dst, '['), typ), ',')
	dst = append(Canonical(dst, payload, nil), ',')
	dst = append(appendString(dst, whole), ',')
	return append(appendString(dst, wholeID), ']')
}

// DigestText appends the text that [Digest] hashes: ["<type>",<payload>], with payload in canonical
// form and without the ignored paths. The brackets and quotes keep type and payload apart.
func DigestText(dst []byte, typ string, payload event.Node, ignore []event.Path) []byte {
	dst = append(appendString(append(dst, '['), typ), ',')
	return append(Canonical(dst, payload, ignore), ']')
}
