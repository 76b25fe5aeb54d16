package ingottest

import (
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/pipeline"
)

// Whatever fault befalls one request, a transfer moves both balances with it or nothing at all, no
// account is overdrawn, and what a floor refuses is stored nowhere.
func TestEveryFaultOfTransfers(t *testing.T) {
	p, err := pipeline.Load(examples.Files, "ledger/pipeline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	transfer := func(id, from, to, cents string) string {
		book := func(account string) string {
			if account == "bank" {
				return "outside"
			}
			return "customers"
		}
		return `{"type":"transfer.posted","transfer_id":"` + id + `","posted_at":"2099-03-01T10:00:00Z","entries":[` +
			`{"account":"` + from + `","book":"` + book(from) + `","cents":-` + cents + `},{"account":"` + to + `","book":"` + book(to) + `","cents":` + cents + `}]}`
	}
	EveryFault(t, Config{Pipeline: p}, func(t *testing.T, w *World) {
		w.Send(transfer("1", "bank", "ada", "100"))
		w.Drain()
		w.Send(transfer("2", "ada", "bob", "70"), transfer("2", "ada", "bob", "70"), transfer("3", "ada", "eve", "70"))
		w.Drain()
		if n := len(w.Items()); n != 6 {
			t.Errorf("%d items are stored, and two transfers have six", n)
		}
		left := map[string]string{}
		for _, account := range []string{"ada", "bob", "eve"} {
			left[account] = w.Total("balances", map[string]string{"account": account}, w.Now()).Values["cents"].String()
		}
		one := left["ada"] == "30" && left["bob"] == "70" && left["eve"] == "0"
		other := left["ada"] == "30" && left["bob"] == "0" && left["eve"] == "70" // which one is first depends on the fault
		if !one && !other {
			t.Errorf("the balances are %v", left)
		}
		refused := 0
		for _, letter := range w.Quarantined() {
			if letter.Verdict != event.Rejected.String() || letter.Reason != event.BelowFloor {
				t.Errorf("in quarantine is %+v", letter)
			}
			refused++
		}
		if refused == 0 {
			t.Error("nothing was refused")
		}
	})
}
