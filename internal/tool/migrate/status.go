package migrate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

// WriteCompared writes a comparison for people.
func WriteCompared(w io.Writer, c *migrate.Compared) {
	fmt.Fprintf(w, "%s rows, %s copies; skipped %s, expired %s, refused %s, erased %s, in motion %s\n", show.Comma(c.Rows), show.Comma(c.Copies),
		show.Comma(c.Skipped), show.Comma(c.Expired), show.Comma(c.Refused), show.Comma(c.Erased), show.Comma(c.InMotion))
	for why, n := range c.Why {
		fmt.Fprintf(w, "refused  %s rows: %s\n", show.Comma(n), why)
	}
	if c.Untaken > 0 {
		fmt.Fprintf(w, "not taken  %s rows have attributes that no template takes: `ingot migrate status --rows 0` lists them\n",
			show.Comma(c.Untaken))
	}
	if c.Collisions > 0 {
		fmt.Fprintf(w, "collision  %s keys are claimed by several rows, or hold something else\n", show.Comma(c.Collisions))
	}
	if c.OneWay > 0 {
		fmt.Fprintf(w, "one way  %s rows would not come back by the back of migration.yaml\n", show.Comma(c.OneWay))
	}
	if c.Thinner > 0 {
		fmt.Fprintf(w, "less  %s rows have attributes, or kinds of them, that back does not make: where the stream does not have the row as it "+
			"was, they would not come back\n", show.Comma(c.Thinner))
	}
	writeNamed(w, c.Named)
	for i, d := range c.Differences {
		if i == mostShown {
			fmt.Fprintf(w, "… and %s more differences; --output json has them\n", show.Comma(len(c.Differences)-i))
			break
		}
		fmt.Fprintf(w, "difference  %s is %s; its rows: %v\n", d.Key, d.What, d.Rows)
	}
	if c.Clean() {
		fmt.Fprintln(w, "equal: each row has its copy, and each copy its row")
	}
}

// mostShown is how many rows or keys of a kind are shown.
const mostShown = 20

