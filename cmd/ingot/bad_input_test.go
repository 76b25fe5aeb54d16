package main

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/cmd/ingot/read"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// badInput is what people and machines do wrong with the tool. Each ends with the exit code of the
// page on commands and one clear sentence, and nothing is lost. The named test shows it.
var badInput = []struct{ what, folder, test string }{
	{"a pattern on an index that does not exist", "pipeline", "TestPatternMistakes"},
	{"a pattern over types with different partition keys", "pipeline", "TestPatternMistakes"},
	{"a question over 1,000 partitions", "cmd/ingot", "TestQuery"},
	{"a page token that was altered, or is of another question", "cmd/ingot", "TestQueryPages"},
	{"a page token of another pipeline.yaml", "cmd/ingot", "TestTokenOfAnotherFile"},
	{"a parameter that is missing or misspelled, or has # or % in its value", "cmd/ingot", "TestQuery"},
	{"a stack that does not exist, has no outputs, or is of an older version", "internal/tool/target", "TestStacksThatCannotBeUsed"},
	{"credentials that are refused", "cmd/ingot", "TestRefusedCredentials"},
	{"no credentials", "internal/tool/target", "TestCredentials"},
	{"a table that is deleted while verify runs", "cmd/ingot", "TestTableDeletedWhileVerifyRuns"},
	{"tables that are deleted and made again while dev runs", "internal/tool/dev", "TestTablesThatAreMadeAgain"},
	{"a full disk under dev", "cmd/ingot", "TestFullDiskUnderDev"},
	{"two devs on one folder, and a port that is taken", "cmd/ingot", "TestDevThatCannotStart"},
	{"a pipeline.yaml that breaks while dev runs", "cmd/ingot", "TestPipelineThatBreaksWhileDevRuns"},
	{"control characters in payloads", "cmd/ingot", "TestQuery"},
	{"formulas in payloads", "cmd/ingot", "TestValuesOfEveryKind"},
	{"control characters and markup in payloads that the console shows", "internal/tool/console", "TestPageMakesTextNodes"},
	{"a message in quarantine of 1 MiB with ten attributes", "integration", "TestLargeLetter"},
	{"a clock that jumps under dev", "internal/tool/dev", "TestCalendarThatJumpsWhileDevRuns"},
	{"a clock that differs between the tool and dev", "cmd/ingot", "TestLagOfDev"},
	{"a stream that stands still while verify waits", "internal/tool/drained", "TestUnknown"},
}

// Each test of the table is there.
func TestBadInputIsTested(t *testing.T) {
	tests := map[string]map[string]bool{} // by folder
	for _, b := range badInput {
		if tests[b.folder] == nil {
			tests[b.folder] = testsIn(t, filepath.Join("../..", b.folder))
		}
		if !tests[b.folder][b.test] {
			t.Errorf("%s: there is no test %s in %s", b.what, b.test, b.folder)
		}
	}
}

// testsIn lists the tests of a folder.
func testsIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	must.Succeed(t, err)
	found := map[string]bool{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		must.Succeed(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				found[fn.Name.Name] = true
			}
		}
	}
	return found
}

// A table that is gone in the middle of a pass is named, and no difference is reported for it.
func TestTableDeletedWhileVerifyRuns(t *testing.T) {
	for _, table := range []string{stack.Events, stack.Aggregates} {
		t.Run(table, func(t *testing.T) {
			var engine *embedded.Engine
			var once sync.Once
			engine = embedded.New(
				embedded.Config{Intercept: func(ctx context.Context, api string, in any, call func() (any, error)) (any, error) {
					if api == "Scan" {
						once.Do(func() {
							if _, err := engine.DynamoDB().DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
								t.Error(err)
							}
						})
					}
					return call()
				}})
			_, st, ingot := shopTables(t, engine)
			must.Succeed(t, st.Start(t.Context()))
			got := ingot("", "verify").says(t, exitFailed, "there is no table "+table)
			if got.out != "" || strings.Count(got.errors, "\n") > 3 {
				t.Errorf("%s%s", got.out, got.errors)
			}
		})
	}
}

// The token of a page goes on only with the patterns of the file that made it.
func TestTokenOfAnotherFile(t *testing.T) {
	ingot := shopWithOrders(t, 5)
	o := ingot("", "customer_orders customer_id=c-1 --limit 2 --output json")
	var first read.Answer
	if o.says(t, exitFine).reads(t, &first); first.Next == "" {
		t.Fatalf("%+v", o)
	}
	file := altered(t, "../../"+sampleshop.Pipeline, "customer_orders: {read: [order.placed, order.refunded]",
		"customer_orders: {read: [order.placed]")
	o = ingot("", "customer_orders customer_id=c-1 --limit 2 --pipeline "+file+" --page "+first.Next)
	o.says(t, exitUsage, "the page token belongs to another question")
	must.Equal(t, o.out, "")
}
