package ingottest

import (
	"path"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// Whatever fault befalls one request, a transfer moves both balances with it or nothing at all, no
// account is overdrawn, and what a floor refuses is stored nowhere. A transfer that is sent before
// its accounts, in the same second, is stored. One to an account that was never opened is not.
func TestEveryFaultOfTransfers(t *testing.T) {
	p, err := pipeline.Load(examples.Files, "ledger/pipeline.yaml")
	must.Succeed(t, err)
	transfer := func(id, from, to, cents string) string {
		book := func(account string) string {
			if account == "bank" {
				return "outside"
			}
			return "customers"
		}
		return `{"type":"transfer.posted","transfer_id":"` + id + `","posted_at":"2099-03-01T10:00:00Z","entries":[` +
			`{"account":"` + from + `","book":"` + book(from) + `","cents":-` + cents + `},{"account":"` + to + `","book":"` + book(to) +
			`","cents":` + cents + `}]}`
	}
	opened := func(account string) string {
		return `{"type":"account.opened","account":"` + account + `","opened_at":"2099-03-01T10:00:00Z"}`
	}
	EveryFault(t, Config{Pipeline: p}, func(t *testing.T, w *World) {
		w.Send(transfer("1", "bank", "ada", "100"), opened("bank"), opened("ada"), opened("bob"), opened("eve"),
			transfer("4", "bank", "nobody", "1"))
		w.Drain()
		w.handled(transfer("2", "ada", "bob", "70"), transfer("2", "ada", "bob", "70"), transfer("3", "ada", "eve", "70"))
		must.Equal(t, len(w.Items()), 4+6)
		left := map[string]string{}
		for _, account := range []string{"ada", "bob", "eve"} {
			left[account] = w.Total("balances", map[string]string{"account": account}, w.Now()).Values["cents"].String()
		}
		one := left["ada"] == "30" && left["bob"] == "70" && left["eve"] == "0"
		other := left["ada"] == "30" && left["bob"] == "0" && left["eve"] == "70" // which one is first depends on the fault
		if !one && !other {
			t.Errorf("the balances are %v", left)
		}
		refused := map[event.Reason]bool{}
		for _, letter := range w.Quarantined() {
			if refused[letter.Reason] = true; letter.Verdict != event.Rejected.String() {
				t.Errorf("in quarantine is %+v", letter)
			}
		}
		if len(refused) != 2 || !refused[event.BelowFloor] || !refused[event.Requires] {
			t.Errorf("refused was %v", refused)
		}
	})
}

// What meets another transaction is sent again, and moves nothing twice: the transaction of an
// event that moves a total, and the update of a total by the stream.
func TestContend(t *testing.T) {
	for f, movedBy := range map[Function]string{Ingest: "put", Streams: "stream"} {
		s := spec()
		daily := s.Aggregates["daily"]
		daily.MovedBy = movedBy
		s.Aggregates["daily"] = daily
		w := New(t, Config{Pipeline: compile(t, s)})
		w.handled(first(100))
		sent := w.faults.sent[f]
		w.Contend(f, 1)
		w.Contend(f, 2)
		w.handled(order("b", "2026-03-01T10:00:00Z", 11))
		total := w.Total("daily", merchant, must.Time("2026-03-01T10:00:00Z"))
		if total.Values["cents"].String() != "111" || total.Values["orders"].String() != "2" || w.faults.sent[f] < sent+3 ||
			len(w.faults.planned) > 0 {
			t.Errorf("%s: %v after %d requests, %d faults are left", f, total.Values, w.faults.sent[f]-sent, len(w.faults.planned))
		}
		w.Verify()
	}
}

// EveryFault tries it for each transaction, and for nothing else.
func TestEveryFaultContends(t *testing.T) {
	s := spec()
	daily := s.Aggregates["daily"]
	daily.MovedBy = "put"
	s.Aggregates["daily"] = daily
	var runs []string
	EveryFault(t, Config{Pipeline: compile(t, s)}, func(t *testing.T, w *World) {
		w.handled(first(100))
		if name := path.Base(t.Name()); strings.HasPrefix(name, "Contend") {
			runs = append(runs, name)
		}
	})
	if len(runs) != 1 || !strings.HasPrefix(runs[0], "Contend_Ingest_") {
		t.Errorf("%q", runs)
	}
}
