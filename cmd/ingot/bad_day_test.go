package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/show"
)

var (
	blocks  = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")
	givenUp = regexp.MustCompile(`X#[A-Za-z0-9_-]+#\d+`)
	reading = regexp.MustCompile(`(?m)^(ingot (totals|query|verify|get|status|quarantine list|quarantine pull) |ID=).*\n`)
)

// TestABadDay walks through the stories of docs/repair.md. It runs the commands of the page as
// they are written, in bash, against README's pipeline and messages, and compares what they print
// with the page. On the page, … stands for anything.
func TestABadDay(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it runs a shell, and in it the commands that other tests run")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not on PATH; to have the stories of docs/repair.md run, install it")
	}
	page := must.Read(t, "../../docs/repair.md")
	_, section, _ := strings.Cut(string(page), "\n## A bad day\n")
	section, _, _ = strings.Cut(section, "\n## ")
	stories := strings.Split(section, "\n### ")[1:]
	if len(stories) != 6 {
		t.Fatalf("%d stories, want 6", len(stories))
	}
	file, err := readme("yaml pipeline")
	must.Succeed(t, err)
	for _, story := range stories {
		title, text, _ := strings.Cut(story, "\n")
		t.Run(title, func(t *testing.T) {
			s := newStory(t, bash, file)
			s.begin()
			found := blocks.FindAllStringSubmatch(text, -1)
			for i, b := range found {
				want := ""
				if i+1 < len(found) && found[i+1][1] == "text" {
					want = found[i+1][2]
				}
				s.block(b[1], b[2], want)
			}
		})
	}
}

// TestOlderBackup shows what docs/repair.md says of a backup that is older than the loss: what it
// lacks would count twice if it came again, and counts once after a new generation.
func TestOlderBackup(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || testing.Short() {
		t.Skip("it needs bash, and runs commands in processes of their own, which -short leaves out")
	}
	file, err := readme("yaml pipeline")
	must.Succeed(t, err)
	page := content(t, "../../docs/repair.md")
	restore := regexp.MustCompile("(?s)```sh\n(BACKUP=.*?)```").FindStringSubmatch(page)[1]
	for _, anew := range []bool{false, true} {
		s := newStory(t, bash, file)
		s.begin()
		s.prints("ingot verify --local\n", "2 items, 1 total: no difference\n")
		s.run("ingot pause --no-drain --local\naws dynamodb delete-table --table-name events\n")
		// Nothing hears of what is removed before there is a stream.
		restored, stream, _ := strings.Cut(restore, "aws dynamodb update-table")
		s.run(restored + `aws dynamodb delete-item --table-name events --key '{"PK": {"S": "ORDER#o-2"}, "SK": {"S": "PLACED"}}'` + "\n" +
			"aws dynamodb update-table" + stream)
		s.prints("ingot verify --local\n", "…orders is 2, and its items add up to 1…")
		until(s.T, "ingot dev goes on", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return strings.Contains(strings.Join(s.log, "\n"), "was made again")
		})
		if anew {
			s.edit(func(file string) string {
				return strings.NewReplacer("epoch: 1", "epoch: 2", "since: 1", "since: 2").Replace(file)
			})
			s.prints("ingot rebuild --all --local\n", "complete: orders_daily since 2\n")
		}
		resume := regexp.MustCompile("ingot verify .*&& ingot resume --local").FindString(page)
		must.Equal(t, s.run("if ! { "+resume+"; } >log 2>&1; then echo refused; fi\n") == "refused\n", !anew)
		s.run("ingot resume --local\ningot send messages.ndjson --local --wait\n")
		want := "2 items, 1 total: no difference\n"
		if !anew {
			want = "…orders is 3, and its items add up to 2…"
		}
		s.prints("ingot verify --local\n", want)
	}
}

