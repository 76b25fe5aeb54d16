package show

import (
	"encoding/json"
	"io"
)

// JSON writes one value as programs read it, with --output json.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
