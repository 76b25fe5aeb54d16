package read

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/totals"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

const queryHelp = `Asks one of the patterns that the deployed pipeline.yaml declares, and prints one page of the answer. It never scans a
table. Give the values of the payload: if a key is hashed, the command hashes them with the stack's secret, or with
INGOT_PII_KEY. With --explain it asks no stack if --pipeline names a file, or if you name no stack and there is a
pipeline.yaml in this folder.

A field of the partition key may have several values, separated by commas. So may one of the sort key, if the values
make the whole key of each item in the table: a request then reads up to 100 items, in the order asked. For a comma in
a value, write \, or give the field twice. FIELD=@- reads the value from standard input, so that it does not appear in
the list of processes or in the shell's history. --from and --to give a range: of the time in the partition key if you
leave that out, otherwise of the next field of the sort key. A time may be shortened, as in 2026-03-01.

The page ends at --limit items, or when --max-units read units are spent. Items that have expired or are of another
type are read, but not returned. The token of the next page contains keys, and is not encrypted.

If nothing is found, the exit code is still 0.`

// queryJSON documents --output json. A test compares it with answer.
const queryJSON = `
  items[]                 type, id, at, key and indexes (each pk, sk), expiresAt, data (the payload);
                          elsewhere, if the payload is in the payload bucket and data is what the item keeps of it
  totals[]                by, window, values, n, flags, building, missing; values that are not numbers are objects, as
                          in ingot totals
  missing[]               pk, sk of each of several whole keys that nothing is stored under
  read, returned          how many items were read, and how many of them are in the answer
  requests, units         what it took
  next                    the token of the next page, for --page; absent on the last
  explain[]               with --explain, in place of all of these: api, table, index, condition, values, backward;
                          of a BatchGetItem keys, each pk, sk`

type queryOptions struct {
	ask     query.Ask
	newest  bool
	explain bool
	reveal  bool
}

func newQuery(a *app) *cobra.Command {
	var o queryOptions
	cmd := &cobra.Command{
		Use:   "query PATTERN [FIELD=VALUE…]",
		Short: "Read events or totals by a pattern of pipeline.yaml",
		Long:  queryHelp,
		Example: `  ingot query order order_id=o-1 --local
  ingot query order order_id=o-1,o-2 --limit 1 --local
  ingot query order order_id=o-1 --local --output json
  ingot query merchant_days merchant_id=m-1 currency=EUR --from 2026-03-01 --to 2026-04-01 --stack shop
  ingot query order order_id=o-1 --pipeline pipeline.yaml --explain`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("newest") {
				o.ask.Newest = &o.newest
			}
			return a.query(cmd, o, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.ask.From, "from", "", "the beginning of a range of time, or of the next field of the sort key")
	flags.StringVar(&o.ask.To, "to", "", "the end of the range, which is not in it")
	flags.StringVar(&o.ask.Prefix, "prefix", "", "what the next field of the sort key begins with")
	flags.BoolVar(&o.newest, "newest", false, "return the newest first (default as the pattern says)")
	flags.IntVar(&o.ask.Limit, "limit", 50, "items of a page: 1 to 10000")
	flags.Float64Var(&o.ask.MaxUnits, "max-units", 100, "read units that a page may spend")
	flags.StringVar(&o.ask.Page, "page", "", "the token that the previous page printed")
	flags.BoolVar(&o.ask.Consistent, "consistent", false, "read consistently, with every earlier write; not possible on an index")
	flags.BoolVar(&o.explain, "explain", false, "show the first requests, and send none")
	flags.BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	command.OnPipeline(cmd, queryJSON)
	return cmd
}

func (a *app) query(cmd *cobra.Command, o queryOptions, args []string) error {
	if cmd.Flags().Changed("limit") && o.ask.Limit < 1 {
		return cli.Usagef("--limit %d: give 1 to 10000", o.ask.Limit)
	}
	if cmd.Flags().Changed("max-units") && !(o.ask.MaxUnits > 0) {
		return cli.Usagef("--max-units %v: give read units, more than 0", o.ask.MaxUnits)
	}
	var err error
	if len(args) > 0 {
		if o.ask.Values, err = a.QuestionValues(args[1:]); err != nil {
			return err
		}
	}
	config := tables.Config{Client: noClient{}, Events: "events", Aggregates: "aggregates"}
	var t *target.Target
	if !o.explain || !a.alone() {
		if t, err = a.Find(cmd.Context()); err != nil {
			return err
		}
		config.Client, config.Events, config.Aggregates = t.DynamoDB(), t.EventsTable, t.AggregatesTable
	}
	file, p, err := a.File(cmd.Context(), t, command.Use{})
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return cli.Usagef("say which pattern; %s", command.HasPatterns(p))
	}
	config.Pipeline = p
	st, requests, err := asks(config, args[0], o.ask)
	if errors.Is(err, pipeline.ErrNoSecret) {
		if t == nil {
			secret, _ := a.LocalSecret()
			a.TellStandIn("ingot query", p)
			p, err = file.Load(pipeline.Secret(secret))
		} else {
			p, err = a.Hashing(cmd.Context(), t, file, p)
		}
		if err != nil {
			return err
		}
		config.Pipeline = p
		st, requests, err = asks(config, args[0], o.ask)
	}
	if err != nil {
		text := strings.TrimPrefix(err.Error(), "read: ") // the user called no function
		if _, none := p.Pattern(args[0]); none != nil {
			text += a.orNewer()
		}
		return cli.Usagef("%s", text)
	}
	hidden := show.Masks(p, o.reveal)
	var out Answer
	if o.explain {
		pattern, err := p.Pattern(args[0])
		if err != nil {
			return err
		}
		for _, in := range requests {
			out.Explain = append(out.Explain, explained(in, hidden.Asked(pattern)))
		}
		return a.Print(out, func(b *strings.Builder) { a.writeAnswer(b, out) })
	}
	got, err := query.Of(st).Read(cmd.Context(), args[0], o.ask)
	if err != nil {
		return err
	}
	for _, odd := range got.Unreadable {
		a.Say("left out, because it cannot be decoded: %s", show.Text(hidden.Quoted(odd.Error())))
	}
	var def *aggregate.Definition
	if pattern, err := p.Pattern(args[0]); err == nil && pattern.Total() != "" {
		def, _ = p.Definition(pattern.Total())
	}
	out.fill(got, def, hidden)
	pattern, _ := p.Pattern(args[0])
	for _, key := range got.Missing {
		if hidden.Asked(pattern) {
			key = event.Key{PK: show.Mask, SK: show.Mask}
		}
		out.Missing = append(out.Missing, keyIn(key))
	}
	return a.Print(out, func(b *strings.Builder) { a.writeAnswer(b, out) })
}

