// Package cloudformation writes templates in the form of JSON, as CloudFormation answers and takes
// them. [JSON] is the entry point. Only tests use it.
package cloudformation

import (
	"encoding/json"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// JSON returns a part of a template in the form of JSON.
func JSON(n *template.Node) any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case template.List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = JSON(item)
		}
		return list
	case template.Map:
		object := map[string]any{}
		for _, m := range n.Members {
			object[m.Name] = JSON(m.Value)
		}
		return object
	case template.Call:
		return map[string]any{n.Name: JSON(n.Argument)}
	}
	// CloudFormation accepts a number or a boolean in place of its text, and LocalStack passes it
	// on unchanged.
	if json.Valid([]byte(n.Text)) && !strings.ContainsAny(n.Text, `"[{`) {
		return json.RawMessage(n.Text)
	}
	return n.Text
}
