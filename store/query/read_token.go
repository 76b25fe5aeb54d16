package query

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	varint "encoding/binary"
	"errors"
	"time"

	"github.com/ingot-events/ingot/event"
)

// position is where a page ends: after one item, or before the first of a period.
type position struct {
	period    int64 // when the period begins, in seconds since 1970; of a question without periods, noPeriod
	sk        string
	partition string
	own       event.Key // the item's key in the table
}

// begun reports whether the position is after an item.
func (p position) begun() bool { return p.partition != "" }

const noPeriod = -1 << 62

func unixOf(start time.Time) int64 {
	if start.IsZero() {
		return noPeriod
	}
	return start.Unix()
}

// A page token is base64url of these bytes: a version, 16 bytes of a digest of the pattern and the
// question, the position, and 8 bytes of a checksum. A sealed token is a version, a nonce, and the
// bytes of a token, encrypted.
const (
	openVersion   = 1
	sealedVersion = 2
	digestBytes   = 16
	sumBytes      = 8
	maxToken      = 16 * 1024
)

var (
	errAlteredToken = errors.New("the page token is damaged or not one of this tool's; begin again without it")
	errForeignToken = errors.New(
		"the page token belongs to another question; ask the question that it came from, or begin again without it")
	errUnsealedToken = errors.New("the page token is not sealed, and this store seals its tokens; begin again without it")
	errSealedToken   = errors.New("the page token is sealed with another key, or damaged; begin again without it")
)

// sealToken writes a token.
func sealToken(at position, key []byte, bound string) string {
	b := []byte{openVersion}
	digest := sha256.Sum256([]byte(bound))
	b = append(b, digest[:digestBytes]...)
	b = appendPosition(b, at)
	sum := sha256.Sum256(b)
	b = append(b, sum[:sumBytes]...)
	if len(key) > 0 {
		box, nonce := sealer(key), mac(key, "nonce", b)[:12]
		b = box.Seal(append([]byte{sealedVersion}, nonce...), nonce, b, nil)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// sealer encrypts tokens. Its nonce is a MAC of the token. So equal tokens are equal when sealed,
// and different tokens never share a nonce.
func sealer(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(mac(key, "key", nil))
	if err != nil {
		panic("store: a key of 32 bytes was refused: " + err.Error())
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		panic("store: AES has no GCM: " + err.Error())
	}
	return box
}

func mac(key []byte, use string, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("ingot page token " + use + "\n"))
	h.Write(text)
	return h.Sum(nil)
}

// openToken reads a token. It refuses one that was altered, or that belongs to another question.
func openToken(token string, key []byte, bound string) (position, error) {
	if len(token) > maxToken {
		return position{}, errAlteredToken
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) == 0 {
		return position{}, errAlteredToken
	}
	switch sealed := b[0] == sealedVersion; {
	case sealed && len(key) == 0:
		return position{}, errSealedToken
	case !sealed && len(key) > 0:
		return position{}, errUnsealedToken
	case sealed:
		if len(b) < 13 {
			return position{}, errAlteredToken
		}
		if b, err = sealer(key).Open(nil, b[1:13], b[13:], nil); err != nil {
			return position{}, errSealedToken
		}
	}
	return parseToken(b, bound)
}

// parseToken reads an open token.
func parseToken(b []byte, bound string) (position, error) {
	if len(b) < 1+digestBytes+sumBytes || b[0] != openVersion {
		return position{}, errAlteredToken
	}
	body, sum := b[:len(b)-sumBytes], sha256.Sum256(b[:len(b)-sumBytes])
	if subtle.ConstantTimeCompare(sum[:sumBytes], b[len(b)-sumBytes:]) == 0 {
		return position{}, errAlteredToken
	}
	digest := sha256.Sum256([]byte(bound))
	if subtle.ConstantTimeCompare(digest[:digestBytes], body[1:1+digestBytes]) == 0 {
		return position{}, errForeignToken
	}
	return parsePosition(body[1+digestBytes:])
}

// appendPosition writes a position.
func appendPosition(b []byte, at position) []byte {
	b = varint.AppendVarint(b, at.period)
	for _, text := range []string{at.sk, at.partition, at.own.PK, at.own.SK} {
		b = varint.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	return b
}

// parsePosition reads what appendPosition wrote.
func parsePosition(rest []byte) (at position, err error) {
	period, n := varint.Varint(rest)
	if n <= 0 {
		return position{}, errAlteredToken
	}
	at.period, rest = period, rest[n:]
	for _, into := range []*string{&at.sk, &at.partition, &at.own.PK, &at.own.SK} {
		size, n := varint.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return position{}, errAlteredToken
		}
		*into, rest = string(rest[n:n+int(size)]), rest[n+int(size):]
	}
	if len(rest) > 0 || at.begun() != (at.sk != "" && at.own.PK != "" && at.own.SK != "") {
		return position{}, errAlteredToken
	}
	return at, nil
}
