package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// contributeLine returns what a line contributes, when lines are declared.
func (m *Model) contributeLine(img *Image) []Part {
	day := img.Time().UTC().Truncate(24 * time.Hour)
	return []Part{
		{Name: "lines", By: img.Merchant, since: m.LinesSince, Window: "-", subtract: true, spread: 1,
			Values: map[string]int64{"lines": 1, "revenue": img.Cents}},
		{Name: "line_days", since: m.LinesSince, Window: day.Format(time.RFC3339),
			expires: day.Add(24*time.Hour + m.outliving()).Unix(), spread: 1, unclosed: m.Retain >= UnclosedFrom,
			Values: map[string]int64{"lines": 1}, max: map[string]int64{"largest": img.Cents}},
	}
}

// noLines is what [fact.Lines] says of an order whose array of lines is empty.
const NoLines = "-"

// LineFacts returns the parts of an order.
func (f Fact) LineFacts() (list []Fact) {
	if f.Lines == "" || f.Lines == NoLines {
		return nil
	}
	for _, text := range strings.Split(f.Lines, ",") {
		number, cents, _ := strings.Cut(text, "=")
		list = append(list, Fact{Type: "line", ID: f.ID + "#" + number, Merchant: f.Merchant, At: f.At, Cents: atoi(cents)})
	}
	return list
}

// WholeID returns the id of the order that a line is a part of, and the number of the line.
func (f Fact) WholeID() (id, number string) {
	id, number, _ = strings.Cut(f.ID, "#")
	return id, number
}

// readLines returns lines in the form of [fact.Lines].
func readLines(lines []struct{ Line, Cents float64 }) string {
	if lines == nil {
		return ""
	}
	var list []string
	for _, l := range lines {
		list = append(list, fmt.Sprintf("%d=%d", int64(l.Line), int64(l.Cents)))
	}
	return cmp.Or(strings.Join(list, ","), NoLines)
}

// readLine reads the payload of a line.
func readLine(data string) (Fact, error) {
	var raw struct {
		ID, Merchant, At string
		Line, Cents      float64
	}
	if err := json.Unmarshal([]byte(data), &raw); err != nil {
		return Fact{}, err
	}
	return Fact{Type: "line", ID: raw.ID + "#" + strconv.FormatInt(int64(raw.Line), 10), Merchant: raw.Merchant, At: raw.At,
		Cents: int64(raw.Cents)}, nil
}

// storedLine returns what the item of a line must hold. See [fact.stored].
func (f Fact) storedLine() map[string]Typed {
	all := f.common()
	all["amount"], all["GSI1SK"] = Typed{"N", strconv.FormatInt(f.Cents, 10)}, all["at"]
	all["GSI1PK"] = Typed{"S", "MERCHANT#" + strings.ReplaceAll(f.Merchant, "#", "%23")}
	return all
}

// digestLine returns the digest of a line, which is about its order too.
func (f Fact) digestLine() [sha256.Size]byte {
	id, number := f.WholeID()
	payload := map[string]any{"id": id, "merchant": f.Merchant, "at": f.At, "line": atoi(number), "cents": f.Cents}
	text, _ := json.Marshal([]any{f.Type, payload, "order", id}) // texts and numbers: Marshal cannot fail
	return sha256.Sum256(text)
}

// Holds returns what a key holds now.
func (h *History) Holds() *Image {
	if h == nil || len(h.States) == 0 {
		return nil
	}
	return h.States[len(h.States)-1].Image
}
