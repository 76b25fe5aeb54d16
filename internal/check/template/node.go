package template

// Kind says what a Node is.
type Kind uint8

// The kinds. Call is a function that is not yet worked out; Resolve leaves Scalar, List, Map, Reference and
// Unknown.
const (
	Scalar Kind = iota + 1
	List
	Map
	Call
	Reference
	Unknown
)

// Node is a value of the file. A nil *Node is a value that is not there.
type Node struct {
	Position
	Kind    Kind
	Text    string   // Scalar: its text
	Items   []*Node  // List
	Members []Member // Map, in the order of the file
	// Name of a Call is the function in its long form (Ref, Fn::If); of a Reference the logical id.
	Name string
	// Attribute of a Reference is what is taken of the resource, as in Fn::GetAtt; empty for Ref.
	Attribute string
	Argument  *Node  // Call
	Why       string // Unknown: the reason, and what to do about it
}

// Member is one name of a mapping with its value.
type Member struct {
	Position // of the name
	Name     string
	Value    *Node
}

// Member is the named member of a Map; nil if it is not there.
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

// unknown stands for what cannot be worked out at n.
func unknown(n *Node, why string) *Node { return &Node{Position: n.Position, Kind: Unknown, Why: why} }

// scalar is a text worked out at n.
func scalar(n *Node, text string) *Node { return &Node{Position: n.Position, Kind: Scalar, Text: text} }
