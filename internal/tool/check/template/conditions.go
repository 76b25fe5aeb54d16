package template

const (
	// maxDepth bounds how deeply conditions and functions refer to each other. Deeper references
	// are taken for a circle.
	maxDepth = 64
	// maxSteps bounds the work on one template. If each of some lines refers to the next one twice,
	// the work doubles with each line.
	maxSteps = 100_000
	// maxText bounds the size of texts that are put together, for the same reason.
	maxText = 1 << 20
)

// tooMuch counts one step of work and reports whether to give up.
func (t *Template) tooMuch(depth int) bool {
	t.steps++
	return depth > maxDepth || t.steps > maxSteps
}

// condition evaluates a named condition. why is not empty if the result cannot be determined.
func (t *Template) condition(name string, depth int) (holds bool, why string) {
	n := t.conditions.Value(name)
	switch {
	case n == nil:
		return false, "there is no condition " + name
	case t.tooMuch(depth):
		return false, "the condition " + name + " refers to itself, or to too many others"
	}
	return t.evaluate(n, depth+1)
}

// evaluate evaluates a condition function.
func (t *Template) evaluate(n *Node, depth int) (holds bool, why string) {
	if n == nil {
		return false, "a condition is empty"
	}
	if t.tooMuch(depth) {
		return false, "conditions refer to each other in a circle, or too often"
	}
	if named := n.Value("Condition"); n.Kind == Map && named != nil {
		return t.condition(named.Text, depth)
	}
	if n.Kind != Call || n.Argument == nil {
		return false, "a condition is not a condition function"
	}
	arguments := n.Argument.Items
	switch {
	case n.Name == "Condition":
		return t.condition(n.Argument.Text, depth)
	case n.Name == "Fn::Not" && len(arguments) == 1:
		holds, why = t.evaluate(arguments[0], depth+1)
		return !holds && why == "", why
	case n.Name == "Fn::And" && len(arguments) > 0:
		return t.all(arguments, true, depth)
	case n.Name == "Fn::Or" && len(arguments) > 0:
		return t.all(arguments, false, depth)
	case n.Name == "Fn::Equals" && len(arguments) == 2:
		return t.equal(arguments[0], arguments[1], depth)
	}
	return false, n.Name + " is not a condition function that can be worked out"
}

// all evaluates and (want is true) or or (want is false). One member that differs from want
// decides, even if others cannot be determined.
func (t *Template) all(members []*Node, want bool, depth int) (holds bool, why string) {
	for _, m := range members {
		holds, doubt := t.evaluate(m, depth+1)
		if doubt != "" {
			why = doubt
		} else if holds != want {
			return !want, ""
		}
	}
	return want && why == "", why
}

func (t *Template) equal(a, b *Node, depth int) (holds bool, why string) {
	a, b = t.resolve(a, depth+1), t.resolve(b, depth+1)
	for _, n := range []*Node{a, b} {
		switch {
		case n == nil:
			return false, "a condition compares with nothing"
		case n.Kind == Unknown:
			return false, n.Why
		case n.Kind != Scalar:
			return false, "a condition compares something that is not text"
		}
	}
	return a.Text == b.Text, ""
}
