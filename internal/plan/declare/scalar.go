package declare

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/yamlfile"
	"github.com/ingot-events/ingot/keys"
)

// text decodes a string. Numbers and booleans must be quoted, because YAML would change their
// spelling.
func (d *Decoder) text(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	switch n.Kind {
	case yamlfile.Text:
		if n.Style == yamlfile.Block {
			d.setText(p, strings.TrimRight(n.Text, "\n"), into, tags)
			return
		}
		d.setText(p, n.Text, into, tags)
		pos := Position{Position: n.Position, Verbatim: n.Verbatim}
		if n.Verbatim && n.Style == yamlfile.Quoted {
			pos.Inset = 1
		}
		d.Values[p] = pos
	case yamlfile.Integer, yamlfile.Float, yamlfile.Bool:
		d.wrongKind(p, n, "text", strconv.Quote(n.Text))
	case yamlfile.Map: // YAML reads {a} without quotes as a mapping
		d.wrongKind(p, n, "text", `it in quotes, as in "{order_id}"`)
	default:
		d.wrongKind(p, n, "text", "one text in quotes")
	}
}

// textOrList decodes one text. It decodes a list of texts as one text with a line for each entry.
func (d *Decoder) textOrList(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	if n.Kind != yamlfile.List {
		d.text(p, n, into, tags)
		return
	}
	if len(n.Items) == 0 {
		d.Breaks(p, NameOf(p)+" is an empty list", "a text, or a list with one in it")
	}
	lines := make([]string, len(n.Items))
	for i, v := range n.Items {
		at := p.In(strconv.Itoa(i))
		d.Value(at, v, reflect.ValueOf(&lines[i]).Elem(), nil)
		if strings.Contains(lines[i], "\n") {
			d.Breaks(at, NameOf(at)+" has several lines", "one line")
		}
	}
	into.SetString(strings.Join(lines, "\n"))
}

// setText refuses empty text, which would mean the same as a missing member.
func (d *Decoder) setText(p Place, text string, into reflect.Value, tags *reflect.StructField) {
	if text == "" {
		instead := "text" + orLeaveOut(p, tags)
		if d.words.Empty != nil {
			instead = cmp.Or(d.words.Empty(NameOf(p)), instead)
		}
		d.Breaks(p, NameOf(p)+" is empty", instead)
	}
	into.SetString(text)
}

// ownText reports whether n is text and not a block of lines.
func ownText(n *yamlfile.Node) bool { return n.Kind == yamlfile.Text && n.Style != yamlfile.Block }

func (d *Decoder) duration(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	parse, form := lifetime.Parse, "a whole number and s, m, h, d or w, as in 90d"
	if tags != nil && tags.Tag.Get("calendar") == "yes" {
		parse, form = lifetime.ParseWindow, form+", or 1mo or 1y for months and years of the calendar"
	}
	if !ownText(n) {
		d.wrongKind(p, n, "a duration", form)
		return
	}
	v, err := parse(n.Text)
	if err != nil {
		d.Breaks(p, err.Error(), form)
		return
	}
	into.SetInt(int64(v))
}

// ATime shows how a time is written.
const ATime = "2026-03-01T00:00:00Z"

func (d *Decoder) time(p Place, n *yamlfile.Node, into reflect.Value) {
	if !ownText(n) {
		d.wrongKind(p, n, "a time", "a time as in "+ATime)
		return
	}
	at, err := keys.ParseTime(n.Text)
	if err != nil {
		d.Breaks(p, err.Error(), "a time as in "+ATime)
		return
	}
	into.Set(reflect.ValueOf(at))
}

func (d *Decoder) integer(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	least, most := limits(tags)
	if string(p) == d.words.Version {
		least, most = int64(d.words.Format), int64(d.words.Format)
	}
	if n.Kind == yamlfile.Text && n.Style == yamlfile.Plain && strings.Trim(n.Text, "0123456789") == "" {
		d.Breaks(p, NameOf(p)+" is too large", RangeText(least, most)) // the parser reads it as text
		return
	}
	if n.Kind != yamlfile.Integer {
		d.wrongKind(p, n, "a whole number", wholeNumber(n, least, most))
		return
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil {
		d.Breaks(p, fmt.Sprintf("%s is %s, which is not a plain whole number", NameOf(p), n.Text), RangeText(least, most))
		return
	}
	if v < least || v > most {
		d.Breaks(p, fmt.Sprintf("%s is %d", NameOf(p), v), RangeText(least, most))
		return
	}
	into.SetInt(v)
}

// size decodes a number of bytes, which the file writes as 64KB.
func (d *Decoder) size(p Place, n *yamlfile.Node, into reflect.Value, tags *reflect.StructField) {
	least, most := limits(tags)
	form := fmt.Sprintf("a whole number and KB, from %s to %s", SizeText(least), SizeText(most))
	if !ownText(n) {
		d.wrongKind(p, n, "a size", form)
		return
	}
	digits, ok := strings.CutSuffix(n.Text, "KB")
	v, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || digits[0] == '+' || v < least>>10 || v > most>>10 {
		d.Breaks(p, fmt.Sprintf("%s is %s", NameOf(p), excerpt.Of(n.Text, 100)), form)
		return
	}
	into.SetInt(v << 10)
}

// SizeText writes what size reads.
func SizeText(bytes int64) string { return strconv.FormatInt(bytes>>10, 10) + "KB" }

// decimal decodes a number exactly, in the spelling that JSON has.
func (d *Decoder) decimal(p Place, n *yamlfile.Node, into reflect.Value) {
	const form = "a number such as 0 or -100.5"
	if n.Kind != yamlfile.Integer && n.Kind != yamlfile.Float && !ownText(n) {
		d.wrongKind(p, n, "a number", form)
		return
	}
	v, err := event.ParseDecimal(n.Text)
	if err != nil {
		d.Breaks(p, fmt.Sprintf("%s is %s, which is not a plain number", NameOf(p), excerpt.Of(n.Text, 100)), form)
		return
	}
	into.Set(reflect.ValueOf(v))
}

func (d *Decoder) boolean(p Place, n *yamlfile.Node, into reflect.Value) {
	if n.Kind != yamlfile.Bool {
		d.wrongKind(p, n, "true or false", "true, or leave "+NameOf(p)+" out")
		return
	}
	into.SetBool(strings.EqualFold(n.Text, "true"))
}

// wholeNumber returns what to write for a number: the same number without its quotes, if it is one.
func wholeNumber(n *yamlfile.Node, least, most int64) string {
	if ownText(n) {
		if v, err := strconv.ParseInt(n.Text, 10, 64); err == nil && v >= least && v <= most {
			return strconv.FormatInt(v, 10) + " without quotes"
		}
	}
	return RangeText(least, most)
}

// limits reads the range that a field's tags allow.
func limits(f *reflect.StructField) (least, most int64) {
	least, most = math.MinInt64, Unlimited
	if v, err := strconv.ParseInt(f.Tag.Get("min"), 10, 64); err == nil {
		least = v
	}
	if v, err := strconv.ParseInt(f.Tag.Get("max"), 10, 64); err == nil {
		most = v
	}
	return least, most
}

// Unlimited is the largest whole number that every JSON reader keeps exactly.
const Unlimited = 1<<53 - 1

// RangeText says which whole numbers a member takes.
func RangeText(least, most int64) string {
	switch {
	case least == most:
		return strconv.FormatInt(least, 10)
	case most == Unlimited:
		return fmt.Sprintf("a whole number of at least %d", least)
	}
	return fmt.Sprintf("a whole number from %d to %d", least, most)
}
