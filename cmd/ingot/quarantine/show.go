package quarantine

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// examiner returns an examiner that judges messages by the deployed pipeline and the tables of a
// stack.
func (a *app) examiner(cmd *cobra.Command, t *target.Target, writes bool) (quarantine.Examiner, error) {
	p, err := a.Deployed(cmd.Context(), t, command.Use{Hashes: true, Writes: writes})
	if err != nil {
		return quarantine.Examiner{}, err
	}
	st, err := a.Store(t, p)
	return quarantine.Examiner{Pipeline: p, Store: st}, err
}

const showHelp = `Says why a message is in quarantine, what it would be if it were sent today, and what is stored under its key.
If an event is stored there, it lists the members that differ, except those that pipeline.yaml ignores. An ID may be
shortened.

Values that pipeline.yaml hashes with hmac are personal and are masked, also inside envelopes, unless --reveal is
given. If the pipeline has such values, a body that is not JSON is masked as a whole, and so are the group and what a
detail quotes.

If the message is an array, only the events that could not be stored are shown. The others are stored, and are not
sent again.

A message can replace a stored event (resend --replace) only after show has printed both.

Exit code 3: it would be quarantined again, or its payload is in S3.`

const showJSON = `
  id, dead, sent, receives, file, state, verdict, reason, detail, edited, group, trace
  today         verdict, reason, detail, type, id, pk, sk, digest, at
  stored        type, id, pk, sk, digest, at, data; absent if there is no event under the key; elsewhere, if its
                payload is in the payload bucket and data is what the item keeps of it
  differences[] path, stored, message; a value is JSON, and absent if the member is missing there
  events[]      in place of today, stored and differences, if the message is an array: position, verdict, reason,
                detail, type, id, pk, sk, digest, at, stored, differences
  attributes    by name, text or binary
  body`

type showOptions struct{ reveal bool }

func newShow(a *app) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show DIR ID",
		Short: "Say why a message is there, and what it would be today",
		Long:  showHelp,
		Example: `  ingot quarantine show letters 3f2a91c0 --stack shop
  ingot quarantine show letters 3f2a91c0 --local --reveal`,
		Args: folderAnd(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			return a.showLetter(cmd, t, args[0], args[1], o)
		},
	}
	command.OnPipeline(cmd, showJSON)
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	return cmd
}

func (a *app) showLetter(cmd *cobra.Command, t *target.Target, path, id string, o showOptions) error {
	dir, err := quarantine.OpenDir(path)
	if err != nil {
		return cli.Usage(err)
	}
	l, err := dir.Find(id)
	if err != nil {
		return cli.Usage(err)
	}
	j := &job{app: a, t: t, dir: dir}
	if _, _, err := j.of([]*quarantine.Letter{l}); err != nil {
		return err
	}
	x, err := a.examiner(cmd, t, false)
	if err != nil {
		return err
	}
	today, err := x.Examine(cmd.Context(), l)
	if err != nil {
		return err
	}
	report := quarantine.Show(l, dir.File(l.ID), today, show.Masks(x.Pipeline, o.reveal))
	err = a.Print(report, func(b *strings.Builder) { report.Print(b, path, strings.Join(a.Again(t), " "), flaggedBy(x, today)) })
	// Only an event that a person was shown may be replaced.
	if seen := today.Digests(); err == nil && l.Open() && !slices.Equal(l.Seen, seen) {
		l.Seen = seen
		err = dir.Save(l)
	}
	return cli.Differs(err, !today.Verdict.Stored())
}

func flaggedBy(x quarantine.Examiner, today *quarantine.Today) (names []string) {
	for _, one := range today.All() {
		if one.Stored != nil {
			names = append(names, quarantine.Flagged(x, one.Stored)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