// TestTryingAStack runs what docs/deploy.md says to type after the first deployment, as it is
// written, in a repository that init has made, beside an ingot dev.
func TestTryingAStack(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil || testing.Short() {
		t.Skip("it needs bash, and runs commands in processes of their own, which -short leaves out")
	}
	page := must.Read(t, "../../docs/deploy.md")
	_, section, _ := strings.Cut(string(page), "\n## Trying a stack\n")
	section, _, _ = strings.Cut(section, "\n## ")
	found := blocks.FindAllStringSubmatch(section, -1)
	if len(found) != 6 {
		t.Fatalf("%d blocks, want 6", len(found))
	}
	dir := filepath.Join(t.TempDir(), "shop")
	tool(t, "init --no-tidy", dir).says(t, exitFine)
	file := must.Read(t, filepath.Join(dir, "pipeline.yaml"))
	s := newStoryIn(t, bash, dir, string(file))
	s.block(found[0][1], found[0][2], "")
	s.block(found[1][1], found[1][2], "")
	s.block(found[2][1], found[2][2], found[3][2])
	s.block(found[4][1], found[4][2], found[5][2])
}

// story is a folder in which a pipeline runs.
type story struct {
	*testing.T
	bash, dir string
	dev       *dev.Dev
	env       []string

	mu  sync.Mutex
	log []string // what ingot dev has said
}

func newStory(t *testing.T, bash, file string) *story {
	return newStoryIn(t, bash, t.TempDir(), file)
}

// newStoryIn begins a story in a folder, which has all that pipeline.yaml refers to.
func newStoryIn(t *testing.T, bash, dir, file string) *story {
	s := &story{T: t, bash: bash, dir: dir}
	s.write("pipeline.yaml", file)
	var err error
	s.dev, err = dev.Start(t.Context(),
		dev.Config{File: filepath.Join(s.dir, "pipeline.yaml"), Now: time.Now, Secret: []byte(show.StandIn), Tell: func(line string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, line)
		}})
	must.Succeed(t, err)
	t.Cleanup(func() {
		if err := s.dev.Close(); err != nil {
			t.Error(err)
		}
	})
	l := s.dev.Local()
	s.env = append(os.Environ(), "AWS_ENDPOINT_URL="+l.Endpoint, "AWS_REGION="+l.Region, "AWS_ACCESS_KEY_ID=local",
		"AWS_SECRET_ACCESS_KEY=local",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=absent", "AWS_SHARED_CREDENTIALS_FILE=absent")
	return s
}

// begin sends README's messages, which are in messages.ndjson.
func (s *story) begin() {
	s.Helper()
	messages, err := readme("json messages")
	must.Succeed(s, err)
	s.write("messages.ndjson", messages)
	must.Succeed(s, (&living{Dev: s.dev}).sendMessages())
}

func (s *story) write(name, text string) {
	s.Helper()
	write(s.T, filepath.Join(s.dir, name), text)
}

// block does what one block of the page says. want is what it then prints, or empty.
func (s *story) block(kind, text, want string) {
	s.Helper()
	language, name, _ := strings.Cut(kind, " ")
	switch {
	case kind == "text":
	case language == "json":
		s.write(name, text)
	case name == "add below events:":
		s.edit(func(file string) string { return strings.Replace(file, "\nevents:\n", "\nevents:\n"+text, 1) })
	case strings.HasPrefix(text, "sed -i"):
		s.edit(func(string) string {
			s.run(text)
			file := must.Read(s, filepath.Join(s.dir, "pipeline.yaml"))
			return string(file)
		})
	case givenUp.MatchString(text):
		s.giveUp(text)
	case kind == "sh" && want == "":
		s.run(text)
	case kind == "sh":
		s.prints(text, want)
	default:
		s.Fatalf("a block that the test does not know: %s", kind)
	}
}

// edit changes pipeline.yaml, and waits until both functions run with it.
func (s *story) edit(change func(string) string) {
	s.Helper()
	before, last := s.read("pipeline.yaml"), s.dev.Steps().Last()
	s.write("pipeline.yaml", change(before))
	if s.read("pipeline.yaml") == before {
		s.Fatal("pipeline.yaml is as before")
	}
	until(s.T, "pipeline.yaml is taken", func() bool {
		steps, _ := s.dev.Steps().After(last, 1000)
		for _, step := range steps {
			if step.Reloaded != nil {
				if !step.Reloaded.Took {
					s.Fatalf("pipeline.yaml is refused: %v", step.Reloaded.Objects)
				}
				return true
			}
		}
		return false
	})
}

func (s *story) read(name string) string {
	s.Helper()
	text := must.Read(s, filepath.Join(s.dir, name))
	return string(text)
}

