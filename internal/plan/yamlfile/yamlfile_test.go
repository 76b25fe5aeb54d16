package yamlfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// show writes a node in one line, with the place of each value.
func show(n *Node) string {
	if n == nil {
		return "nothing"
	}
	text := fmt.Sprintf("%d:%d ", n.Line, n.Column)
	switch n.Kind {
	case List:
		var items []string
		for _, item := range n.Items {
			items = append(items, show(item))
		}
		return text + "[" + strings.Join(items, ", ") + "]"
	case Map:
		var members []string
		for _, m := range n.Members {
			members = append(members,
				fmt.Sprintf("%d:%d %s%s: %s", m.Line, m.Column, m.Name, map[bool]string{m.Merge: "(merge)", !m.Plain: "(odd)"}[true],
					show(m.Value)))
		}
		return text + "{" + strings.Join(members, ", ") + "}"
	case Text:
		return text + []string{"plain", "quoted", "block"}[n.Style] + fmt.Sprintf(" %q", n.Text) +
			map[bool]string{true: " verbatim"}[n.Verbatim]
	case Null:
		return text + "null"
	case Alias:
		return text + "*" + n.Text
	case Anchored:
		return text + "&" + n.Text + " " + show(n.Of)
	case Tagged:
		return text + n.Text + " " + show(n.Of)
	}
	return text + []string{Bool: "bool", Integer: "integer", Float: "float"}[n.Kind] + " " + n.Text
}

func TestNodes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1\nb:\n  - x\n  - 'it''s'\n", `1:1 {1:1 a: 1:4 integer 1, 2:1 b: 3:3 [3:5 plain "x" verbatim, 4:5 quoted "it's"]}`},
		{"\ufeffa: 01\r\nb: \"é\"\r\n", `1:1 {1:1 a: 1:4 integer 01, 2:1 b: 2:4 quoted "é" verbatim}`},
		{"{a: [], b: {}, c: }", `1:1 {1:2 a: 1:5 [], 1:9 b: 1:12 {}, 1:16 c: 1:18 null}`},
		{"a: true\nb: .inf\nc: 1.50\nd: ~\ne: |\n  two\n  lines\n",
			`1:1 {1:1 a: 1:4 bool true, 2:1 b: 2:4 float .inf, 3:1 c: 3:4 float 1.50, 4:1 d: 4:4 null, 5:1 e: 5:4 block "two\nlines\n"}`},
		{"a: !Ref B\nc: [!Ref D, !Sub E, f]\n",
			`1:1 {1:1 a: 1:4 !Ref 1:9 plain "B" verbatim, 2:1 c: 2:4 [2:5 !Ref 2:10 plain "D" verbatim, 2:13 !Sub 2:18 plain "E" verbatim, 2:21 plain "f" verbatim]}`},
		{"a: {b: !Ref AWS::C}\nd: [!Ref AWS::E::F, G::h]\n", `1:1 {1:1 a: 1:4 {1:5 b: 1:8 !Ref 1:13 plain "AWS::C" verbatim}, ` +
			`2:1 d: 2:4 [2:5 !Ref 2:10 plain "AWS::E::F" verbatim, 2:21 plain "G::h" verbatim]}`},
		{`a: {"b"::c}`, `1:1 {1:1 a: 1:4 {1:5 b: 1:9 plain ":c" verbatim}}`},
		{"a: &x {b: 1}\nc: *x\n<<: *x\n", `1:1 {1:1 a: 1:4 &x 1:7 {1:8 b: 1:11 integer 1}, 2:1 c: 2:4 *x, 3:1 <<(merge): 3:5 *x}`},
		{"a: 1\n~: 2\n", `1:1 {1:1 a: 1:4 integer 1, 2:1 ~(odd): 2:4 integer 2}`},
		{"# nothing\n---\n", "nothing"},
	} {
		file, fault := Parse([]byte(c.text))
		if fault != nil {
			t.Errorf("%q: %v", c.text, fault)
		} else if got := show(file.Root); got != c.want || file.Second != nil {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestDocumentsAndRepetitions(t *testing.T) {
	file, fault := Parse([]byte("---\na: 1\nb: 1\na: 2\na: 3\n<<: *x\n<<: *y\n---\nc: 1\n"))
	if fault != nil {
		t.Fatal(fault)
	}
	if file.Second == nil || file.Second.Line != 9 {
		t.Errorf("the second document is %s", show(file.Second))
	}
	var again []string
	for first, m := range file.Root.Repeated {
		again = append(again, fmt.Sprintf("%s in %d, first in %d", m.Name, m.Line, first.Line))
	}
	must.Equal(t, strings.Join(again, "; "), "a in 4, first in 2; a in 5, first in 2")
}

func TestTooMuchOrNoText(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("[", 1001):    "1:1: invalid YAML: brackets nest 1001 deep, and at most 1000 are read",
		strings.Repeat("a", 1<<20+1): "1:1: invalid YAML: the file has 1048577 bytes, and at most 1048576 are read",
		"\xff\xfea\x00":              "1:1: invalid YAML: the file is UTF-16; save it as UTF-8",
		"a: \xff":                    "1:1: invalid YAML: the file is not UTF-8; save it as UTF-8",
	} {
		if _, fault := Parse([]byte(text)); fault == nil || fault.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, fault, want)
		}
	}
}