// alone reports whether a command that sends nothing can do without a stack, because it has a file:
// the one of --pipeline, or the pipeline.yaml of this folder if the flags name no stack.
func (a *app) alone() bool {
	if a.Pipeline != "" {
		return true
	}
	if a.Named() || a.Flags.Profile != "" || a.Flags.Region != "" || a.Flags.EndpointURL != "" {
		return false
	}
	const here = "pipeline.yaml"
	if _, err := os.Stat(here); err != nil {
		return false
	}
	a.Pipeline = here
	return true
}

// noClient is the client of a store that sends nothing.
type noClient struct{ tables.Client }

// asks checks a question, and returns the store that answers it and the first requests. It sends no
// request.
func asks(c tables.Config, name string, ask query.Ask) (*store.Store, []any, error) {
	st, err := store.New(c)
	if err != nil {
		return nil, nil, err
	}
	list, _, err := query.Of(st).Explain(name, ask)
	return st, list, err
}

// Answer is what query prints.
type Answer struct {
	Items    []answerItem    `json:"items,omitempty"`
	Missing  []answerKey     `json:"missing,omitempty"`
	Totals   []answerTotal   `json:"totals,omitempty"`
	Read     int             `json:"read"`
	Returned int             `json:"returned"`
	Requests int             `json:"requests"`
	Units    float64         `json:"units"`
	Next     string          `json:"next,omitempty"`
	Explain  []answerRequest `json:"explain,omitempty"`

	ofTotals bool // the pattern reads totals
}

type answerKey struct {
	PK string `json:"pk"`
	SK string `json:"sk"`
}

type answerItem struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	At        string `json:"at"`
	at        time.Time
	Key       answerKey            `json:"key"`
	Indexes   map[string]answerKey `json:"indexes,omitempty"`
	ExpiresAt int64                `json:"expiresAt,omitempty"`
	Data      json.RawMessage      `json:"data"`
	// Elsewhere says that the payload is in the payload bucket, and data is what the item keeps of
	// it.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

