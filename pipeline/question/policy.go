package question

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/pipeline/pattern"
)

// LeadingKeys returns the partition keys of the pattern for one value, with each shard and type.
// The value is not escaped, so it may be text that is filled in later, such as
// ${aws:PrincipalTag/tenant}. The error explains why the partition keys of one value cannot be
// listed like that.
func LeadingKeys(p *pattern.Pattern, value string) ([]string, error) {
	form := p.Form()
	if form.Total != "" {
		return nil, fmt.Errorf("%s reads totals, whose keys begin with the aggregate and not with whom they belong to", form.Name)
	}
	var list []string
	name := ""
	for _, t := range form.PKs {
		texts := []string{""}
		for i := range t {
			s := &t[i]
			var pieces []string
			switch s.Kind {
			case pattern.SlotText:
				pieces = []string{s.Text}
			case pattern.SlotShard:
				var err error
				if pieces, err = shards(s, nil); err != nil {
					return nil, fmt.Errorf("the shards of %s cannot be listed: %w", form.Name, err)
				}
			case pattern.SlotTypes:
				if len(s.Part.Funcs) > 0 {
					return nil, fmt.Errorf("%s: IAM does not apply %s to the type", form.Name, s)
				}
				pieces = form.Types
			case pattern.SlotTime:
				return nil, fmt.Errorf("%s: the partition key has a time, %s, so the keys that a principal may read change with the "+
					"clock; give it an index whose pk has no time", form.Name, s)
			default:
				if err := unchanged(form.Name, s); err != nil {
					return nil, err
				}
				if name != "" && name != s.Name {
					return nil,
						fmt.Errorf("%s: the partition key has two parameters, %s and %s, and a tag can only be one of them; put %s into "+
							"the sort key", form.Name, name, s.Name, s.Name)
				}
				name, pieces = s.Name, []string{value}
			}
			texts = continued(texts, pieces)
		}
		list = append(list, texts...)
	}
	if name == "" {
		return nil, fmt.Errorf("%s: the partition key has no parameter, so every principal would read the same keys", form.Name)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// unchanged refuses a parameter that functions change: IAM compares the key as it is stored with
// the tag as it is.
func unchanged(name string, s *pattern.Slot) error {
	for _, f := range s.Part.Funcs {
		switch {
		case f.Function().Hash:
			return fmt.Errorf("%s: %s is stored as a hash, which IAM does not compute, so no tag equals it; tag principals with another "+
				"field, and put that into the key", name, s)
		case s.Part.Lossy:
			return fmt.Errorf("%s: %s loses a part of the value, so two principals could have one key, and each would read the other's "+
				"items; put {%s} into the key", name, s, s.Reads)
		default:
			return fmt.Errorf("%s: IAM does not apply %s, so a tag would not equal the key; put {%s} into the key", name, s, s.Reads)
		}
	}
	return nil
}

// Actions returns the actions of DynamoDB that the pattern's questions need.
func Actions(p *pattern.Pattern) []string {
	switch form := p.Form(); {
	case form.Top > 0:
		return []string{"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"} // the totals, the head and the index
	case form.Total != "":
		return []string{"dynamodb:GetItem", "dynamodb:Query"} // the head of the generation, and its totals
	case strings.HasPrefix(p.Request(), "GetItem"):
		return []string{"dynamodb:BatchGetItem", "dynamodb:GetItem"} // of several values, and of one
	case form.Index == "" && form.Whole:
		return []string{"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"}
	}
	return []string{"dynamodb:Query"}
}
