package main

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/pflag"
)

// offers returns what a shell offers after these words, and the directive.
func offers(t *testing.T, words ...string) (list []string, directive string) {
	t.Helper()
	o := piped(t, "", append([]string{"__complete"}, words...)...)
	lines := strings.Split(strings.TrimSpace(o.out), "\n")
	for _, line := range lines[:len(lines)-1] {
		offer, _, _ := strings.Cut(line, "\t")
		list = append(list, offer)
	}
	return list, lines[len(lines)-1]
}

func TestCompletionOfValues(t *testing.T) {
	atRoot(t)
	write(t, "samconfig.toml",
		"version = 0.1\n[default.global.parameters]\nstack_name = \"a\"\n[prod.global.parameters]\nstack_name = \"b\"\n")
	const noFiles, noSpace, extensions, folders = ":4", ":6", ":8", ":16"
	for _, c := range []struct {
		words     string
		want      []string // at least
		directive string
	}{
		{"demo --example |", []string{"earthquakes", "shop", "leaderboard", "feed", "ledger", "sensors"}, noFiles},
		{"demo --example e|", []string{"earthquakes"}, noFiles},
		{"demo --counting |", []string{"marks", "receipts"}, noFiles},
		{"explain --counting r|", []string{"receipts"}, noFiles},
		{"check --output |", []string{"text", "json"}, noFiles},
		{"totals --output |", []string{"text", "json", "csv"}, noFiles},
		{"check --config-env |", []string{"default", "prod"}, noFiles},
		{"status --config-env p|", []string{"prod"}, noFiles},
		{"check --samconfig none.toml --config-env |", nil, noFiles},
		{"demo -o |", []string{"text", "json"}, noFiles},
		{"check --pipeline |", []string{"yaml", "yml"}, extensions},
		{"demo |", []string{"ndjson", "jsonl", "json"}, extensions},
		{"check --parameter |", []string{"Counting=", "MemorySize="}, noSpace},
		{"check --parameter Counting=|", []string{"Counting=marks", "Counting=receipts"}, noSpace},
		{"check --parameter Counting=r|", []string{"Counting=receipts"}, noSpace},
		{"check --template none.yaml --parameter |", nil, noFiles},
		{"demo --seed |", nil, noFiles},
		{"totals x --from |", nil, noFiles},
		{"query x --from |", nil, noFiles},
		{"init --events |", []string{"ndjson"}, extensions},
		{"query |", []string{"order_story", "orders_of_day"}, noFiles},
		{"query order_story |", []string{"merchant_id=", "order_id="}, noSpace},
		{"query order_story merchant_id=m-1 o|", []string{"order_id="}, noSpace},
		{"query order_story merchant_id=m-1 order_id=o-1 |", nil, noFiles},
		{"query nothing |", nil, noFiles},
		{"query --pipeline none.yaml |", nil, noFiles},
		{"policy order_story c|", []string{"customer_orders"}, noFiles},
		{"policy --for q|", []string{"quarantine", "query"}, noFiles},
		{"totals m|", []string{"merchant_daily", "merchant_parcels"}, noFiles},
		{"get order.p|", []string{"order.placed", "order.paid"}, noFiles},
		{"send --sample order.s|", []string{"order.shipped"}, noFiles},
		{"explain |", []string{"json", "ndjson"}, extensions},
		{"send |", []string{"ndjson"}, extensions},
		{"rebuild merchant|", []string{"merchant_daily", "merchant_parcels"}, noFiles},
		{"rebuild merchant_daily merchant_p|", []string{"merchant_parcels"}, noFiles},
		{"rebuild merchant_daily merchant_d|", nil, noFiles},
		{"rebuild mend merchant_d|", []string{"merchant_daily"}, noFiles},
		{"init |", nil, folders},
		{"check |", nil, noFiles},
		{"ver|", []string{"verify"}, noFiles},
		{"status --output j|", []string{"json"}, noFiles},
	} {
		words := strings.Split(strings.TrimSuffix(c.words, "|"), " ")
		got, directive := offers(t, words...)
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %q, want %s", c.words, got, want)
			}
		}
		if directive != c.directive || len(c.want) == 0 && len(got) > 0 {
			t.Errorf("%s: %q with %s, want %s", c.words, got, directive, c.directive)
		}
	}
}

// Every command that takes words completes them.
func TestEveryArgumentIsCompleted(t *testing.T) {
	for _, cmd := range all(newRoot(bare())) {
		_, takes, _ := strings.Cut(cmd.Use, " ")
		if strings.ContainsFunc(strings.ReplaceAll(takes, "[flags]", ""), unicode.IsUpper) && arguments[cmd.Name()] == nil {
			t.Errorf("%s takes %s, and none of it is completed; put it into arguments in complete.go", cmd.CommandPath(), takes)
		}
	}
}

// What has a completion is an option, and every option that names a file has one.
func TestOptionsAreCompleted(t *testing.T) {
	seen := map[string]bool{}
	for _, cmd := range all(newRoot(bare())) {
		visit := func(f *pflag.Flag) { seen[f.Name] = true }
		cmd.LocalNonPersistentFlags().VisitAll(visit)
		cmd.PersistentFlags().VisitAll(visit)
	}
	for name := range values {
		if !seen[name] {
			t.Errorf("complete.go has --%s, and no command", name)
		}
	}
	for _, name := range fileFlags {
		if values[name] == nil && name != "host" {
			t.Errorf("--%s names a file and has no completion; put it into values in complete.go", name)
		}
	}
}
