package function

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// FuzzSettings reads any environment. What is taken can be sent to AWS. What is refused names each
// variable.
func FuzzSettings(f *testing.F) {
	corpus.Add(f)
	f.Add("events", "totals", queueURL, "archive", "receipts", "k")
	f.Add("arn:aws:dynamodb:eu-central-1:1:table/events", "events", "quarantine", "s3://archive", "Marks", "{{resolve:secretsmanager:x}}")
	f.Add("same", "same", queueURL+".fifo", "", "", "")
	f.Fuzz(func(t *testing.T, events, totals, quarantine, archive, counting, secret string) {
		env := map[string]string{tableVariable: events, aggregatesVariable: totals, quarantineVariable: quarantine,
			archiveVariable: archive, countingVariable: counting, secretVariable: secret}
		for _, needs := range []string{tableVariable, aggregatesVariable} {
			s, err := readSettings(environment(env), needs)
			if err != nil {
				var m Mistakes
				if !errors.As(err, &m) || len(m) == 0 {
					t.Fatalf("%T %v", err, err)
				}
				for _, mistake := range m {
					must.Say(t, mistake, "INGOT_")
				}
				continue
			}
			if env[needs] == "" || s.events != events || s.aggregates != totals || events != "" && events == totals ||
				s.quarantine != quarantine || s.archive != archive || string(s.secret) != secret {
				t.Fatalf("%v is read as %+v", env, s)
			}
			for _, table := range []string{events, totals} {
				if table != "" && (len(table) < 3 || len(table) > 255 || strings.ContainsAny(table, ":/ \x00")) {
					t.Fatalf("table %q is taken", table)
				}
			}
			if quarantine != "" && !strings.HasPrefix(strings.ToLower(quarantine), "http") {
				t.Fatalf("queue %q is taken", quarantine)
			}
			if counting != "" && s.counting.String() != counting {
				t.Fatalf("%q is read as %s", counting, s.counting)
			}
		}
	})
}
