package pattern

import (
	"fmt"
	"slices"
	"strings"
)

// LeadingKeys returns the partition keys of the pattern for one value, with each shard and type.
// The value is not escaped, so it may be text that is filled in later, such as
// ${aws:PrincipalTag/tenant}. The error explains why the partition keys of one value cannot be
// listed like that.
func (p *Pattern) LeadingKeys(value string) ([]string, error) {
	if p.is.Total != "" {
		return nil, fmt.Errorf("%s reads totals, whose keys begin with the aggregate and not with whom they belong to", p.is.Name)
	}
	var list []string
	name := ""
	for _, t := range p.is.PKs {
		texts := []string{""}
		for i := range t {
			s := &t[i]
			var pieces []string
			switch s.Kind {
			case SlotText:
				pieces = []string{s.text}
			case SlotShard:
				for n := range s.shards {
					text, err := s.part.Make(fmt.Sprint(n), s.from, nil)
					if err != nil {
						return nil, fmt.Errorf("the shards of %s cannot be listed: %w", p.is.Name, err)
					}
					pieces = append(pieces, text)
				}
			case SlotTypes:
				if len(s.part.Funcs) > 0 {
					return nil, fmt.Errorf("%s: IAM does not apply %s to the type", p.is.Name, s)
				}
				pieces = p.is.Types
			case SlotTime:
				return nil, fmt.Errorf("%s: the partition key has a time, %s, so the keys that a principal may read change with the "+
					"clock; give it an index whose pk has no time", p.is.Name, s)
			default:
				if err := unchanged(p.is.Name, s); err != nil {
					return nil, err
				}
				if name != "" && name != s.Name {
					return nil,
						fmt.Errorf("%s: the partition key has two parameters, %s and %s, and a tag can only be one of them; put %s into "+
							"the sort key", p.is.Name, name, s.Name, s.Name)
				}
				name, pieces = s.Name, []string{value}
			}
			texts = continued(texts, pieces)
		}
		list = append(list, texts...)
	}
	if name == "" {
		return nil, fmt.Errorf("%s: the partition key has no parameter, so every principal would read the same keys", p.is.Name)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// unchanged refuses a parameter that functions change: IAM compares the key as it is stored with
// the tag as it is.
func unchanged(name string, s *Slot) error {
	for _, f := range s.part.Funcs {
		switch {
		case s.hashed() || f.Name == "sha256":
			return fmt.Errorf("%s: %s is stored as a hash, which IAM does not compute, so no tag equals it; tag principals with another "+
				"field, and put that into the key", name, s)
		case s.part.Lossy:
			return fmt.Errorf("%s: %s loses a part of the value, so two principals could have one key, and each would read the other's "+
				"items; put {%s} into the key", name, s, s.Reads)
		default:
			return fmt.Errorf("%s: IAM does not apply %s, so a tag would not equal the key; put {%s} into the key", name, s, s.Reads)
		}
	}
	return nil
}

// Actions returns the actions of DynamoDB that the pattern's questions need.
func (p *Pattern) Actions() []string {
	switch {
	case p.is.Top > 0:
		return []string{"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"} // the totals, the head and the index
	case p.is.Total != "":
		return []string{"dynamodb:GetItem", "dynamodb:Query"} // the head of the generation, and its totals
	case strings.HasPrefix(p.Request(), "GetItem"):
		return []string{"dynamodb:GetItem"}
	case p.is.Index == "" && p.is.Whole:
		return []string{"dynamodb:GetItem", "dynamodb:Query"}
	}
	return []string{"dynamodb:Query"}
}
