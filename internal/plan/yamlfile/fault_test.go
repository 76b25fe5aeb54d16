package yamlfile

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
)

const file = `ingot: 1
epoch: 1
type: "{type}"
events:
  reading:
    id: "{sensor}#{@at | time}"
    at: "{taken_at}"
    key: {pk: "SENSOR#{sensor}", sk: "{@at | time}"}
    retain: 30d # for a month
aggregates:
  hourly:
    since: 1
    by: {sensor: "{sensor}"}
    window: 1h
    from:
      reading: {values: {readings: count, warmest: max celsius}}
    retain: 60d
`

func explained(text string) (string, bool) {
	_, f := Parse([]byte(text))
	if f == nil {
		return "", false
	}
	return f.Error(), true
}

const (
	quotes  = `write what holds a brace, a bracket, a comma, # or @ in quotes, as in "{order_id}"`
	atEnds  = "write each text with a quote at either end"
	columns = ", like the lines beside it"
)

// slips are the slips of a first file. Each is one change in a correct file.
var slips = []struct{ name, old, new, want string }{
	{"no brace at the end", "celsius}}", "celsius}",
		"16:16: invalid YAML: the brace that opens here is not closed; write } where it ends"},
	{"no brace, of one", `time}"}`, `time}"`, "8:10: invalid YAML: the brace that opens here is not closed; write } where it ends"},
	{"no bracket", "30d", "[a, b", "9:13: invalid YAML: the bracket that opens here is not closed; write ] where it ends"},
	{"no bracket at the end of the file", "60d", "[[a]",
		"17:13: invalid YAML: the bracket that opens here is not closed; write ] where it ends"},
	{"a bracket in a brace", "{values: {readings: count,", "{values: [{readings: count,", ""},
	{"a brace too many", "celsius}}", "celsius}}}", "16:65: invalid YAML: the } here closes nothing; write the line without it"},
	{"a comment takes the brace", `"SENSOR#{sensor}"`, `SENSOR #{sensor}`, "8:10: invalid YAML: the brace that opens here is not closed: " +
		"from the # on, the rest of its line is a comment; write what holds a # in quotes"},
	{"a brace without quotes", `"SENSOR#{sensor}"`, `SENSOR#{sensor}`, "8:22: invalid YAML: ',' or '}' must be specified; " + quotes},
	{"an at sign without quotes", `"{@at | time}"}`, `{@at | time}}`, "8:39: invalid YAML: '@' is a reserved character; " + quotes},
	{"no comma", `", sk`, `" sk`, "8:33: invalid YAML: there is no comma before sk; write a comma before it"},
	{"no closing quote", `| time}"` + "\n", "| time}\n",
		"6:9: invalid YAML: the quote that opens here is closed by the one in 7:9, and more follows that one; " + atEnds},
	{"no closing quote in a brace", `{sensor}", sk`, `{sensor}, sk`,
		"8:15: invalid YAML: the quote that opens here is closed by the one in 8:37, and more follows that one; " + atEnds},
	{"no closing quote before a brace", `time}"}`, `time}}`,
		"8:38: invalid YAML: the quote that opens here is closed by the one in 13:18, and more follows that one; " + atEnds},
	{"no opening quote in a brace", `{pk: "`, `{pk: `,
		"8:30: invalid YAML: the quote that opens here is closed by the one in 8:37, and more follows that one; " + atEnds},
	{"a quote inside a text", "warmest: max celsius", `warmest: max "{celsius}"`,
		"16:52: invalid YAML: this text begins without a quote, and a quote opens inside it; write the whole text in quotes"},
	{"never closed", `id: "`, `id: '`,
		"6:9: invalid YAML: the quote that opens here is not closed; write a closing quote where the text ends"},
	{"a column too few", "    retain: 30d", "   retain: 30d",
		"9:4: invalid YAML: this line begins in column 4, and no line that it could belong with does; write it in column 1, 3 or 5" +
			columns},
	{"a column too many", "    retain: 30d", "     retain: 30d",
		"9:6: invalid YAML: this line begins in column 6, and no line that it could belong with does; write it in column 1, 3 or 5" +
			columns},
	{"a column too many below quotes", "    at: ", "     at: ",
		"7:6: invalid YAML: this line begins in column 6, and no line that it could belong with does; write it in column 1, 3 or 5" +
			columns},
	{"a line of text below quotes", "    retain: 30d # for a month", "    retain: \"30d\"\n      and more",
		"10:7: invalid YAML: text follows the closing quote; write all of it in one pair of quotes"},
	{"text after the quote", "    retain: 30d # for a month", `    retain: "30d" and more`,
		"9:19: invalid YAML: text follows the closing quote; write all of it in one pair of quotes"},
	{"a column too few at the end", "    retain: 60d", "   retain: 60d",
		"17:4: invalid YAML: this line begins in column 4, and no line that it could belong with does; write it in column 1, 3, 5 or 7" +
			columns},
	{"a tab", "    retain: 30d", "\tretain: 30d",
		"9:1: invalid YAML: found character '\t' that cannot start any token; write spaces"},
	{"no blank in the first line", "ingot: 1", "ingot:1",
		"1:1: invalid YAML: there is no space after the colon of ingot; write ingot: 1"},
	{"no blank", "retain: 30d", "retain:30d", "9:5: invalid YAML: there is no space after the colon of retain; write retain: 30d"},
	{"no colon", "events:", "events", "4:1: invalid YAML: there is no colon after events; write events:"},
	{"no colon before a value", "epoch: 1", "epoch 1",
		"2:1: invalid YAML: this line has no name with a colon; write a name, a colon, a space and the value"},
	{"two colons", "id: ", "id: x: ",
		"6:9: invalid YAML: this line has a second colon; write text that has a colon and a space in quotes"},
	{"a value and names", "    from:\n", "    from: reading\n",
		"15:11: invalid YAML: a value stands here, and names follow below it in line 16; write one of the two"},
	{"a dash", "    retain: 30d", "    - retain: 30d",
		"9:5: invalid YAML: an entry of a list is among names; write it without the dash, or below a name of its own"},
	{"an escape", `"{taken_at}"`, `"\d"`,
		`7:11: invalid YAML: found unknown escape character 'd'; write \\ for a backslash, or the text in single quotes`},
	{"no colon, and names below", "  reading:\n", "  reading\n",
		"5:3: invalid YAML: there is no colon after reading; write reading:"},
	{"a bracket that nothing opens", "{sensor: ", "{sensor: ]",
		"13:18: invalid YAML: the ] here closes nothing; write the line without it"},
	{"a brace before a name", "    by:", "  { by:",
		"13:3: invalid YAML: the brace that opens here is not closed; write } where it ends"},
	{"an alias", "    window: 1h", "    *window: 1h",
		"14:5: invalid YAML: non-map value is specified; write the value itself: aliases are not read"},
	{"no colon, and text with signs", "sk: \"{@at", "sk \"{@at", ""},
	{"a greater-than sign", "30d", ">x", `9:13: invalid YAML: invalid header option: "x"; write what begins with > or | in quotes`},
}