type answerTotal struct {
	By       map[string]string `json:"by,omitempty"`
	Window   string            `json:"window,omitempty"`
	Values   map[string]any    `json:"values"`
	N        int64             `json:"n"`
	Flags    []string          `json:"flags,omitempty"`
	Building bool              `json:"building,omitempty"`
	Missing  bool              `json:"missing,omitempty"`

	groups []string // the values of By, by name
	window string
	shown  map[string]show.Value
}

type answerRequest struct {
	API       string            `json:"api"`
	Table     string            `json:"table"`
	Index     string            `json:"index,omitempty"`
	Condition string            `json:"condition,omitempty"`
	Values    map[string]string `json:"values,omitempty"`
	Keys      []answerKey       `json:"keys,omitempty"`
	Backward  bool              `json:"backward,omitempty"`
}

// explained returns a request as it is shown. The values of its keys may be hidden.
func explained(in any, hidden bool) answerRequest {
	texts := func(m map[string]types.AttributeValue) map[string]string {
		out := map[string]string{}
		for name, v := range m {
			if s, ok := v.(*types.AttributeValueMemberS); ok {
				if out[name] = s.Value; hidden {
					out[name] = show.Mask
				}
			}
		}
		return out
	}
	if get, ok := in.(*dynamodb.GetItemInput); ok {
		return answerRequest{API: "GetItem", Table: *get.TableName, Values: texts(get.Key)}
	}
	if batch, ok := in.(*dynamodb.BatchGetItemInput); ok {
		r := answerRequest{API: "BatchGetItem"}
		for table, request := range batch.RequestItems {
			r.Table = table
			for _, key := range request.Keys {
				text := texts(key)
				r.Keys = append(r.Keys, answerKey{text["PK"], text["SK"]})
			}
		}
		return r
	}
	q := in.(*dynamodb.QueryInput)
	r := answerRequest{API: "Query", Table: *q.TableName, Condition: *q.KeyConditionExpression, Values: texts(q.ExpressionAttributeValues),
		Backward: q.ScanIndexForward != nil && !*q.ScanIndexForward}
	for placeholder, name := range q.ExpressionAttributeNames {
		r.Condition = strings.ReplaceAll(r.Condition, placeholder, name)
	}
	if q.IndexName != nil {
		r.Index = *q.IndexName
	}
	return r
}

// fill copies the store's answer. def is the aggregate that a pattern over totals reads.
func (out *Answer) fill(got query.Answer, def *aggregate.Definition, hidden show.Personal) {
	out.ofTotals = def != nil
	out.Read, out.Returned, out.Requests, out.Units, out.Next = got.Read, len(got.Items), got.Requests, got.Units, got.Next
	for _, i := range got.Items {
		item := hidden.Item(*i)
		row := answerItem{Type: item.Type, ID: item.ID, At: keys.FormatTime(item.At), at: item.At.UTC(), Key: keyIn(item.Key),
			ExpiresAt: item.ExpiresAt, Data: json.RawMessage(item.Data),
			Elsewhere: item.Payload != nil}
		if !json.Valid(row.Data) {
			row.Data, _ = json.Marshal(item.Data)
		}
		for _, index := range item.Indexes {
			if row.Indexes == nil {
				row.Indexes = map[string]answerKey{}
			}
			row.Indexes[index.Name] = keyIn(index.Key)
		}
		out.Items = append(out.Items, row)
	}
	for _, t := range got.Totals {
		row := answerTotal{By: hidden.By(def.Name, t.By), Values: map[string]any{}, N: t.N, Flags: hidden.All(t.Flags),
			Building: t.Building, Missing: t.Missing,
			window: show.Window(def, t.Window), shown: totals.ValuesOf(def, t, hidden)}
		for _, name := range slices.Sorted(maps.Keys(row.By)) {
			row.groups = append(row.groups, show.Text(row.By[name]))
		}
		if !t.Window.IsZero() {
			row.Window = t.Window.Format("2006-01-02T15:04:05Z")
		}
		for name, v := range row.shown {
			row.Values[name] = v.JSON
			if number, ok := v.JSON.(string); ok && number == v.Number {
				row.Values[name] = json.Number(number)
			}
		}
		out.Totals = append(out.Totals, row)
	}
}

// elsewhere returns how many of the payloads are in the payload bucket.
func (out *Answer) elsewhere() (n int) {
	for _, i := range out.Items {
		if i.Elsewhere {
			n++
		}
	}
	return n
}

func keyIn(k event.Key) answerKey { return answerKey{k.PK, k.SK} }

