package read

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// byHelp is for the long help of totals.
const byHelp = `Instead of the fields, you may give the values of by under their own names, as the answer shows them. If by has
{@type} and the type comes from an envelope, this is the only way.`

// errNotOne says that the given fields do not name exactly one total.
type errNotOne struct{ text string }

func (e errNotOne) Error() string { return e.text }

// asked is what the values of by choose: one total of an aggregate, or one list of its totals.
type asked struct {
	what  string // a total of scores
	name  string // of the aggregate
	by    []string
	place string // where by is
}

func totalOf(def *aggregate.Definition) asked {
	return asked{"a total of " + def.Name, def.Name, def.By, "its by"}
}

func listOf(def *aggregate.Definition) asked {
	return asked{"a list of " + def.Name, def.Name, def.Rank.Within, "what its rank is within"}
}

// valuesOfBy computes the values of by that are asked from the fields on the command line. These
// are fields of the payload, or the values of by under their own names. The error is an errNotOne
// if a field is missing.
func valuesOfBy(p *pipeline.Pipeline, of asked, given map[string]any, names []string) (map[string]string, error) {
	fields, derived, err := fieldsOfBy(p, of)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !derived && !slices.ContainsFunc(fields, func(field string) bool {
			return within(field, name)
		}) && !slices.Contains(of.by, name) {
			return nil, cli.Usagef("%s has no field %s in %s; %s", of.name, name, of.place, foundBy(of, fields))
		}
	}
	by, err := p.By(of.name, envelope.Message{Body: command.Payload(given)}, of.by...)
	if err == nil {
		return by, nil
	}
	values, ours := map[string]string{}, len(names) > 0
	for _, name := range names {
		text, isText := given[name].(string)
		values[name] = text
		ours = ours && isText && slices.Contains(of.by, name)
	}
	if !ours && derived {
		text := fmt.Sprintf("%s is found by %s: give %s", of.what, show.And(of.by), show.And(assigned(of.by)))
		if len(names) > 0 {
			text += ", not " + show.And(names)
		}
		return nil, errNotOne{text}
	}
	if !ours {
		return nil, errNotOne{fmt.Sprintf("%s, and %s: give that too", foundBy(of, fields), command.Lacks(err))}
	}
	missing := slices.DeleteFunc(slices.Clone(of.by), func(name string) bool { _, there := values[name]; return there })
	if len(missing) == 0 {
		if err := p.CheckBy(of.name, values); err != nil {
			text, _, _ := strings.Cut(err.Error(), "; Pipeline.By") // that part is for programs
			return nil, cli.Usagef("%s: %s", text, instead(fields))
		}
		return values, nil
	}
	// The name of a value may also be the name of a field. Then it is better to ask for the missing
	// field.
	var refusal *event.Refusal
	if !derived && errors.As(err, &refusal) && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(fields, name) }) {
		return nil, errNotOne{fmt.Sprintf("%s, and %s: give that too", foundBy(of, fields), command.Lacks(err))}
	}
	return nil, errNotOne{fmt.Sprintf("%s is found by %s: give %s too", of.what, show.And(of.by), show.And(assigned(missing)))}
}

// foundBy says by which fields of the payload it is found.
func foundBy(of asked, fields []string) string {
	if len(of.by) == 0 {
		return "it has no by, so it has one total for each window: leave the field out"
	}
	return fmt.Sprintf("%s is found by %s", of.what, show.And(fields))
}

// instead says which fields to give if the template could never make the given value of by.
func instead(fields []string) string {
	if len(fields) == 0 {
		return "give what it makes"
	}
	return "give " + show.And(assigned(fields)) + " instead"
}

// fieldsOfBy lists the fields of the payload that by is made of. derived reports
// whether it also has values that are not fields, such as {@type}.
func fieldsOfBy(p *pipeline.Pipeline, of asked) (fields []string, derived bool, err error) {
	spec := p.Describe().Spec.Aggregates[of.name].By
	for _, name := range of.by {
		t, err := keys.ParseTemplate(spec[name])
		if err != nil {
			return nil, false, fmt.Errorf("by of %s: %w", of.name, err)
		}
		for _, path := range t.Paths() {
			if !slices.Contains(fields, path.String()) {
				fields = append(fields, path.String())
			}
		}
		derived = derived || len(t.Derived()) > 0
	}
	return fields, derived, nil
}

// within reports whether a field is one that was named, or a member of it.
func within(field, named string) bool {
	return field == named || strings.HasPrefix(field, named+".") || strings.HasPrefix(field, named+"[")
}

func assigned(names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, name+"=VALUE")
	}
	return list
}
