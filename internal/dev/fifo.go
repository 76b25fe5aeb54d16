package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ingot-events/ingot/internal/check"
)

// templateFile is the file beside pipeline.yaml that says of which kind the queue is.
const templateFile = "template.yaml"

// readsFIFO reports whether template.yaml declares a FIFO queue for the ingest function. Without that
// file, the queue is a standard queue.
func (d *Dev) readsFIFO() bool {
	file := filepath.Join(filepath.Dir(d.cfg.File), templateFile)
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return false
	}
	var fifo bool
	if err == nil {
		fifo, err = check.FIFO(check.File{Name: name(file), Text: text})
	}
	if err != nil {
		d.cfg.Tell(fmt.Sprintf("whether the queue is a FIFO queue cannot be read from %s, so it is a standard queue here: %v", name(file), err))
	}
	return fifo
}

// sameQueue refuses kept data whose queue is of the other kind than template.yaml says.
func (d *Dev) sameQueue() error {
	is := map[bool]string{false: "a standard queue", true: "a FIFO queue"}
	was := strings.HasSuffix(d.stack.Queue, ".fifo")
	if was == d.fifo {
		return nil
	}
	return fmt.Errorf("what is kept in %s has %s, and now it would be %s, by %s: change that file back, or name another folder with --data to begin anew",
		d.cfg.Data, is[was], is[d.fifo], templateFile)
}