func TestSlips(t *testing.T) {
	for _, c := range slips {
		if !strings.Contains(file, c.old) {
			t.Fatalf("%s: the file has no %q", c.name, c.old)
		}
		for ends, text := range map[string]string{"\n": file, "\r\n": strings.ReplaceAll(file, "\n", "\r\n")} {
			change := strings.NewReplacer("\n", ends)
			got, failed := explained(strings.Replace(text, change.Replace(c.old), change.Replace(c.new), 1))
			if !failed || c.want != "" && got != c.want {
				t.Errorf("%s (lines end in %q):\n got %s\nwant %s", c.name, ends, got, c.want)
			}
		}
	}
}

// If a file has several slips, the first one is named.
func TestTheFirstSlipIsNamed(t *testing.T) {
	text := strings.Replace(strings.Replace(file, `time}"}`, `time}"`, 1), "celsius}}", "celsius}", 1)
	if got, _ := explained(text); !strings.HasPrefix(got, "8:10: invalid YAML: the brace that opens here is not closed") {
		t.Error(got)
	}
}

// Quotes and brackets in comments, in texts and in blocks do not count as such.
func TestWhatIsNoQuote(t *testing.T) {
	for _, before := range []string{"# it's {\n", "a: it's\n", "a: \"{ [ '\"\n", "a: '{ it''s'\n", "a: |\n  \"{ it's\n",
		"a: \"two\n  lines\"\n", "a: {b: \"x\\\" }\"}\n", "a: [\n  'x', # it's\n  \"y\"]\n"} {
		got, failed := explained(before + "b: 1\n c: 2\n")
		if !failed || strings.Contains(got, "quote") || strings.Contains(got, "brace") {
			t.Errorf("%q: %s", before, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	corpus.Add(f)
	for _, c := range slips {
		f.Add(strings.Replace(file, c.old, c.new, 1))
	}
	f.Add("a: \"\\")
	f.Add("- - 'x\n}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 { // the parser is slow on nonsense
			return
		}
		if _, fault := Parse([]byte(text)); fault != nil &&
			(fault.Line < 1 || fault.Column < 1 || !strings.HasPrefix(fault.What, "invalid YAML: ") || fault.Instead == "" &&
				fault.Line > 1) {
			t.Fatalf("%+v", fault)
		}
	})
}
