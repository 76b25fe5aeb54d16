package check

import (
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/pipeline/pattern"
	"github.com/ingot-events/ingot/pipeline/question"
)

// sorted warns of a pattern whose sort keys begin with numbers or times that are in another order
// as text. It is a mistake if the sample has some that are.
func (r *Report) sorted(asked *pattern.Pattern, at rules.Places) {
	form := asked.Form()
	i := slices.IndexFunc(form.SK, func(s pattern.Slot) bool { return s.Kind != pattern.SlotText })
	if i < 0 {
		return
	}
	s := &form.SK[i]
	tell := func(severity rules.Severity, whose, instead string) {
		at.Add(severity, "sort-key", at.Of("patterns."+asked.Name(), ""),
			fmt.Sprintf("%s reads in the order of %s, and %s are in another order as text", asked.Name(), s.Reads, whose),
			instead+" in the sort key")
	}
	if padded := question.Padded(s); padded != "" {
		tell(rules.Warning, "numbers of different lengths", padded)
	}
	if !question.Bare(s) {
		return
	}
	for _, typ := range form.Types {
		severity, with := rules.Warning, s.Sorts
		if r.Events != nil {
			for _, f := range r.Events.Sorts {
				if f.Type == typ && f.Path == s.Reads && f.Shown {
					severity, with = rules.Mistake, f.With
				}
			}
		}
		if with == "" {
			continue
		}
		whose := "times of different offsets or precisions"
		if question.Pads(with) {
			whose = "numbers of different lengths"
		}
		if severity == rules.Mistake {
			whose += ", as in " + r.Events.File + ","
		}
		tell(severity, whose, fmt.Sprintf("{%s | %s}", s.Reads, with))
		return
	}
}
