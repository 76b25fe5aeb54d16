package template

// Kind says what a Node is.
type Kind uint8

// These are the kinds. Call is a function that is not yet evaluated. Resolve returns only Scalar,
// List, Map, Reference and Unknown.
const (
	Scalar Kind = iota + 1
	List
	Map
	Call
	Reference
	Unknown
)

// Node is a value of the file. A nil *Node stands for a missing value.
type Node struct {
	Position
	Kind    Kind
	Text    string   // Scalar: its text
	Items   []*Node  // List
	Members []Member // Map, in the order of the file
	// Name is the function of a Call in its long form (Ref, Fn::If), or the logical id of a
	// Reference.
	Name string
	// Attribute says what a Reference reads of the resource, as in Fn::GetAtt. It is empty for Ref.
	Attribute string
	Argument  *Node  // Call
	Why       string // Unknown: the reason, and what to do about it
}

// Member is one name of a mapping with its value.
type Member struct {
	Position // position of the name
	Name     string
	Value    *Node
}

// Member returns the named member of a Map, or nil if there is none.
func (n *Node) Member(name string) *Member {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Name == name {
			return &n.Members[i]
		}
	}
	return nil
}

// Value returns the value of the named member of a Map, or nil if it has none.
func (n *Node) Value(name string) *Node {
	if m := n.Member(name); m != nil {
		return m.Value
	}
	return nil
}

// Is reports whether n is certainly this text.
func (n *Node) Is(text string) bool { return n != nil && n.Kind == Scalar && n.Text == text }

// texts returns the texts of a List.
func (n *Node) texts() (list []string) {
	for _, item := range n.Items {
		if item != nil {
			list = append(list, item.Text)
		}
	}
	return list
}

// unknown returns a node for a value at n that cannot be determined.
func unknown(n *Node, why string) *Node { return &Node{Position: n.Position, Kind: Unknown, Why: why} }

// scalar returns a node for a text that was evaluated at n.
func scalar(n *Node, text string) *Node { return &Node{Position: n.Position, Kind: Scalar, Text: text} }
