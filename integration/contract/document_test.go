package contract_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// document has a table for people. The listing is for looking up one case.
const (
	document = "../../docs/correctness.md"
	listing  = "testdata/cases.md"
)

// TestDocument shows that docs/correctness.md and testdata/cases.md say what the cases and the
// lists of this package say. The runs on the emulators prove that it is true of them. A case in
// which an emulator agrees asserts the same there. A case with a difference asserts what the
// emulator does.
func TestDocument(t *testing.T) {
	r, cases := suite(t)
	inOrder(cases)
	const marker = "\n<!-- contract -->\n"
	before, after, found := strings.Cut(read(t, document), marker)
	_, after, ends := strings.Cut(after, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table below %q", document, marker)
	}
	var table, list strings.Builder
	counts(&table, cases)
	golden.File(t, document, before+marker+table.String()+"\n"+after)
	list.WriteString("# Every case of the contract\n\nA test writes this file. docs/correctness.md#the-engine is for people.\n")
	differences(&list)
	table1(&list, cases)
	sending(&list, r, ours(sent(t)))
	failing(&list, r, readErrors(t))
	golden.File(t, listing, list.String())
}

// inOrder puts the cases of an area together, by their names.
func inOrder(cases []*contract.Case) {
	areas := []string{}
	for _, c := range cases {
		if !slices.Contains(areas, c.Area) {
			areas = append(areas, c.Area)
		}
	}
	slices.SortFunc(cases, func(a, b *contract.Case) int {
		return cmp.Or(slices.Index(areas, a.Area)-slices.Index(areas, b.Area), strings.Compare(a.Name, b.Name))
	})
}

func counts(b *strings.Builder, cases []*contract.Case) {
	b.WriteString("| on | cases | agree | differ | no such service |\n| --- | ---: | ---: | ---: | ---: |\n")
	fmt.Fprintf(b, "| the engine | %d | %d | 0 | 0 |\n", len(cases), len(cases))
	for _, backend := range contract.Backends {
		agree, differ, none := contract.Count(backend, cases)
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", backend.Title, agree+differ, agree, differ, none)
	}
}

func differences(b *strings.Builder) {
	b.WriteString(
		"\n## Where they differ\n\n| no. | on | the engine | the other | why the engine is right |\n| ---: | --- | --- | --- | --- |\n")
	for i, d := range contract.Differences {
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s |\n", i+1, contract.BackendOf(d.Backend).Title, cell(d.Engine), cell(d.Other),
			cell(d.Source))
	}
}

func table1(b *strings.Builder, cases []*contract.Case) {
	b.WriteString(
		"\n## The cases\n\nA number is that of a difference above. – means that the emulator does not have the service.\n\n| case | the engine |")
	for _, backend := range contract.Backends {
		fmt.Fprintf(b, " %s |", backend.Title)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(contract.Backends)) + "\n")
	for _, c := range cases {
		fmt.Fprintf(b, "| %s: %s | holds |", c.Area, cell(c.Name))
		for _, backend := range contract.Backends {
			numbers := []string{}
			for i, d := range contract.Differences {
				if d.Backend == backend.Name && slices.Contains(c.Differences, d.Name) {
					numbers = append(numbers, strconv.Itoa(i+1))
				}
			}
			switch {
			case !slices.Contains(backend.Services, c.Service):
				b.WriteString(" – |")
			case len(numbers) > 0:
				fmt.Fprintf(b, " differs: %s |", strings.Join(numbers, ", "))
			default:
				b.WriteString(" agrees |")
			}
		}
		b.WriteString("\n")
	}
}

func sending(b *strings.Builder, r *record, forms map[string]map[string]bool) {
	b.WriteString(
		"\n## What the store sends\n\nThis table has every form of request that package `store` sends, without names and values (`#` is\nan attribute, `:N` is a number), and the number of cases in which the suite sends it. A test runs\nall code of the store that sends requests, and fails if a form is new.\n\n| form | cases |\n| --- | ---: |\n")
	for _, form := range slices.Sorted(maps.Keys(forms)) {
		fmt.Fprintf(b, "| `%s` | %d |\n", strings.ReplaceAll(form, "|", `\|`), len(r.forms[form]))
	}
}

