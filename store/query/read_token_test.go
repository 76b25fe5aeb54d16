package query

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

var (
	tokenPlace = position{period: 1772323200, sk: "2026-03-01T09:00:00Z#1", partition: "DAY#2026-03-01#3",
		own: event.Key{PK: "ORDER#1", SK: "ORDER"}}
	tokenKey = []byte("sixteen bytes of")
)

// TestTokenBytes fixes the bytes of page tokens. A token may outlive a deployment.
func TestTokenBytes(t *testing.T) {
	for _, c := range []struct {
		at   position
		key  []byte
		want string
	}{
		{tokenPlace, nil,
			"AdEBl2gv4gxeu6graMgn1XWAhpyaDRYyMDI2LTAzLTAxVDA5OjAwOjAwWiMxEERBWSMyMDI2LTAzLTAxIzMHT1JERVIjMQVPUkRFUiKAzmhxFm4_"},
		{position{period: noPeriod}, nil, "AdEBl2gv4gxeu6graMgn1XX__________38AAAAAOlGKzgDbs2E"},
		{tokenPlace, tokenKey,
			"ApKM8HYPKyvIvGtGh5xcoFgIXadkIzCOFcRPudwcrh5Fx-PNZeALSsQXofnTPOf9_VE1U0m-1268jRZJFtQqRK2VthxYHKdoNWl4E70ollzoiR_CSNW1RoiK-nxKlvquCbvFiCEGeFmkZXomYQa66l4"},
	} {
		token := sealToken(c.at, c.key, "the question")
		must.Equal(t, token, c.want)
		if got, err := openToken(token, c.key, "the question"); err != nil || got != c.at {
			t.Errorf("%s is read as %+v, %v", token, got, err)
		}
		must.Equal(t, sealToken(c.at, c.key, "the question"), token)
	}
	if sealed := sealToken(tokenPlace, tokenKey, "q"); strings.Contains(decoded(sealed), "ORDER") {
		t.Error("a sealed token shows a key")
	}
}

func decoded(token string) string {
	b, _ := base64.RawURLEncoding.DecodeString(token)
	return string(b)
}

// TestRefusedTokens changes every byte of a token, cuts it everywhere, and takes it to another
// question and another key.
func TestRefusedTokens(t *testing.T) {
	for _, key := range [][]byte{nil, tokenKey} {
		token := sealToken(tokenPlace, key, "the question")
		raw := []byte(decoded(token))
		for i := range raw {
			altered := append([]byte{}, raw...)
			altered[i] ^= 1
			if at, err := openToken(base64.RawURLEncoding.EncodeToString(altered), key, "the question"); err == nil {
				t.Errorf("with byte %d altered, the token is read as %+v", i, at)
			}
			if at, err := openToken(base64.RawURLEncoding.EncodeToString(raw[:i]), key, "the question"); err == nil {
				t.Errorf("cut to %d bytes, the token is read as %+v", i, at)
			}
		}
		for _, c := range []struct {
			token, question string
			key             []byte
			want            error
		}{
			{token, "another", key, errForeignToken}, {"", "the question", key, errAlteredToken},
			{"%%%", "the question", key, errAlteredToken},
			{token + "A", "the question", key, nil}, {strings.Repeat("A", maxToken+1), "the question", key, errAlteredToken},
			{token, "the question", []byte("another sixteen bytes"), nil},
		} {
			if _, err := openToken(c.token, c.key, c.question); err == nil || c.want != nil && err != c.want {
				t.Errorf("token %.40s for %q: %v, not %v", c.token, c.question, err, c.want)
			}
		}
	}
	if _, err := openToken(sealToken(tokenPlace, tokenKey, "q"), nil, "q"); err != errSealedToken {
		t.Errorf("a sealed token without the key: %v", err)
	}
	if _, err := openToken(sealToken(tokenPlace, nil, "q"), tokenKey, "q"); err != errUnsealedToken {
		t.Errorf("an open token with the key: %v", err)
	}
}

// FuzzToken gives the decoder any token, and any position behind a right checksum. What it accepts
// is read again as it was.
func FuzzToken(f *testing.F) {
	corpus.Add(f)
	f.Add(sealToken(tokenPlace, nil, "q"))
	f.Add(string(appendPosition(nil, tokenPlace)))
	f.Add(string(appendPosition(nil, position{period: noPeriod})))
	f.Add("\x01")
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = openToken(text, nil, "q")
		_, _ = openToken(text, tokenKey, "q")
		at, err := parsePosition([]byte(text))
		if err != nil {
			return
		}
		again, err := openToken(sealToken(at, tokenKey, "q"), tokenKey, "q")
		if err != nil || again != at {
			t.Errorf("%q is read as %+v, and written again it is %+v, %v", text, at, again, err)
		}
	})
}
