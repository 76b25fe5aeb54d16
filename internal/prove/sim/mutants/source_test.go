package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// shop is a package in two files. Some function names occur more than once in it.
var shop = map[string]string{
	"go.mod":            "module stub\n\ngo 1.26\n",
	"shop/till.go":      "package shop\n\n// till is where the money is.\ntype till struct{ cents int }\n\nfunc (t *till) add(n int) { t.cents += n }\n\nfunc add(a, b int) int { return a + b }\n",
	"shop/counter.go":   "package shop\n\nimport \"fmt\"\n\n// Sell sells.\nfunc Sell(_ string, prices ...int) (sum int, err error) {\n\tfor _, p := range prices { // each\n\t\tsum = add(sum, p)\n\t}\n\tif sum < 0 {\n\t\treturn 0, fmt.Errorf(\"%d\", sum)\n\t}\n\treturn\n}\n\ntype alias = int\n",
	"shop/shop_test.go": "package shop\n\nfunc broken() { no Go at all\n",
	"empty/notes.txt":   "no Go here",
	"a/twin/twin.go":    "package twin\n",
	"b/twin/twin.go":    "package twin\n",
	"main.go":           "package main\n\nimport (\n\t\"fmt\"\n\n\t\"stub/shop\"\n)\n\nfunc main() { fmt.Println(shop.Sell(\"\", 1, 2, 3)) }\n",
}

func shopSource(t *testing.T) *source {
	t.Helper()
	root := t.TempDir()
	for name, text := range shop {
		path := filepath.Join(root, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return newSource(root)
}

// TestEditSaysWhatIsGone shows that the error of an edit that cannot be made names the text or the
// symbol that is gone.
func TestEditSaysWhatIsGone(t *testing.T) {
	for why, m := range map[string]Mutant{
		"in shop.Sell this text occurs 0 times, not once:\nnever": {Edits: []Edit{{"shop.Sell", "never", ""}}},
		"in shop.Sell this text occurs 2 times, not once:\nreturn": {Edits: []Edit{{"shop.Sell", "sum < 0",
			"sum > 0"}, {"shop.Sell", "return", "0"}}},
		"package shop has no function or type Sold any more":                              {Edits: []Edit{{"shop.Sold", "return", ""}}},
		"package shop has no function or type basket.add any more":                        {Edits: []Edit{{"shop.basket.add", "n", ""}}},
		"0 folders are named shops, and one is needed: ":                                  {Edits: []Edit{{"shops.Sell", "return", ""}}},
		`"Sell" names no function: it needs a folder, a dot and a name`:                   {Edits: []Edit{{"Sell", "return", ""}}},
		"empty.Sell: there is no package in empty":                                        {Edits: []Edit{{"empty.Sell", "return", ""}}},
		"2 folders are named twin, and one is needed: a/twin, b/twin":                     {Edits: []Edit{{"twin.Sell", "return", ""}}},
		"package a/twin has no function or type Sell any more":                            {Edits: []Edit{{"a/twin.Sell", "return", ""}}},
		"shop.alias is not a struct any more":                                             {Fields: []Field{{"shop.alias", "n int"}}},
		"shop.till: it is not a function any more: 2:1: expected declaration, found till": {Edits: []Edit{{"shop.till", "cents", ""}}},
		"0 folders are named shelf, and one is needed: ":                                  {Helpers: []Helper{{"shelf", "func f() {}"}}},
	} {
		m.Name = "stub"
		_, err := shopSource(t).graft([]Mutant{m})
		if err == nil || !strings.HasPrefix(err.Error(), "mutant stub no longer applies; write its edits anew: ") ||
			!strings.HasSuffix(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
}

// TestReplace shows that a text is found whatever its spaces, line breaks and comments, but only in
// the function that is named.
func TestReplace(t *testing.T) {
	for _, c := range []struct{ text, old, with, want string }{
		{"a := f(x,\n\ty, // why\n)\nb()", "f(x, y)", "g()", "a := g()\nb()"},
		{"if a { b() }", "if a {\n\tb()\n}\n", "c()", "c()"},
		{"for i := 0; i < n; i++ {}", "i := 0; i", "i := 1; i", "for i := 1; i < n; i++ {}"},
		{"f(`a b`)", "`a b`", "`ab`", "f(`ab`)"},
		{"x = `a` // `b`", "`b`", "`c`", ""},
		{"aa", "a", "b", ""},
	} {
		got, err := replace(c.text, c.old, c.with)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// TestGraft shows that each mutant of one program does what it would do alone, and that without a
// mutant the program is ours.
func TestGraft(t *testing.T) {
	if testing.Short() {
		t.Skip("builds with the go command, which -short leaves out")
	}
	s := shopSource(t)
	list := []Mutant{
		{Name: "one-more", Edits: []Edit{{"shop.add", "a + b", "a + b + 1"}}},
		{Name: "in-two-places", Edits: []Edit{{"shop.add", "a + b", "a - b"}, {"shop.Sell", "sum < 0", "sum > 0"}}},
		{Name: "with-helper", Edits: []Edit{{"shop.add", "a + b", "mend(a, b)"}},
			Helpers: []Helper{{"shop", "import \"math\"\n\nfunc mend(a, b int) int { return int(math.Max(float64(a), float64(b))) }\n"}}},
		{Name: "with-field", Fields: []Field{{"shop.till", "open bool"}},
			Edits: []Edit{{"shop.Sell", "",
				"t := &till{cents: 10, open: true}\n\tt.add(len(prices))\n\tif t.open {\n\t\treturn t.cents, nil\n\t}\n"},
				{"shop.till.add", "n", "2 * n"}}},
	}
	r := runner{root: s.root, dir: t.TempDir()}
	files, err := s.graft(list)
	must.Succeed(t, err)
	overlay, err := r.lay("all", files)
	must.Succeed(t, err)
	binary := filepath.Join(r.dir, "stub")
	build := exec.Command("go", "build", "-overlay", overlay, "-o", binary, ".")
	build.Dir = s.root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, want := range map[string]string{"": "6 <nil>", "one-more": "9 <nil>", "in-two-places": "-6 <nil>", "with-helper": "3 <nil>",
		"with-field": "16 <nil>", "nobody": "6 <nil>"} {
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), activeVariable+"="+name)
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", name, got, err, want)
		}
	}
}
