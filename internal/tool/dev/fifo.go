package dev

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// templateFile is the file beside pipeline.yaml that says whether the queue is a FIFO queue.
const templateFile = "template.yaml"

// readsFIFO reports whether template.yaml declares a FIFO queue for the ingest function. Without
// that file, the queue is a standard queue.
func (d *Dev) readsFIFO() bool {
	file := filepath.Join(filepath.Dir(d.cfg.File), templateFile)
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return false
	}
	var fifo bool
	if err == nil {
		fifo, err = rules.FIFO(textfile.File{Name: name(file), Text: text})
	}
	if err != nil {
		d.cfg.Tell(fmt.Sprintf("%s cannot be read, so the queue is a standard queue here: %v", name(file), err))
	}
	return fifo
}

// sameQueue refuses kept data if its queue is not of the kind that template.yaml declares.
func (d *Dev) sameQueue() error {
	is := map[bool]string{false: "a standard queue", true: "a FIFO queue"}
	was := strings.HasSuffix(d.stack.Queue, ".fifo")
	if was == d.fifo {
		return nil
	}
	return fmt.Errorf("the data in %s has %s, and now it would be %s, because of %s: change that file back, or name another folder with "+
		"--data to begin again",
		d.cfg.Data, is[was], is[d.fifo], templateFile)
}
