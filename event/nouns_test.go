package event

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestSequence(t *testing.T) {
	low, high := "100000000000000000001", strings.Repeat("9", 40)
	for _, text := range []string{low, "000000000000000000000", "111111111111111111111111", high} {
		s, err := ParseSequence(text)
		if err != nil || s.String() != text || s.IsZero() {
			t.Errorf("%s: %v, %v", text, s, err)
		}
		want, _ := new(big.Int).SetString(text, 10)
		number := s.Bytes()
		must.Equal(t, new(big.Int).SetBytes(number[:]).Cmp(want), 0, text)
	}
	for _, text := range []string{"", "1", strings.Repeat("1", 20), strings.Repeat("1", 41), strings.Repeat("1", 20) + "x", "-" + low,
		"١" + low, " " + low} {
		if s, err := ParseSequence(text); err == nil || !s.IsZero() {
			t.Errorf("%q is taken for a sequence number", text)
		}
	}
	must.Equal(t, (Sequence{}).Compare(Sequence{}), 0)
}

// Number order, text of any length, byte order: all one.
func TestSequenceOrder(t *testing.T) {
	r := seeded(t)
	some := func() (Sequence, *big.Int) {
		digits := make([]byte, 21+r.IntN(20))
		for i := range digits {
			digits[i] = "0019"[r.IntN(4)]
		}
		s, err := ParseSequence(string(digits))
		must.Succeed(t, err)
		n, _ := new(big.Int).SetString(string(digits), 10)
		return s, n
	}
	for range 10_000 {
		a, na := some()
		b, nb := some()
		ab, bb := a.Bytes(), b.Bytes()
		if a.Compare(b) != na.Cmp(nb) || bytes.Compare(ab[:], bb[:]) != na.Cmp(nb) {
			t.Fatalf("%s against %s", a, b)
		}
	}
}

func TestKey(t *testing.T) {
	keys := []Key{{"b", "1"}, {"a", "2"}, {"a", "1"}, {}, {"a", ""}}
	slices.SortFunc(keys, Key.Compare)
	must.Match(t, keys, []Key{{}, {"a", ""}, {"a", "1"}, {"a", "2"}, {"b", "1"}})
	if !(Key{}).IsZero() || (Key{SK: "x"}).IsZero() || (Key{"p", "s"}).String() != "p / s" {
		t.Error("a key misnames itself")
	}
}

func TestDigestText(t *testing.T) {
	var d Digest
	for i := range d {
		d[i] = byte(i * 9)
	}
	if got := d.String(); got != fmt.Sprintf("%x", d[:]) || d.IsZero() || !(Digest{}).IsZero() {
		t.Errorf("a digest reads %s", got)
	}
}

func TestVerdicts(t *testing.T) {
	seen := map[string]bool{}
	for i, v := range Verdicts {
		if int(v) != i+1 || v.String() == "Invalid" || seen[v.String()] {
			t.Errorf("verdict %d is %s", i, v)
		}
		seen[v.String()] = true
		if again, ok := ParseVerdict(v.String()); !ok || again != v {
			t.Errorf("%s is read as %s", v, again)
		}
		ways := 0
		for _, way := range []bool{v.Done(), v.Quarantined(), v == Retry} {
			if way {
				ways++
			}
		}
		must.Equal(t, ways, 1, v)
	}
	if Verdict(0).String() != "None" || Verdict(99).String() != "Invalid" || Verdict(0).Stored() ||
		Verdict(0).Done() || Verdict(99).Done() || Verdict(0).Quarantined() {
		t.Error("no verdict is taken for one")
	}
	for _, name := range []string{"", "None", "Invalid", "inserted"} {
		if v, ok := ParseVerdict(name); ok || v != 0 {
			t.Errorf("%q is read as %s", name, v)
		}
	}
	var err error = Poisoned(MissingField, "id: field order_id is missing")
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Verdict != Poison || err.Error() != "Poison (missing-field): id: field order_id is missing" {
		t.Errorf("refusal reads %q", err)
	}
}

func TestChangeKinds(t *testing.T) {
	for kind, want := range map[ChangeKind]string{Insert: "INSERT", Modify: "MODIFY", Remove: "REMOVE", 0: "UNKNOWN", 9: "UNKNOWN"} {
		must.Equal(t, kind.String(), want, kind)
	}
}

func TestItemExpires(t *testing.T) {
	item := &Item{ExpiresAt: 1000}
	if item.Expired(time.Unix(999, 999_999_999)) || !item.Expired(time.Unix(1000, 0)) || (&Item{}).Expired(time.Unix(1<<40, 0)) {
		t.Error("an item expires at its second, and one without never")
	}
}

func TestIntSize(t *testing.T) {
	for _, i := range []int64{0, 1, -1, 10, 120, -100, 1<<53 + 1, math.MaxInt64, math.MinInt64, 1700000000} {
		if got, want := intSize(i), itemform.NumberSize(strconv.FormatInt(i, 10)); got != want {
			t.Errorf("%d takes %d bytes, want %d", i, got, want)
		}
	}
}

func TestItemSizeAndWriteUnits(t *testing.T) {
	item := &Item{
		Key: Key{"P", "S"}, Type: "t", ID: "i", Epoch: 1, Data: `{}`, ExpiresAt: 1700000000,
		Indexes:  []IndexKey{{"GSI1", Key{"aa", "bbb"}}},
		Revision: new(Decimal), Meta: map[string]string{"source": "x"},
		Attributes: []Attribute{{"s", StringAttribute, "héllo"}, {"n", NumberAttribute, "12"}, {"b", BoolAttribute, "true"}},
	}
	want := 2 + 1 + 2 + 1 + // PK, SK
		4 + 1 + 2 + 1 + // type, id
		2 + 30 + 6 + 32 + // at, digest
		5 + 2 + 4 + 2 + // epoch, data
		9 + 2 + // expiresAt: 17 is all that is significant
		6 + 2 + 6 + 3 + // GSI1PK, GSI1SK
		8 + 1 + // revision 0
		4 + 3 + 1 + 6 + 1 + // meta
		1 + 6 + 1 + 2 + 1 + 1 // s, n, b
	must.Equal(t, item.Size(), want)
}
