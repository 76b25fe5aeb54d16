package pipeline

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/keys"
)

func TestWhatIsSaidOfAnItem(t *testing.T) {
	p, err := Load(os.DirFS(".."), sampleshop.Pipeline, Secret([]byte("secret")))
	must.Succeed(t, err)
	item, err := p.Plan(
		envelope.Message{Body: `{"type":"order.paid","merchant_id":"m","order_id":"o","payment_id":"p","currency":"EUR","amount_cents":5,"paid_at":"2099-03-14T09:00:00Z","trace_id":"t"}`})
	must.Succeed(t, err)
	d := p.Describe()
	if got, want := d.Absences(item), []Absence{{"GSI3", "field status is missing"}}; !slices.Equal(got, want) {
		t.Errorf("absences %v, want %v", got, want)
	}
	text, err := p.DigestText(item.Type, item.Data)
	if want := `["order.paid",{"amount_cents":5,"currency":"EUR","merchant_id":"m","order_id":"o","paid_at":"2099-03-14T09:00:00Z","payment_id":"p","type":"order.paid"}]`; err != nil || text != want {
		t.Errorf("digest text %s %v, want %s", text, err, want)
	}
	doc, _ := event.ParseDocument(item.Data)
	if keys.Digest(item.Type, doc.Root(), p.plan.Types[item.Type].Ignore) != item.Digest {
		t.Error("the item's digest is not of that text")
	}
	must.Equal(t, d.Spec.Events["order.paid"].RetainAt(item.At), 90*lifetime.Day)
	must.Equal(t, d.Spec.Aggregates["merchant_daily"].From["order.paid"].Where, `status = "captured"`)
	item.Type = "none"
	if _, err := p.DigestText(item.Type, item.Data); err == nil || d.Absences(item) != nil || d.Revision(item) != "" {
		t.Error("something is said of what the pipeline does not declare")
	}
}

// A description, compiled, is the same pipeline as the declaration, and it has the same
// description.
func TestADescriptionCompilesToItself(t *testing.T) {
	files := map[string]string{"base": base}
	for _, name := range []string{"testdata/orders.yaml", "testdata/plain.yaml", "../" + sampleshop.Pipeline} {
		text, err := os.ReadFile(name)
		must.Succeed(t, err)
		files[name] = string(text)
	}
	files["lists"] = strings.NewReplacer(`type: "{type}"`, `type: ["{type}", "{kind}"]`, "moved_at time", "[moved_at time, seq number]",
		"orders: count,", "orders: count, lines: sum length items?, paid: {sum: total, where: total > 5},").Replace(base)
	for name, text := range files {
		first := mustLoad(t, text)
		again, err := New(first.Describe().Spec, Secret([]byte("secret")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if a, b := first.Describe(), again.Describe(); !reflect.DeepEqual(a.Spec, b.Spec) || !reflect.DeepEqual(a.Reads, b.Reads) {
			t.Errorf("%s:\n%+v\n%+v", name, a.Spec, b.Spec)
		}
		for i, def := range first.Definitions() {
			if other := again.Definitions()[i]; def.Text != other.Text {
				t.Errorf("%s: %s, and then %s", name, def.Text, other.Text)
			}
		}
	}
}
