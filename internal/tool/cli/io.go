package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// IO is what a command may use of the world: its streams, its environment and a clock. Nothing is
// global.
type IO struct {
	Env    func(string) (string, bool)
	Stdin  io.Reader // ends with the context
	Typed  bool      // Stdin is a terminal
	Stdout io.Writer // data
	Stderr io.Writer // messages: progress, warnings, errors
	Output string    // text or json; of some commands also csv
	// Columns is how wide the terminal is that Stdout is. 0 means that it is not a terminal.
	Columns int
	// Clock is the clock by which commands wait for a stack. The zero value is the real time. Tests
	// set another clock, so that they do not wait.
	Clock env.Env
}

// Begin finds out which streams are terminals. Reading from Stdin ends with ctx.
func (o *IO) Begin(ctx context.Context) {
	o.Typed, o.Stdin = isTerminal(o.Stdin), interruptible(ctx, o.Stdin)
	if o.Columns == 0 {
		o.Columns = columnsOf(o.Stdout)
	}
}

// JSON reports whether the user asked for JSON on Stdout.
func (o *IO) JSON() bool { return o.Output == "json" }

// WriteJSON writes one value to Stdout.
func (o *IO) WriteJSON(v any) error { return show.JSON(o.Stdout, v) }

// Print writes a result to Stdout: as JSON, or as the text that write makes of it.
func (o *IO) Print(v any, write func(*strings.Builder)) error {
	if o.JSON() {
		return o.WriteJSON(v)
	}
	var b strings.Builder
	write(&b)
	_, err := io.WriteString(o.Stdout, b.String())
	return err
}

// Say writes one message to Stderr.
func (o *IO) Say(format string, args ...any) { fmt.Fprintf(o.Stderr, "ingot: "+format+"\n", args...) }

// Progress shows on Stderr how far a piece of work is.
func (o *IO) Progress() func(show.Step) { return show.NewProgress(o.Stderr, isTerminal(o.Stderr)) }

// Open opens a file of events, or standard input if name is -. It also returns a name to show for
// it. next says what to do if the file cannot be opened.
func (o *IO) Open(name, next string) (io.ReadCloser, string, error) {
	if name == "-" {
		return io.NopCloser(o.Stdin), "standard input", nil
	}
	f, err := OpenFile(name)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w; %s, or - for standard input", name, textfile.Cause(err), next)
	}
	return f, name, nil
}

// OpenFile opens a file. A folder, which can be opened but not read, is an error.
func OpenFile(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return f, nil // a file that cannot be read says so when it is read
	}
	_ = f.Close() // nothing was written
	return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
}

// ReadFile reads a file that the command line names. next says what to do if it cannot be read.
func ReadFile(name, next string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; %s", name, textfile.Cause(err), next)
	}
	return text, nil
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columnsOf returns how wide a terminal is, or 0 if it is not a terminal.
func columnsOf(stream any) int {
	if !isTerminal(stream) {
		return 0
	}
	if columns, _, err := term.GetSize(int(stream.(*os.File).Fd())); err == nil && columns >= 40 {
		return columns
	}
	return 80
}