// unprovoked lists the codes that no emulator can be made to answer with on a quiet machine. It
// also says who answers with them.
var unprovoked = map[string]string{
	"TransactionInProgress":           "two requests with one token at once",
	"TransactionConflict":             "two writers of one item at once",
	"ReplicatedWriteConflict":         "a global table",
	"ProvisionedThroughputExceeded":   "more than its capacity",
	"ThrottlingError":                 "more than its capacity",
	"Throttling":                      "more than its capacity",
	"RequestLimitExceeded":            "more than its capacity",
	"ItemCollectionSizeLimitExceeded": "a table with a local index",
	"AccessDenied":                    "missing permissions",
	"QueueDoesNotExist":               "the SDK's type of NonExistentQueue, where no code came with it",
	"InvalidAddress":                  "an invalid queue URL",
	"AllAccessDisabled":               "a bucket that AWS has closed",
	"InvalidAccessKeyId":              "bad credentials",
	"SignatureDoesNotMatch":           "bad credentials",
	"UnrecognizedClient":              "bad credentials",
	"InvalidSignature":                "bad credentials",
	"IncompleteSignature":             "bad credentials",
	"MissingAuthenticationToken":      "bad credentials",
	"ExpiredToken":                    "bad credentials",
	"InvalidClientTokenId":            "bad credentials",
	"OptInRequired":                   "an account without the service",
	"NotAuthorized":                   "missing permissions",
}

func failing(b *strings.Builder, r *record, known []string) {
	b.WriteString(
		"\n## The errors that the store tells apart\n\nNo emulator answers with some of these errors on a quiet machine. The store's own tests hand those\nerrors to the store.\n\n| error | cases that meet it |\n| --- | --- |\n")
	for _, code := range known {
		if why := unprovoked[code]; why != "" {
			fmt.Fprintf(b, "| %s | none: it needs %s |\n", code, why)
			continue
		}
		fmt.Fprintf(b, "| %s | %d |\n", code, len(r.codes[code]))
	}
}

// TestEveryErrorIsMet shows that a case meets every error that the store tells apart, unless the
// error is listed as one that cannot be met.
func TestEveryErrorIsMet(t *testing.T) {
	r, _ := suite(t)
	known := readErrors(t)
	if len(known) < 20 {
		t.Errorf("%d codes found in internal/table/rows/errors.go: this test looks for the wrong thing", len(known))
	}
	for _, code := range known {
		if (r.codes[code] != nil) == (unprovoked[code] != "") {
			t.Errorf("%s: met by %d cases, and listed as one that cannot be provoked: %t", code, len(r.codes[code]), unprovoked[code] != "")
		}
	}
	handed := read(t, "../../store/*_test.go") + read(t, "../../internal/table/*/*_test.go") + read(t, "../../handler/*_test.go") +
		read(t, "../../internal/base/awserr/*_test.go")
	for code := range unprovoked {
		must.Say(t, handed, code)
		if !slices.Contains(known, code) {
			t.Errorf("%s is listed and the store does not know it", code)
		}
	}
}

// readErrors returns the codes that the store names. They are strings in codeOutcome and
// awserr.DeniedCode, and types in Classify.
func readErrors(t *testing.T) []string {
	t.Helper()
	var decls []ast.Decl
	for _, name := range []string{"internal/table/rows/errors.go", "internal/base/awserr/denied.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, 0)
		must.Succeed(t, err)
		decls = append(decls, file.Decls...)
	}
	codes := map[string]bool{}
	for _, decl := range decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !slices.Contains([]string{"codeOutcome", "DeniedCode", "Classify"}, f.Name.Name) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, e := range n.List {
					if lit, ok := e.(*ast.BasicLit); ok {
						text, _ := strconv.Unquote(lit.Value)
						codes[text] = true
					}
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "types" {
					codes[strings.TrimSuffix(n.Sel.Name, "Exception")] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(codes))
}

// read returns the text of all files that match a pattern.
func read(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	must.Succeed(t, err)
	var b strings.Builder
	for _, path := range paths {
		text := must.Read(t, path)
		b.Write(text)
	}
	return b.String()
}

// cell returns text for a cell of a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