// giveUp runs a command for the key that ingot dev names, and again for each next one.
func (s *story) giveUp(text string) {
	s.Helper()
	known := map[string]bool{}
	for range 2 {
		key := ""
		until(s.T, "ingot dev names another key", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, line := range s.log {
				if k := givenUp.FindString(line); k != "" && !known[k] {
					key = k
				}
			}
			return key != ""
		})
		known[key] = true
		s.run(givenUp.ReplaceAllLiteralString(text, key))
	}
}

// prints runs commands and compares what they print with the page. If they only read, it runs them
// until they print that: totals run behind the events.
func (s *story) prints(text, want string) {
	s.Helper()
	lines := regexp.QuoteMeta(strings.TrimSuffix(want, "\n"))
	is := regexp.MustCompile(`(?s)^` + strings.ReplaceAll(lines, "…", ".*") + `\n?$`)
	if reading.ReplaceAllString(text, "") != "" {
		if got := s.run(text); !is.MatchString(got) {
			s.Fatalf("%s\nprints\n%s\nand the page says\n%s", text, got, want)
		}
		return
	}
	var got string
	defer func() {
		if s.Failed() {
			s.Logf("%s\nprints\n%s\nand the page says\n%s\ningot dev says %q", text, got, want, s.log)
		}
	}()
	until(s.T, "it prints what the page says", func() bool {
		got = s.run(text)
		return is.MatchString(got)
	})
}

// run runs commands in bash. It returns what they print on standard output, or else on standard
// error.
func (s *story) run(text string) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), s.bash, "-uc", text)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.Fatalf("%s: %v", text, err)
	}
	for _, sign := range []string{"command not found", "unknown flag", "aws: ", "no such file"} {
		if strings.Contains(errs.String(), sign) {
			s.Fatalf("%s\n%s", text, &errs)
		}
	}
	if out.Len() == 0 {
		return errs.String()
	}
	return out.String()
}

// awsCLI stands in for the AWS CLI: it sends one request to DynamoDB. Values that begin with { or [
// are JSON. NAME=VALUE,NAME=VALUE is the CLI's shorthand for an object. With --query it prints the
// member of the last element of a list, as LIST[-1].MEMBER names it.
func awsCLI() {
	if err := awsRequest(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "aws:", err)
		os.Exit(255)
	}
}

func awsRequest(ctx context.Context, args []string) error {
	if len(args) < 2 || args[0] != "dynamodb" {
		return fmt.Errorf("this stands in for aws dynamodb alone, not for %q", args)
	}
	operation, args := args[1], args[2:]
	if operation == "wait" { // a table exists at once
		operation, args = "describe-table", args[1:]
	}
	camel := func(name string) (out string) {
		for part := range strings.SplitSeq(name, "-") {
			out += strings.ToUpper(part[:1]) + part[1:]
		}
		return out
	}
	in, name, query := map[string]any{}, "", ""
	for _, arg := range args {
		var value any = arg
		switch {
		case strings.HasPrefix(arg, "--"):
			name = camel(arg[2:])
			continue
		case name == "Query":
			query = arg
			continue
		case name == "Output":
			continue
		case arg[0] == '{' || arg[0] == '[':
			if err := json.Unmarshal([]byte(arg), &value); err != nil {
				return err
			}
		case name == "AttributeDefinitions" || name == "KeySchema":
			list, _ := in[name].([]any)
			value = append(list, shorthand(arg))
		case strings.HasSuffix(name, "Specification"):
			value = shorthand(arg)
		}
		in[name] = value
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("AWS_ENDPOINT_URL"), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+camel(operation))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	if err != nil || query == "" {
		return err
	}
	list, member, _ := strings.Cut(query, "[-1].")
	var out map[string]json.RawMessage
	var elements []map[string]any
	if err = errors.Join(json.Unmarshal(text, &out), json.Unmarshal(out[list], &elements)); err == nil {
		fmt.Println(elements[len(elements)-1][member])
	}
	return err
}

// shorthand returns an object that is written as NAME=VALUE,NAME=VALUE.
func shorthand(text string) map[string]any {
	object := map[string]any{}
	for pair := range strings.SplitSeq(text, ",") {
		member, value, _ := strings.Cut(pair, "=")
		if object[member] = value; value == "true" {
			object[member] = true
		}
	}
	return object
}
