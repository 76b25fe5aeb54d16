package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/cost"
)

const oneOrder = `{"type":"order.placed","merchant_id":"m-1","order_id":"o-1","customer_id":"c-1","product_id":"p-1","quantity":1,"currency":"EUR","total_cents":500,"placed_at":"2026-03-14T09:00:00Z"}` + "\n"

func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it computes, and starts no goroutine")
	}
	atRoot(t)
	sample := filepath.Join(t.TempDir(), "sample.ndjson")
	write(t, sample, oneOrder+oneOrder)
	mistaken := altered(t, "pipeline.yaml", "window: 1d", "window: 1x")
	wrong := altered(t, "prices/us-east-1.yaml", "sqs-requests:", "sqs-request:")
	unknown := altered(t, "prices/us-east-1.yaml", "    dollars: 0.625\n", "")
	for _, c := range []struct {
		name, stdin string
		args        []string
		code        int
		out, errors string
	}{
		{"the prices of the tool", oneOrder, []string{"--rate", "10"}, exitFine, "prices/us-east-1.yaml, for us-east-1, read 2026-", ""},
		{"a price that is not known", oneOrder, []string{"--rate", "10", "--prices", unknown}, exitFine,
			"dynamodb-write-units: the sum is without it.\n", ""},
		{"a sample", "", []string{"--rate", "10", "--events", sample, "--now", "2026-03-15T00:00:00Z"}, exitFine, "as the 2 lines of ", ""},
		{"standard input", oneOrder, []string{"--rate", "10", "--events", "-", "--now", "2026-03-15T00:00:00Z"}, exitFine,
			"as the 1 line of standard input: ", ""},
		{"other partitions", oneOrder, []string{"--rate", "10", "--partitions", "1"}, exitFine,
			"  1 partition; functions of 576 MB on arm64\n", ""},
		{"as many partitions as the rate needs", oneOrder, []string{"--rate", "9000"}, exitFine, "  9 partitions; functions of ", ""},
		{"more memory", oneOrder, []string{"--rate", "10", "--memory", "1024", "--architecture", "x86_64"}, exitFine,
			"  4 partitions; functions of 1024 MB on x86_64\n", ""},
		{"duplicates", oneOrder, []string{"--rate", "10", "--duplicates", "0.5"}, exitFine, "  0.5 more deliveries for each message\n", ""},
		{"no rate", "", nil, exitUsage, "", "say how many events come each second, as in ingot cost --rate 100"},
		{"a rate of nothing", "", []string{"--rate", "0"}, exitUsage, "",
			"--rate 0: give events a second, more than 0 and at most 10000000"},
		{"no number", "", []string{"--rate", "NaN"}, exitUsage, "", "--rate NaN: give events a second"},
		{"a share of nothing", "", []string{"--rate", "1", "--duplicates", "-1"}, exitUsage, "",
			"--duplicates -1: give further deliveries for each event, 0 to 100"},
		{"no partitions", "", []string{"--rate", "1", "--partitions", "-1"}, exitUsage, "", "--partitions -1: give 1 to 10000"},
		{"little memory", "", []string{"--rate", "1", "--memory", "64"}, exitUsage, "", "--memory 64: give MB, 128 to 10240"},
		{"another processor", "", []string{"--rate", "1", "--architecture", "arm"}, exitUsage, "",
			`--architecture "arm": write arm64 or x86_64`},
		{"no such prices", "", []string{"--rate", "1", "--prices", "none.yaml"}, exitUsage, "",
			"none.yaml: no such file or directory; name a file of prices with --prices FILE"},
		{"no name of prices", "", []string{"--rate", "1", "--prices", ""}, exitUsage, "",
			"--prices is empty; name a file, or leave the option out"},
		{"wrong prices", "", []string{"--rate", "1", "--prices", wrong}, exitUsage, "",
			": there is no price sqs-request; write sqs-requests"},
		{"a mistaken pipeline", "", []string{"--rate", "1", "--pipeline", mistaken}, exitUsage, "", "the pipeline has mistakes:\n"},
		{"no such pipeline", "", []string{"--rate", "1", "--pipeline", "none.yaml"}, exitUsage, "",
			"; name the pipeline with --pipeline FILE"},
		{"no such sample", "", []string{"--rate", "1", "--events", "none"}, exitUsage, "",
			"none: no such file or directory; name a file with one event a line with --events FILE, or - for standard input"},
		{"an empty sample", "", []string{"--rate", "1", "--events", "-"}, exitUsage, "",
			"standard input holds no event; give it at least one line, or leave out --events"},
		{"no time", oneOrder, []string{"--rate", "1", "--events", "-", "--now", "today"}, exitUsage, "", "write a time as in"},
		{"stacks beside it", oneOrder, []string{"--rate", "10", "--with", "publish,capture"}, exitFine,
			"  capture stack     invocations ", ""},
		{"no such stack", "", []string{"--rate", "1", "--with", "worker"}, exitUsage, "",
			"--with worker: the stacks that may stand beside are publish, capture, large"},
		{"an argument", "", []string{"--rate", "1", "pipeline.yaml"}, exitUsage, "", `takes no argument "pipeline.yaml"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{"cost"}, c.args...)
			if c.stdin != "" && !slices.Contains(args, "--events") {
				args = append(args, "--events", "-", "--now", "2026-03-15T00:00:00Z") // which is faster than events made up
			}
			r := piped(t, c.stdin, args...)
			if r.code != c.code || !strings.Contains(r.out, c.out) || !strings.Contains(r.errors, c.errors) ||
				(c.errors == "") != (r.errors == "") {
				t.Errorf("exit %d, want %d\n%s%s", r.code, c.code, r.out, r.errors)
			}
		})
	}
}

func TestCostJSON(t *testing.T) {
	atRoot(t)
	r := piped(t, "", "cost", "--rate", "10", "--output", "json")
	var report cost.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || r.code != exitFine || r.errors != "" {
		t.Fatalf("exit %d, %v\n%s%s", r.code, err, r.out, r.errors)
	}
	if report.Rate != 10 || report.Prices.Region != "us-east-1" || report.Prices.Read == "" || report.DollarsAMonth <= 0 ||
		len(report.Unpriced) != 0 || report.Events.Type != "order.placed" {
		t.Errorf("%+v", report)
	}
}

// The functions are those of template.yaml, with the parameters of one environment.
func TestCostOfTheDeployedFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it computes, and starts no goroutine")
	}
	dir := t.TempDir()
	pipeline := filepath.Join(dir, "pipeline.yaml")
	for name, from := range map[string]string{"pipeline.yaml": sampleshop.Pipeline, "template.yaml": sampleshop.Template} {
		text := must.Read(t, "../../"+from)
		write(t, filepath.Join(dir, name), string(text))
	}
	of := func(want string, args ...string) {
		t.Helper()
		got := piped(t, oneOrder, append([]string{"cost", "--rate", "10", "--events", "-", "--now", "2026-03-15T00:00:00Z", "--pipeline",
			pipeline}, args...)...)
		must.Say(t, got.out+got.errors, want)
	}
	of("functions of 576 MB on arm64\n")
	of("samconfig.toml: no such file or directory; --config-env needs this file; leave it out", "--config-env", "prod")
	write(t, filepath.Join(dir, "samconfig.toml"),
		"version = 0.1\n[default.global.parameters]\nparameter_overrides = \"Architecture=x86_64\"\n"+
			"[prod.global.parameters]\nparameter_overrides = \"MemorySize=1024\"\n")
	of("functions of 576 MB on x86_64\n")
	of("functions of 1024 MB on arm64\n", "--config-env", "prod")
	of("functions of 2048 MB on x86_64\n", "--memory", "2048")
	of("has no environment test; it has default, prod\n", "--config-env", "test")
	change(t, filepath.Join(dir, "template.yaml"), "      CodeUri: cmd/ingest/\n", "      CodeUri: cmd/ingest/\n      MemorySize: 300\n")
	of("template.yaml gives the two functions different memory or processors; name --memory and --architecture\n")
	of("functions of 2048 MB on arm64\n", "--memory", "2048", "--architecture", "arm64")
	write(t, filepath.Join(dir, "samconfig.toml"),
		"version = 0.1\n[default.global.parameters]\nparameter_overrides = \"MinimumPollers=2\"\n")
	worker := t.TempDir()
	write(t, filepath.Join(worker, "template.yaml"), string(must.Read(t, "../../cmd/worker/template.yaml")))
	sized := []string{"--memory", "2048", "--architecture", "arm64", "--with", "large=" + worker}
	of("  large stack       read units ", sized...)
	change(t, filepath.Join(worker, "template.yaml"), "rate(7 days)", "cron(0 3 * * ? *)")
	of("template.yaml: the price of cron(0 3 * * ? *) is not known: give Schedule as in rate(1 day), ", sized...)
	sized[len(sized)-1] = "publish=" + dir
	of("template.yaml has 2 functions, and such a stack has one\n", sized...)
	sized[len(sized)-1] = "large=none"
	of("none/template.yaml: no such file or directory; it is the template of the large stack", sized...)
	of("                    poller-hours                  55.6       0.5139        13.50\n", "--memory", "2048", "--architecture", "arm64")
}
