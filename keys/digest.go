package keys

import (
	"crypto/sha256"

	"github.com/ingot-events/ingot/event"
)

// Digest returns the SHA-256 of [DigestText]. It identifies what an event says, however the JSON
// was spelled. Envelope fields, id, time and epoch are not in it. payload must be an object.
func Digest(typ string, payload event.Node, ignore []event.Path, folds ...Fold) event.Digest {
	text := make([]byte, 0, len(payload.Raw())+len(typ)+len(`["",]`))
	return sha256.Sum256(DigestText(text, typ, payload, ignore, folds...))
}

// PartDigestText appends the text whose SHA-256 is the digest of a part: ["<type>",<payload>,"<type
// of the whole>","<id of the whole>"]. Parts of two wholes therefore have different digests, even
// if they say the same.
func PartDigestText(dst []byte, typ string, payload event.Node, whole, wholeID string, folds ...Fold) []byte {
	dst = append(appendString(append(dst, '['), typ), ',')
	dst = append(canonicalOf(dst, payload, nil, folds), ',')
	dst = append(appendString(dst, whole), ',')
	return append(appendString(dst, wholeID), ']')
}

// DigestText appends the text that [Digest] hashes: ["<type>",<payload>], with payload in canonical
// form, without the ignored paths, and with the fields of folds as the id shows them. The brackets
// and quotes keep type and payload apart.
func DigestText(dst []byte, typ string, payload event.Node, ignore []event.Path, folds ...Fold) []byte {
	dst = append(appendString(append(dst, '['), typ), ',')
	return append(canonicalOf(dst, payload, ignore, folds), ']')
}
