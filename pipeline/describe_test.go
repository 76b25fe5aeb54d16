package pipeline

import (
	"os"
	"slices"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/sampleshop"
	"github.com/ingot-events/ingot/keys"
)

func TestWhatIsSaidOfAnItem(t *testing.T) {
	p, err := Load(os.DirFS(".."), sampleshop.Pipeline, Secret([]byte("secret")))
	if err != nil {
		t.Fatal(err)
	}
	item, err := p.Plan(envelope.Message{Body: `{"type":"order.paid","merchant_id":"m","order_id":"o","payment_id":"p","currency":"EUR","amount_cents":5,"paid_at":"2099-03-14T09:00:00Z","trace_id":"t"}`})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Absences(item), []Absence{{"GSI3", "field status is missing"}}; !slices.Equal(got, want) {
		t.Errorf("absences %v, want %v", got, want)
	}
	text, err := p.DigestText(item)
	if want := `["order.paid",{"amount_cents":5,"currency":"EUR","merchant_id":"m","order_id":"o","paid_at":"2099-03-14T09:00:00Z","payment_id":"p","type":"order.paid"}]`; err != nil || text != want {
		t.Errorf("digest text %s %v, want %s", text, err, want)
	}
	doc, _ := event.ParseDocument(item.Data)
	if keys.Digest(item.Type, doc.Root(), p.types[item.Type].ignore) != item.Digest {
		t.Error("the item's digest is not of that text")
	}
	if got := p.Retain("order.paid", item.At); got != "90d" {
		t.Errorf("retain %q", got)
	}
	if got := p.Condition("order.paid", "merchant_daily"); got != `status = "captured"` {
		t.Errorf("condition %q", got)
	}
	item.Type = "none"
	if _, err := p.DigestText(item); err == nil || p.Absences(item) != nil || p.Retain("none", item.At) != "" || p.Condition("none", "merchant_daily") != "" || p.Condition("order.paid", "none") != "" {
		t.Error("something is said of what the pipeline does not declare")
	}
}
