package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// rule says what one property must be. In its texts, {of} stands for the name of what has the
// property, and {is} for the value.
type rule struct {
	name     string
	property string // with the names of what it is in: "RedrivePolicy.maxReceiveCount"
	must     test
	whether  string // what cannot be told if only a deployment knows the value
	missing  string // what to say if the property is not there; empty: wrong
	wrong    string
	instead  string // what to write
	warns    bool
}

// test reports whether a rule holds for a property, which is nil if it is not there. told is false
// if that cannot be determined. Then this has been reported.
type test func(c *Checker, r *rule, n *template.Node) (holds, told bool)

// unlimited is the bound of a number that has none.
const unlimited = math.MaxInt

// number is the test that a property is a whole number within bounds. absent is the value that the
// service takes if the property is not there.
func number(absent, least, most int) test {
	return func(c *Checker, r *rule, n *template.Node) (holds, told bool) {
		value, ok := c.number(r.name, n, absent, r.whether)
		return value >= least && value <= most, ok
	}
}

// is is the test that a property has one of these values.
func is(values ...string) test {
	return func(c *Checker, r *rule, n *template.Node) (holds, told bool) {
		if n != nil && n.Kind != template.Scalar {
			c.cannotTell(r.name, n, r.whether)
			return false, false
		}
		for _, value := range values {
			holds = holds || n.Is(value)
		}
		return holds, true
	}
}

// isNot is the test that a property certainly does not have a value.
func isNot(value string) test {
	return func(_ *Checker, _ *rule, n *template.Node) (holds, told bool) { return !n.Is(value), true }
}

// has is the test that a property is a list with a value, or the value itself.
func has(value string) test {
	return func(c *Checker, r *rule, n *template.Node) (holds, told bool) {
		if n != nil && n.Kind != template.List && n.Kind != template.Scalar {
			c.cannotTell(r.name, n, r.whether)
			return false, false
		}
		told = true
		for _, item := range append(c.t.Items(n), n) {
			holds, told = holds || item.Is(value), told && (item == nil || item == n || item.Kind == template.Scalar)
		}
		if !holds && !told {
			c.cannotTell(r.name, n, r.whether)
		}
		return holds, holds || told
	}
}

func present(_ *Checker, _ *rule, n *template.Node) (holds, told bool) { return n != nil, true }

func absent(_ *Checker, _ *rule, n *template.Node) (holds, told bool) { return n == nil, true }

// thing is what rules are about.
type thing struct {
	name string
	at   template.Position
	get  func(path ...string) *template.Node
	into string // where a property goes that it lacks
}

const properties = " into its Properties"

// added returns an advice about a property, which says where it goes if n is not there.
func added(n *template.Node, write string) string {
	if n == nil {
		return write + properties
	}
	return write
}

// resource returns a resource as rules see it.
func (c *Checker) resource(r *template.Resource) thing {
	return thing{r.Name, r.Position, func(path ...string) *template.Node { return c.t.Property(r, path...) }, properties}
}

// mapped returns a mapping as rules see it.
func (c *Checker) mapped(m *mapping) thing { return c.value("", m.props, m.Position, properties) }

// value returns a value of the template as rules see it. into says where a property goes that it
// lacks.
func (c *Checker) value(name string, n *template.Node, at template.Position, into string) thing {
	return thing{name, at, func(path ...string) *template.Node { return c.t.Get(n, path...) }, into}
}

// check checks rules. Of those with the same name, it reports the first that does not hold.
func (c *Checker) check(on thing, rules ...rule) {
	broken := ""
	for i := range rules {
		r := rules[i]
		if r.name == broken {
			continue
		}
		r.whether = strings.ReplaceAll(r.whether, "{of}", on.name)
		path := strings.Split(r.property, ".")
		n := on.get(path...)
		holds, told := r.must(c, &r, n)
		if !told {
			broken = r.name
		}
		if holds || !told {
			continue
		}
		broken = r.name
		what, value := r.wrong, ""
		if n != nil {
			value = n.Text
		} else if r.missing != "" {
			what = r.missing
		}
		texts := strings.NewReplacer("{of}", on.name, "{is}", value)
		instead := texts.Replace(r.instead)
		name, _, _ := strings.Cut(instead, ":")
		switch i := slices.Index(path, name); {
		case i == 0 && on.get(name) == nil:
			instead += on.into
		case i > 0 && on.get(path[:i]...) != nil && on.get(path[:i+1]...) == nil:
			instead += " into " + path[i-1]
		}
		for n == nil && len(path) > 1 { // what is missing is reported where it would be
			path = path[:len(path)-1]
			n = on.get(path...)
		}
		report := c.Mistake
		if r.warns {
			report = c.Warn
		}
		report(r.name, where(n, on.at), texts.Replace(what), instead)
	}
}

// cannotTell warns that a rule cannot be checked, because only a deployment knows the value.
func (c *Checker) cannotTell(rule string, n *template.Node, whether string) {
	why := n.Why
	switch n.Kind {
	case template.Reference:
		why = "it refers to " + n.Name + ", which is only known while deploying"
	case template.List, template.Map:
		why = "a single value is expected there"
	}
	c.Warn(rule, n.Position, "cannot tell whether "+whether+": "+why, "")
}

// number returns n as a whole number. If n is nil, it returns absent. ok is false if the number
// cannot be determined. Then this has been reported.
func (c *Checker) number(rule string, n *template.Node, absent int, whether string) (value int, ok bool) {
	if n == nil {
		return absent, true
	}
	if n.Kind != template.Scalar {
		c.cannotTell(rule, n, whether)
		return 0, false
	}
	value, err := strconv.Atoi(strings.TrimSpace(n.Text))
	if err != nil {
		c.Mistake(rule, n.Position, strconv.Quote(n.Text)+" is not a whole number", "a whole number")
		return 0, false
	}
	return value, true
}

// where returns n's position. If n is missing, it returns the position of the value that lacks it.
func where(n *template.Node, missingIn template.Position) template.Position {
	if n == nil {
		return missingIn
	}
	return n.Position
}