// writeNamed names the first rows and keys of each kind.
func writeNamed(w io.Writer, list []migrate.Named) {
	shown := map[string]int{}
	for _, one := range list {
		if shown[one.Kind]++; shown[one.Kind] <= mostShown {
			fmt.Fprintf(w, "%s  %s: %s\n", one.Kind, show.Text(one.Name), show.Text(one.Why))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(shown)) {
		if more := shown[kind] - mostShown; more > 0 {
			fmt.Fprintf(w, "… and %s more %s; --output json has them\n", show.Comma(more), kind)
		}
	}
}

// State is what `ingot migrate status` says.
type State struct {
	Migration string            `json:"migration"`
	Table     string            `json:"table"`
	Stream    string            `json:"stream,omitempty"`
	Pass      int64             `json:"pass"`
	Filled    int64             `json:"filled"`
	Compared  *time.Time        `json:"compared,omitempty"`
	Found     string            `json:"found,omitempty"`
	Captured  *time.Time        `json:"captured,omitempty"`
	Types     map[string]string `json:"types"`
	Missing   []string          `json:"missing,omitempty"`
	Plan      *Plan             `json:"plan,omitempty"` // before the first pass, or if it is asked for
	order     []string
	next      string
}

// Status says where a migration is.
func Status(m *rowmap.Mapping, old *migrate.Table, missing []string, c *migrate.Control) *State {
	s := &State{Migration: m.Name(), Table: old.Table, Stream: old.Stream, Missing: missing, Types: map[string]string{}, order: m.Types()}
	if c == nil {
		c = &migrate.Control{}
	}
	s.Pass, s.Filled, s.Found = c.Pass, c.Filled, c.Found
	if !c.Compared.IsZero() {
		s.Compared = &c.Compared
	}
	if !c.Captured.IsZero() {
		s.Captured = &c.Captured
	}
	s.next = "ingot migrate turn may follow"
	for _, typ := range m.Types() {
		if s.Types[typ] = c.State(typ); s.Types[typ] == migrate.New || s.Types[typ] == migrate.Draining {
			s.next = "ingot migrate back may follow"
		}
	}
	return s
}

// Write writes it for people.
func (s *State) Write(w *strings.Builder) {
	fmt.Fprintf(w, "migration %s of table %s\n", s.Migration, s.Table)
	at := func(t *time.Time) string {
		if t == nil {
			return "never"
		}
		return t.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(w, "capture has done what was written before  %s\n", at(s.Captured))
	fmt.Fprintf(w, "passes begun %d, last one ended %d\n", s.Pass, s.Filled)
	if s.Compared == nil {
		fmt.Fprintln(w, "not compared, or what was compared no longer counts")
	} else {
		fmt.Fprintf(w, "compared %s: %s\n", at(s.Compared), s.Found)
	}
	for _, typ := range s.order {
		says := "the %s table is the source of %s\n"
		if s.Types[typ] != migrate.Old && s.Types[typ] != migrate.New {
			says = "%s: %s\n"
		}
		fmt.Fprintf(w, says, s.Types[typ], typ)
	}
	for _, missing := range s.Missing {
		fmt.Fprintf(w, "missing: %s\n", missing)
	}
	if len(s.Missing) == 0 {
		fmt.Fprintln(w, "nothing is missing: "+s.next)
	}
	if s.Plan != nil {
		fmt.Fprintln(w)
		s.Plan.Write(w)
	}
}

// WritePass writes what a pass has done.
func WritePass(w io.Writer, number int64, done migrate.Progress) {
	fmt.Fprintf(w, "pass %d has ended: %s rows read, %s inserted, %s written, of these %s tombstones\n"+
		"skipped %s, expired %s, refused %s, collisions %s\n", number, show.Comma(done.Rows), show.Comma(done.Inserted),
		show.Comma(done.Written), show.Comma(done.Tombstones), show.Comma(done.Skipped), show.Comma(done.Expired), show.Comma(done.Refused),
		show.Comma(done.Collisions))
}

// WriteTurned writes what the types of a migration are after a turn, and what to do next. uncounted
// are the aggregates that wait for a rebuild.
func WriteTurned(w io.Writer, m *rowmap.Mapping, state string, uncounted []string) {
	list := strings.Join(m.Types(), ", ")
	if state == migrate.Turning {
		fmt.Fprintf(w, "%s: turning; messages still wait for a bound or a claim that needs what was copied\n", list)
	} else {
		fmt.Fprintf(w, "%s: the new table is the source\n", list)
	}
	for _, name := range uncounted {
		fmt.Fprintf(w, "next: ingot rebuild %s, which counts what was copied\n", name)
	}
	if state == migrate.Turning {
		fmt.Fprintln(w, "then: ingot migrate turn --yes, which lets the messages in")
	}
	fmt.Fprintln(w, `then, for messages that have come before the turn and still wait, both again for as long as pull says that more wait:
  ingot quarantine pull early --once
  ingot quarantine resend early --reason not-turned`)
}

// WriteBack writes where the types are on their way back, and what to do next.
func WriteBack(w io.Writer, m *rowmap.Mapping, state string, quiet time.Duration) {
	list := strings.Join(m.Types(), ", ")
	if state == migrate.Draining {
		fmt.Fprintf(w, "%s: messages wait in quarantine; capture goes on\nnext: ingot migrate back --yes, in %s\n", list, quiet)
		return
	}
	fmt.Fprintf(w, "%s: the old table is the source again, and its producers may write\n", list)
	fmt.Fprintln(w, "next: ingot migrate compare, before another turn; totals stand still until that turn and the rebuild that it names")
}

// WriteRetired writes what may follow once a migration is over.
func WriteRetired(w io.Writer, m *rowmap.Mapping, old *migrate.Table, swept int) {
	fmt.Fprintf(w, "migration %s is over; %s tombstones were deleted\n", m.Name(), show.Comma(swept))
	fmt.Fprintf(w, "next: take migrated: %s out of pipeline.yaml, and deploy it\n", m.Name())
	fmt.Fprintf(w, `then, with a copy of the old table in a bucket of yours:
  aws dynamodb export-table-to-point-in-time --table-arn %s --s3-bucket BUCKET
  aws dynamodb delete-table --table-name %s
`, cmp.Or(old.ARN, "ARN"), old.Table)
}
