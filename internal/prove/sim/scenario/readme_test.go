package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadme shows that README.md lists every script and every command, and nothing else.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(scripts, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{}
	for _, name := range sorted(commands) {
		c := commands[name]
		want = append(want, fmt.Sprintf("| `%s` | %s |", strings.ReplaceAll(c.usage, "|", `\|`), c.help))
	}
	files, _ := filepath.Glob(filepath.Join(scripts, "*.txt"))
	rows := strings.Split(string(text), "\n")
	for _, row := range want {
		if !slices.Contains(rows, row) {
			t.Errorf("README.md lacks the row\n%s", row)
		}
	}
	listed := 0
	for _, row := range rows {
		cells := strings.Split(row, "|")
		if len(cells) < 3 || strings.ContainsAny(cells[1], "`-") || strings.TrimSpace(cells[1]) == "" {
			continue
		}
		switch name := strings.TrimSpace(cells[1]); name {
		case "script", "command", "trouble":
		default:
			listed++
			if !slices.Contains(files, filepath.Join(scripts, name+".txt")) {
				t.Errorf("README.md lists %q, and there is no such script", name)
			}
		}
	}
	if listed != len(files) {
		t.Errorf("README.md lists %d scripts, and there are %d", listed, len(files))
	}
	for _, kind := range append(slices.Clone(kinds), "throttle=", "half=", "twice", "drop-answer", "forget") {
		if !strings.Contains(string(text), "`"+kind) {
			t.Errorf("README.md does not explain %s", kind)
		}
	}
}
