package status

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/tables"
)

// Flagged is a total with a flag. Personal values in its name are masked.
type Flagged struct {
	Total    string `json:"total"`
	Flag     string `json:"flag,omitempty"`
	Accepted string `json:"accepted,omitempty"` // when and by whom an earlier flag was accepted, and that flag
}

// flagged looks for flags at the first page of the aggregates table, which has some thousand
// totals.
func (r *Report) flagged(ctx context.Context, s Source) {
	masks := show.PersonalOf(s.Pipeline)
	for page, err := range s.Store.TotalPages(ctx, tables.Segment{}) {
		if err != nil {
			r.unknown("flags of totals", err)
			return
		}
		for _, t := range page.All {
			def, is := s.Pipeline.Definition(t.Address.Name)
			if !is || def.Since != t.Address.Since || t.Flag == "" && t.Accepted == "" {
				continue
			}
			total := show.TotalOf(def, masks.By(def.Name, lanes.Group(def, t.Address.By)), time.Time{})
			if def.Window != 0 {
				total.Window = lanes.WindowText(t.Address.Window)
			}
			r.Flagged = append(r.Flagged, Flagged{total.String(), masks.Quoted(t.Flag), masks.Quoted(t.Accepted)})
		}
		if page.Next.PK != "" {
			r.Unknown = append(r.Unknown, "flags of totals: only the first page of the aggregates table was read; "+
				"ingot rebuild --accept lists all flags")
		}
		break
	}
	slices.SortFunc(r.Flagged, func(a, b Flagged) int { return strings.Compare(a.Total, b.Total) })
	if n := len(slices.DeleteFunc(slices.Clone(r.Flagged), func(f Flagged) bool { return f.Flag == "" })); n > 0 {
		r.unwell("%s flagged: ingot rebuild mend computes them again, or ingot rebuild --accept accepts the flags", show.Are(n, "total"))
	}
}
