package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// TestScriptsCanBeRead shows that each script first says, in sentences, what is at stake, and that
// it ends with a verification.
func TestScriptsCanBeRead(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(scripts, "*.txt"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		header := strings.Join(s.steps[0].above, "\n")
		if strings.Count(header, ".") < 2 {
			t.Errorf("%s: its first lines are two or three sentences on what is at stake", file)
		}
		if last := s.steps[len(s.steps)-1]; last.words[0] != "verify" {
			t.Errorf("%s: ends with %q, not with verify", file, last.raw)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if len([]rune(line)) > 160 {
				t.Errorf("%s:%d: %d characters", file, n+1, len([]rune(line)))
			}
		}
	}
}

// TestOutputIsNotInput shows that what a script shows does not depend on what it showed before.
func TestOutputIsNotInput(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(scripts, "zombie_invocation.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range s.steps {
		st.output = []string{"something else"}
	}
	got, err := Run(os.DirFS(scripts), s.String())
	if err != nil {
		t.Fatal(err)
	}
	if d := diff.Diff("the script", text, "what was shown", []byte(got)); d != nil {
		t.Errorf("%s", d)
	}
}

func TestMistakesInScripts(t *testing.T) {
	const world = "world\n----\n\n"
	for name, c := range map[string]struct{ script, want string }{
		"no separator":      {world + "ingest\n", "line 4: \"ingest\" has no ---- under it"},
		"empty input line":  {world + "send\norder a\n\n----\n", "has no ---- under it"},
		"no world":          {"ingest\n----\n", "its first command"},
		"two worlds":        {world + world, "one world"},
		"no such command":   {world + "dance\n----\n", "no such command"},
		"input not taken":   {world + "ingest\nx\n----\n", "takes no input"},
		"left-over word":    {world + "ingest quickly\n----\n", "does not know \"quickly\""},
		"left-over pair":    {world + "clock 1h n=2\n----\n", "does not know \"n=2\""},
		"no number":         {"world batch=x\n----\n", "batch=x is not a number"},
		"not a duration":    {"world window=x\n----\n", "not a duration"},
		"no such counting":  {"world counting=fingers\n----\n", "marks or receipts"},
		"no such pipeline":  {"world pipeline=none\n----\n", "none.yaml"},
		"time back":         {world + "clock -1h\n----\n", "goes forward"},
		"nothing to send":   {world + "send\n----\n", "needs lines"},
		"bad line":          {world + "send\norder\n----\n", "type and id"},
		"bad pair":          {world + "send\norder a merchant\n----\n", "not name=value"},
		"copy of nothing":   {world + "send\ncopy 1\n----\n", "which message"},
		"which trouble":     {world + "ingest refuse=PutItem:x\n----\n", "which one"},
		"unused trouble":    {world + "ingest refuse=PutItem\n----\n", "never happened"},
		"unused word":       {world + "stream twice\n----\n", "never happened"},
		"unused throttle":   {world + "ingest throttle=1\n----\n", "never happened"},
		"no checkpoint":     {world + "checkpoint restore x\n----\n", "no checkpoint"},
		"no invocation":     {world + "thaw streams-1\n----\n", "no invocation"},
		"not frozen":        {world + "send\nraw x\n----\n\ningest\n----\n\nthaw ingest-1\n----\n", "is not frozen"},
		"no item":           {world + "remove ORDER#a\n----\n", "no item"},
		"no total":          {world + "tamper daily revenue=1\n----\n", "no total"},
		"no such aggregate": {world + "finish x\n----\n", "no such aggregate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(os.DirFS(scripts), c.script)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, not one with %q", err, c.want)
			}
		})
	}
}

// TestFrozenAtTheEnd shows that a script may end while a function is still frozen. Nothing of the
// function is left behind.
func TestFrozenAtTheEnd(t *testing.T) {
	text := "world\n----\n\nsend\norder a merchant=m1 cents=1\n----\n\ningest freeze-after=PutItem\n----\n"
	got, err := Run(os.DirFS(scripts), text)
	if err != nil || !strings.Contains(got, "is frozen") {
		t.Errorf("%v\n%s", err, got)
	}
}
