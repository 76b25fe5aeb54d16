package keys

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
)

// Each function here replaces the text dst[from:] by its result, in place where it can.

// pad needs the digits of a non-negative integer in normal form. Otherwise the texts 7 and 007
// would make one key.
func pad(dst []byte, from, width int, _ *Source) ([]byte, error) {
	digits := dst[from:]
	for i, c := range digits {
		if c < '0' || c > '9' || c == '0' && i == 0 && len(digits) > 1 {
			return dst, event.Poisoned(event.WrongType, quote(digits)+" is not a non-negative integer without leading zeros")
		}
	}
	missing := width - len(digits)
	if missing < 0 {
		return dst, event.Poisoned(event.NumberOutOfRange, fmt.Sprintf("%s has more than %d digits", quote(digits), width))
	}
	for range missing {
		dst = append(dst, '0')
	}
	copy(dst[from+missing:], dst[from:])
	for i := range missing {
		dst[from+i] = '0'
	}
	return dst, nil
}

func rev(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	for i := from; i < len(dst); i++ {
		if c := dst[i]; c >= '0' && c <= '9' {
			dst[i] = '0' + '9' - c
		}
	}
	return dst, nil
}

func shard(dst []byte, from, shards int, _ *Source) ([]byte, error) {
	sum := sha256.Sum256(dst[from:])
	return strconv.AppendUint(dst[:from], binary.BigEndian.Uint64(sum[:8])%uint64(shards), 10), nil
}

// splitAt keeps piece n of the text, from 1.
func splitAt(separator string) runs {
	separator = cmp.Or(separator, "#")
	return func(dst []byte, from, n int, _ *Source) ([]byte, error) {
		text := dst[from:]
		for ; n > 1; n-- {
			_, after, found := bytes.Cut(text, []byte(separator))
			if !found {
				return dst, event.Poisoned(event.MissingField, quote(dst[from:])+" has too few pieces between "+separator)
			}
			text = after
		}
		piece, _, _ := bytes.Cut(text, []byte(separator))
		return append(dst[:from], piece...), nil
	}
}

// parentAt keeps what comes before the last separator. If nothing does, the parent is missing, as
// an empty value is: the item is then in no index that needs it.
func parentAt(separator string) runs {
	separator = cmp.Or(separator, "/")
	return func(dst []byte, from, _ int, _ *Source) ([]byte, error) {
		end := bytes.LastIndex(dst[from:], []byte(separator))
		if end <= 0 {
			return dst, &Missing{What: "nothing comes before a " + separator}
		}
		return dst[:from+end], nil
	}
}

// hash keeps the first digits hex digits, or all of them if digits is 0.
func hash(dst []byte, from, digits int, _ *Source) ([]byte, error) {
	sum := sha256.Sum256(dst[from:])
	dst = hex.AppendEncode(dst[:from], sum[:])
	if digits > 0 {
		dst = dst[:from+digits]
	}
	return dst, nil
}

// labelledHash is hmac with a key that is derived for this label, or with the secret itself.
func labelledHash(label string) runs {
	return func(dst []byte, from, _ int, s *Source) ([]byte, error) { return hashWith(dst, from, s, label) }
}

func hashWith(dst []byte, from int, s *Source, label string) ([]byte, error) {
	if len(s.Secret) == 0 {
		// A key is never made without the secret: anyone could recompute it from a list of e-mail
		// addresses.
		return dst, &event.Refusal{Verdict: event.Retry, Reason: event.Refused, Detail: "there is no secret; set INGOT_PII_KEY"}
	}
	key := s.Secret
	if label != "" {
		// The label is the key of this HMAC, and the secret is its message (HKDF-Extract, RFC
		// 5869). The other way round, plain hmac of a field that holds the label's text would store
		// the derived key.
		derive := hmac.New(sha256.New, []byte("ingot hmac:"+label))
		derive.Write(s.Secret)
		key = derive.Sum(nil)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(dst[from:])
	return hex.AppendEncode(dst[:from], mac.Sum(nil)), nil
}

// SecretCheck returns a text that identifies a secret of hmac without showing it: the first 16 hex
// digits of the HMAC-SHA-256 of name. name is the partition key of the item that holds this check
// value.
func SecretCheck(secret []byte, name string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(name))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

func first(dst []byte, from, points int, _ *Source) ([]byte, error) {
	end := from
	for ; points > 0 && end < len(dst); points-- {
		_, width := utf8.DecodeRune(dst[end:])
		end += width
	}
	return dst[:end], nil
}

func trim(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	start, end := from, len(dst)
	for end > start && asciiSpace(dst[end-1]) {
		end--
	}
	for start < end && asciiSpace(dst[start]) {
		start++
	}
	return append(dst[:from], dst[start:end]...), nil
}

func asciiSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// strip takes white space away as Unicode defines it.
func strip(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	return append(dst[:from], bytes.TrimSpace(dst[from:])...), nil
}

// number makes the normal form of a number.
func number(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	d, err := event.ParseDecimal(string(dst[from:]))
	if err != nil {
		return dst, event.Poisoned(event.WrongType, quote(dst[from:])+" is not a number")
	}
	return d.Append(dst[:from]), nil
}

// urlDecode reads application/x-www-form-urlencoded, as the keys in S3 notifications are written.
func urlDecode(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	text, err := url.QueryUnescape(string(dst[from:]))
	switch {
	case err != nil:
		return dst, event.Poisoned(event.WrongType, quote(dst[from:])+" has a % without two hex digits behind it")
	case !utf8.ValidString(text):
		return dst, event.Poisoned(event.WrongType, quote(dst[from:])+" is not the URL encoding of UTF-8")
	}
	return append(dst[:from], text...), nil
}

func lower(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	for i := from; i < len(dst); i++ {
		if c := dst[i]; 'A' <= c && c <= 'Z' {
			dst[i] = c | 0x20
		}
	}
	return dst, nil
}

func upper(dst []byte, from, _ int, _ *Source) ([]byte, error) {
	for i := from; i < len(dst); i++ {
		if c := dst[i]; 'a' <= c && c <= 'z' {
			dst[i] = c &^ 0x20
		}
	}
	return dst, nil
}
