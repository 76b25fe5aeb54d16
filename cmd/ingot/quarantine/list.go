package quarantine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
)

const listHelp = `Lists the messages that a folder holds: why each one was put into quarantine, and what became of it since. Then it
counts them by reason. It sends no request. States: open, edited, resent, dropped, and "sent, not deleted" for a
message that the next pull or resend deletes.

` + choosingHelp + `
For --type and --key it reads pipeline.yaml. If a key is hashed, INGOT_PII_KEY must be set to find messages whose note
does not have the key.

Exit code 1: a file cannot be used. It is named, and the others are listed.`

// listJSON documents --output json. A test compares it with listReport.
const listJSON = `
  messages[]              id, dead, sent, pulled, receives, verdict, reason, bytes, state
  reasons[]               verdict, reason, messages: how many there are of each`

// listReport is the JSON of list.
type listReport struct {
	Messages []Listed  `json:"messages"`
	Reasons  []Counted `json:"reasons"`
}

// Listed is a letter in JSON.
type Listed struct {
	ID       string    `json:"id"`
	Dead     bool      `json:"dead"`
	Sent     time.Time `json:"sent"`
	Pulled   time.Time `json:"pulled"`
	Receives int       `json:"receives"`
	Verdict  string    `json:"verdict,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Bytes    int       `json:"bytes"`
	State    string    `json:"state"`
}

func newList(a *app) *cobra.Command {
	var f quarantine.Filter
	var file string
	cmd := &cobra.Command{
		Use:   "list DIR",
		Short: "List the messages of a folder, and count them by reason",
		Long:  listHelp,
		Example: `  ingot quarantine list letters
  ingot quarantine list letters --reason missing-field --type order.placed
  ingot quarantine list letters --output json`,
		Args: folderAnd(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := chooses(nil, f, "")
			if err == nil && c.plans() {
				c.Pipeline, err = a.plan(file)
			}
			if err != nil {
				return err
			}
			return a.list(args[0], c)
		},
	}
	filterFlags(cmd, &f)
	cmd.Flags().StringVar(&file, "pipeline", "pipeline.yaml", "the pipeline that finds types and keys")
	command.HasJSON(cmd, listJSON)
	return cmd
}

func (a *app) list(path string, c choosing) error {
	dir, err := quarantine.OpenDir(path)
	if err != nil {
		return cli.Usage(err)
	}
	letters, err := dir.List()
	letters = slices.DeleteFunc(letters, func(l *quarantine.Letter) bool { return !c.Chooses(l) })
	list := []Listed{}
	for _, l := range letters {
		one := Listed{ID: l.ID, Dead: l.Dead, Sent: l.Sent, Pulled: l.Pulled, Receives: l.Receives, Bytes: len(l.Body), State: l.State()}
		if l.Note != nil {
			one.Verdict, one.Reason = l.Note.Verdict, quarantine.Reason(l.Note.Reason, l.Note.Detail)
		}
		list = append(list, one)
	}
	printed := a.Print(listReport{list, append([]Counted{}, countedBy(letters)...)}, func(b *strings.Builder) { listText(b, letters) })
	if err == nil {
		err = printed
	}
	return err
}

func listText(b *strings.Builder, letters []*quarantine.Letter) {
	if len(letters) == 0 {
		fmt.Fprintln(b, "no messages")
		return
	}
	t := show.NewTable(3)
	t.Row("id", "verdict", "reason", "bytes", "sent", "state")
	short := shortIDs(letters)
	for i, l := range letters {
		verdict, reason := "", ""
		if l.Note != nil {
			verdict, reason = l.Note.Verdict, quarantine.Reason(l.Note.Reason, l.Note.Detail)
		}
		if l.Dead {
			verdict = deadLetter
		}
		t.Row(short[i], verdict, reason, show.Comma(len(l.Body)), l.Sent.Format("2006-01-02 15:04"), l.State())
	}
	t.Print(b)
	open := 0
	sums := show.NewTable(0, 1)
	sums.Row("messages", "open", "verdict", "reason")
	for _, one := range countedBy(letters) {
		open += one.open
		sums.Row(show.Comma(one.Messages), show.Comma(one.open), one.Verdict, one.Reason)
	}
	fmt.Fprintln(b)
	sums.Print(b)
	fmt.Fprintf(b, "%s, %d of them open\n", show.Count(len(letters), "message"), open)
}

// shortIDs returns the beginnings of ids that tell them apart, at least eight characters.
func shortIDs(letters []*quarantine.Letter) []string {
	for n := 8; ; n++ {
		seen, short := map[string]bool{}, make([]string, len(letters))
		whole := true
		for i, l := range letters {
			short[i] = l.ID[:min(n, len(l.ID))]
			whole = whole && n >= len(l.ID)
			seen[short[i]] = true
		}
		if len(seen) == len(letters) || whole {
			return short
		}
	}
}
