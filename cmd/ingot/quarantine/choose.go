package quarantine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
)

// choosing says which letters of a folder a command works on: those with these ids, or those that
// the filter chooses.
type choosing struct {
	quarantine.Filter
	ids []string
}

// choosingHelp is for the long help of the commands that take filters.
const choosingHelp = `--verdict and --reason choose messages by what put them into quarantine, --type and --key by what they are today.
The type may be one that pipeline.yaml does not have. --key takes the partition key, or both keys as ingot get
prints them, such as "ORDER#o-1 / PLACED". A message must have all that you give.`

// filterFlags adds the flags that choose letters.
func filterFlags(cmd *cobra.Command, f *quarantine.Filter) {
	cmd.Flags().StringVar(&f.Verdict, "verdict", "", "only messages with this verdict, such as Conflict")
	cmd.Flags().StringVar(&f.Reason, "reason", "", "only messages with this reason, such as missing-field:currency")
	cmd.Flags().StringVar(&f.Type, "type", "", "only messages with an event of this type")
	cmd.Flags().StringVar(&f.Key, "key", "", "only messages with this partition key, or \"PK / SK\"")
}

// chooses returns what the arguments and flags of a command choose. Both together are a mistake. If
// they choose nothing, that is one too, unless verb is empty.
func chooses(ids []string, f quarantine.Filter, verb string) (choosing, error) {
	c := choosing{f, ids}
	if v, is := event.ParseVerdict(f.Verdict); f.Verdict != "" && (!is || !v.Quarantined()) {
		return c, cli.Usagef("--verdict %s: no message is in quarantine with it; give Conflict, Rejected, Expired or Poison",
			f.Verdict)
	}
	if len(ids) > 0 && c.filters() {
		return c, cli.Usagef("give the IDs of messages, or choose messages with --verdict, --reason, --type and --key, not both")
	}
	if verb != "" && len(ids) == 0 && !c.filters() {
		return c, cli.Usagef("name the messages to %s by their IDs, or choose them with --verdict, --reason, --type or --key", verb)
	}
	return c, nil
}

// filters reports whether the filter leaves letters out.
func (c *choosing) filters() bool { return c.Filter != (quarantine.Filter{Pipeline: c.Pipeline}) }

// plans reports whether the filter needs a pipeline.
func (c *choosing) plans() bool { return c.Type != "" || c.Key != "" }

// deployedFor gives the filter the pipeline of a stack, if it needs one.
func (a *app) deployedFor(cmd *cobra.Command, t *target.Target, c *choosing) (err error) {
	if c.plans() {
		c.Pipeline, err = a.Deployed(cmd.Context(), t, command.Use{Hashes: true, Writes: true})
	}
	return err
}

// plan compiles a pipeline that only checks. If INGOT_PII_KEY is not set, a stand-in takes its
// place, which changes no verdict.
func (a *app) plan(file string) (*pipeline.Pipeline, error) {
	secret, _ := a.LocalSecret()
	_, p, err := command.LoadFile(file, "name the pipeline with --pipeline FILE", pipeline.Secret(secret))
	return p, err
}

// letters returns the chosen letters. Without ids, these are open ones.
func (a *app) letters(dir quarantine.Dir, path string, c choosing) ([]*quarantine.Letter, error) {
	var list []*quarantine.Letter
	if len(c.ids) == 0 {
		all, err := dir.List()
		for _, l := range all {
			if l.Open() && c.Chooses(l) {
				list = append(list, l)
			}
		}
		if len(list) == 0 && len(all) > 0 && c.filters() {
			a.Say("no open message is chosen; ingot quarantine list %s counts them by reason", show.Quoted(path))
		}
		return list, err
	}
	seen := map[string]bool{}
	for _, id := range c.ids {
		l, err := dir.Find(id)
		if err != nil {
			return nil, cli.Usage(err)
		}
		if !seen[l.ID] {
			list = append(list, l)
		}
		seen[l.ID] = true
	}
	return list, nil
}

// Counted is how many letters, or outcomes, have the same verdict and reason.
type Counted struct {
	Verdict  string `json:"verdict,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Messages int    `json:"messages"`
	open     int    // how many letters of them are open
}

// String returns such as "3 Poison (missing-field)".
func (c Counted) String() string {
	text := show.Comma(c.Messages) + " " + cmp.Or(show.Text(c.Verdict), "without a verdict")
	if c.Reason != "" {
		text += " (" + show.Text(c.Reason) + ")"
	}
	return text
}

// deadLetter is what lists have in the place of a verdict, for a message of the dead-letter queue.
const deadLetter = "dead letter"

// countedBy counts letters by their verdict and reason, most first.
func countedBy(letters []*quarantine.Letter) []Counted {
	list := make([]Counted, len(letters))
	for i, l := range letters {
		list[i].Messages = 1
		if l.Note != nil {
			list[i].Verdict, list[i].Reason = l.Note.Verdict, quarantine.Reason(l.Note.Reason, l.Note.Detail)
		}
		if l.Dead {
			list[i].Verdict = deadLetter
		}
		if l.Open() {
			list[i].open = 1
		}
	}
	return summed(list)
}

// summed adds up the counts of the same verdict and reason, most first.
func summed(list []Counted) []Counted {
	sums := map[Counted]Counted{}
	for _, one := range list {
		key := Counted{Verdict: one.Verdict, Reason: one.Reason}
		sum := sums[key]
		sums[key] = Counted{one.Verdict, one.Reason, sum.Messages + one.Messages, sum.open + one.open}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Counted) int {
		return cmp.Or(b.Messages-a.Messages, cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
}

// texts joins counts for a sentence.
func texts(list []Counted) string {
	var all []string
	for _, one := range list {
		all = append(all, one.String())
	}
	return strings.Join(all, ", ")
}

// sayPlan says which letters a command is about to change, before it does.
func (a *app) sayPlan(letters []*quarantine.Letter, does string) {
	text := show.Count(len(letters), "message") + " to " + does
	if len(letters) > 0 {
		text += ": " + texts(countedBy(letters))
	}
	a.Say("%s", text)
}