func (k answerKey) text() string {
	return fmt.Sprintf("PK = %q AND SK = %q", show.Text(k.PK), show.Text(k.SK))
}

func (a *app) writeAnswer(b *strings.Builder, out Answer) {
	switch {
	case out.Explain != nil:
		writeExplained(b, out.Explain)
	case out.Totals != nil:
		writeAnswerTotals(b, out.Totals)
	case out.ofTotals:
		b.WriteString("no total is stored for this\n")
	default:
		cut := writeItems(b, out.Items, a.Columns)
		if n := out.elsewhere(); n > 0 {
			fmt.Fprintf(b, "%s in the payload bucket, and shown as far as the item keeps it; ingot get --payload shows all of one\n",
				show.Are(n, "payload"))
		}
		for _, key := range out.Missing {
			fmt.Fprintf(b, "nothing is stored under %s\n", key.text())
		}
		units := fmt.Sprintf("%v read units", out.Units) // it may be a half
		if out.Units == 1 {
			units = "1 read unit"
		}
		fmt.Fprintf(b, "read %s, returned %s: %s, %s\n", show.Comma(out.Read), show.Comma(out.Returned),
			show.Count(out.Requests, "request"), units)
		if out.Next != "" {
			fmt.Fprintf(b, "there is more: add --page %s\n", out.Next)
		}
		if cut {
			a.Say("payloads end with … where the terminal does; --output json shows all of them")
		}
	}
}

// writeItems writes one line for each item. If that does not fit on the terminal, each payload has
// a line of its own, which ends with the terminal. cut reports whether one of them is longer than
// that. columns 0 is any width.
func writeItems(b *strings.Builder, items []answerItem, columns int) (cut bool) {
	wide := false
	one, two := show.NewTable(), show.NewTable()
	two.Fit(columns)
	for _, i := range items {
		cells := []string{i.at.Format(time.RFC3339Nano), show.Text(i.Type), show.Text(i.ID)}
		data := []rune(show.Text(string(i.Data)))
		one.Row(append(cells, string(data))...)
		two.Row(cells...)
		if most := columns - 4; columns > 0 && len(data) > most {
			data, cut = append(data[:max(most, 1)-1:max(most, 1)-1], '…'), true
		}
		two.Row("  " + string(data))
	}
	var lines strings.Builder
	one.Print(&lines)
	for line := range strings.Lines(lines.String()) {
		wide = wide || utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > columns
	}
	if columns == 0 || !wide {
		b.WriteString(lines.String())
		return false
	}
	two.Print(b)
	return cut
}

// writeExplained prints the requests. Those that differ in the partition alone are one.
func writeExplained(b *strings.Builder, list []answerRequest) {
	const most = 20
	for i, r := range list {
		if i == most {
			fmt.Fprintf(b, "and %s\n", show.Count(len(list)-most, "more such request"))
			break
		}
		where := r.Table
		if r.Index != "" {
			where += " " + r.Index
		}
		text := r.Condition
		for _, name := range slices.SortedFunc(maps.Keys(r.Values), func(x, y string) int {
			return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x, y))
		}) {
			if r.API == "GetItem" {
				continue
			}
			text = strings.ReplaceAll(text, name, fmt.Sprintf("%q", show.Text(r.Values[name])))
		}
		if r.API == "GetItem" {
			r.Keys = []answerKey{{r.Values["PK"], r.Values["SK"]}}
		}
		for i, key := range r.Keys {
			if i > 0 {
				text += ", "
			}
			text += key.text()
		}
		if r.Backward {
			text += ", backward"
		}
		fmt.Fprintf(b, "%s %s: %s\n", r.API, where, text)
	}
	fmt.Fprintf(b, "%s; none was sent\n", show.Count(len(list), "request"))
}

func writeAnswerTotals(b *strings.Builder, totals []answerTotal) {
	t := show.NewTable()
	for _, total := range totals {
		if total.Missing {
			t.Row(append(slices.Clone(total.groups),
				cmp.Or(strings.Join(total.Flags, "; "), "nothing is stored, and older events are not counted yet"))...)
			continue
		}
		cells := append(slices.Clone(total.groups), total.window)
		for _, name := range slices.Sorted(maps.Keys(total.shown)) {
			cells = append(cells, name+"="+total.shown[name].Text)
		}
		notes := total.Flags
		if total.Building {
			notes = append(notes, "building: older events may not be counted yet")
		}
		t.Row(append(cells, strings.Join(notes, "; "))...)
	}
	t.Print(b)
}
