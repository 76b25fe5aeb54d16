package read

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/totals"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
)

// getJSON documents --output json.
const getJSON = `
  key                     pk, sk
  type, id, at            of the event
  digest, epoch           the digest in hex; the epoch that the item is stamped with
  expiresAt               absent if the item never expires
  indexes[]               name, pk, sk
  attributes              by name, as text
  payload                 as text
  object                  bucket and name, if the payload is in the payload bucket. payload is then what the item
                          keeps of it, or with --payload all of it
  totals[]                aggregate, since, by, window, values, flags, building, missing`

func newGet(a *app) *cobra.Command {
	var reveal, whole bool
	cmd := &cobra.Command{
		Use:   "get TYPE FIELD=VALUE…",
		Short: "Show the item of one event, and the totals that it counts in",
		Long: `Computes the key of one event from its fields, and shows what is stored under it: the item, its payload, and the
totals that it counts in, as they are now. It needs only the fields that the key is made of. It sends one GetItem,
and a Query for each total.

If the payload is in the payload bucket, the command shows what the item keeps of it. --payload reads the whole
payload from the bucket, with one GET.

` + command.FieldsHelp + `

Exit code 3: nothing is stored under this key.`,
		Example: `  ingot get order.placed order_id=o-1 --local
  ingot get order.placed order_id=o-1 --local --output json
  ingot get order.placed order_id=o-1 --stack shop`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("name the type of the event and the fields of its key, such as: ingot get order.placed order_id=o-1")
			}
			return a.get(cmd, args[0], args[1:], reveal, whole)
		},
	}
	command.OnPipeline(cmd, getJSON)
	cmd.Flags().BoolVar(&reveal, "reveal", false, command.RevealUsage)
	cmd.Flags().BoolVar(&whole, "payload", false, "show the whole payload, also if it is in the payload bucket")
	return cmd
}

// GotItem is an item as get shows it.
type GotItem struct {
	Key        gotKey            `json:"key"`
	Type       string            `json:"type"`
	ID         string            `json:"id"`
	At         time.Time         `json:"at"`
	Digest     string            `json:"digest"`
	Epoch      int64             `json:"epoch"`
	ExpiresAt  *time.Time        `json:"expiresAt,omitempty"`
	Indexes    []gotIndex        `json:"indexes"`
	Attributes map[string]string `json:"attributes"`
	Payload    string            `json:"payload"`
	Object     *gotObject        `json:"object,omitempty"`
	Totals     []totals.View     `json:"totals"`
}

// gotObject is where the payload is, if it is not in the item.
type gotObject struct {
	Bucket string `json:"bucket"`
	Name   string `json:"name"`
	whole  bool   // the payload was read from there
}

type gotKey struct {
	PK string `json:"pk"`
	SK string `json:"sk"`
}

type gotIndex struct {
	Name string `json:"name"`
	gotKey
}

func (a *app) get(cmd *cobra.Command, eventType string, words []string, reveal, whole bool) error {
	fields, err := a.PayloadFields(words)
	if err != nil {
		return err
	}
	t, p, err := a.Reach(cmd.Context(), command.Use{Hashes: true})
	if err != nil {
		return err
	}
	key, err := p.Key(eventType, envelope.Message{Body: command.Payload(fields)})
	if err != nil {
		if event.RefusalOf(err).Reason == event.UnknownType {
			return cli.Usagef("%s%s", show.Refusal(err), a.orNewer())
		}
		return cli.Usagef("the key of %s cannot be made: %s; give each field of the key as FIELD=VALUE", eventType, command.Lacks(err))
	}
	st, err := a.Store(t, p)
	if err != nil {
		return err
	}
	item, err := st.Item(cmd.Context(), key)
	if err != nil {
		return err
	}
	mask := show.Masks(p, reveal)
	if item == nil {
		what := "nothing is stored under %s"
		if _, _, barred, err := query.Of(st).Find(cmd.Context(), key); err == nil && barred {
			what = "the event under %s was erased, and its key is barred"
		}
		a.Say(what, show.Text(mask.KeyOf(eventType, key).String()))
		return cli.Difference()
	}
	got, err := itemOf(cmd.Context(), st, p, item, mask)
	if err != nil {
		return err
	}
	if item.Payload != nil {
		got.Object = &gotObject{Bucket: t.PayloadBucket, Name: payloads.Name(item.Type, item.Key, item.Payload.Sum), whole: whole}
	}
	if item.Payload != nil && whole {
		if err := t.Needs(target.Payloads); err != nil {
			return err
		}
		text, err := st.Payload(cmd.Context(), item)
		if err != nil {
			return err
		}
		got.Payload = mask.Data(text)
	}
	return a.Print(got, func(b *strings.Builder) { got.text(b, a.Columns) })
}

// itemOf collects what get shows of an item.
func itemOf(ctx context.Context, st *store.Store, p *pipeline.Pipeline, item *event.Item, mask show.Personal) (*GotItem, error) {
	got := &GotItem{Indexes: []gotIndex{}, Attributes: map[string]string{}, Totals: []totals.View{}}
	for _, c := range p.Contributions(item).List {
		total, err := totals.CountedIn(ctx, st, &c)
		if err != nil {
			return nil, err
		}
		got.Totals = append(got.Totals, totals.Of(c.Def, total.By, total, mask))
	}
	masked := mask.Item(*item)
	got.Key, got.Type, got.ID, got.At = gotKey(masked.Key), masked.Type, masked.ID, masked.At
	got.Digest, got.Epoch, got.Payload = hex.EncodeToString(item.Digest[:]), item.Epoch, masked.Data
	if item.ExpiresAt != 0 {
		at := time.Unix(item.ExpiresAt, 0).UTC()
		got.ExpiresAt = &at
	}
	for _, i := range masked.Indexes {
		got.Indexes = append(got.Indexes, gotIndex{i.Name, gotKey(i.Key)})
	}
	for _, at := range masked.Attributes {
		got.Attributes[at.Name] = at.Text
	}
	return got, nil
}

// text writes the item for people.
func (g *GotItem) text(b *strings.Builder, width int) {
	t := show.NewTable()
	t.Fit(width)
	t.Row("key", g.Key.PK+" / "+g.Key.SK)
	t.Row("type", g.Type)
	t.Row("id", g.ID)
	t.Row("at", g.At.Format(time.RFC3339Nano))
	if g.ExpiresAt != nil {
		t.Row("expires", g.ExpiresAt.Format(time.RFC3339))
	}
	t.Row("epoch", fmt.Sprint(g.Epoch))
	t.Row("digest", g.Digest)
	for _, i := range g.Indexes {
		t.Row(i.Name, i.PK+" / "+i.SK)
	}
	t.Print(b)
	b.WriteString("\nPAYLOAD")
	if g.Object != nil {
		b.WriteString("  in the payload bucket")
		if g.Object.Bucket != "" {
			b.WriteString(": s3://" + show.Text(g.Object.Bucket) + "/" + show.Text(g.Object.Name))
		}
		if !g.Object.whole {
			b.WriteString("\n  The item keeps this of it; --payload shows all of it:")
		}
	}
	b.WriteString("\n  " + show.Text(g.Payload) + "\n")
	if len(g.Totals) == 0 {
		b.WriteString("\nIt counts in no total.\n")
	} else {
		b.WriteString("\nTOTALS  that it counts in, as they are now\n")
		totals.Table(b, g.Totals, width, true)
	}
}
