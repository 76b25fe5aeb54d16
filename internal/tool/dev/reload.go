package dev

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ingot-events/ingot/pipeline"
)

// settle is how long a file must be left alone before it is read. An editor may write it in parts.
const settle = 100 * time.Millisecond

// watch reads the files again whenever pipeline.yaml, one of its schemas or publish.yaml changes.
// It watches the folders, because many editors put a new file in the place of the old one.
func (d *Dev) watch(stop <-chan struct{}) {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		err = w.Add(filepath.Dir(d.cfg.File))
	}
	if err != nil {
		d.cfg.Tell(fmt.Sprintf("changes of %s cannot be noticed (%v): end ingot dev and start it again after each change",
			name(d.cfg.File), err))
		<-stop
		return
	}
	files := d.files()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case e := <-w.Events:
			if slices.Contains(files, filepath.Clean(e.Name)) {
				timer.Reset(settle)
			}
		case <-w.Errors: // events may be lost
			timer.Reset(settle)
		case <-timer.C: // the first time, the file may have changed since the start
			d.Reload(d.base)
			files = d.files()
			for _, file := range files[1:] {
				_ = w.Add(filepath.Dir(file)) // if there is no such folder, reading the file reports it
			}
		}
	}
}

// files lists pipeline.yaml, publish.yaml and the schemas that the former names.
func (d *Dev) files() []string {
	list := []string{filepath.Clean(d.cfg.File), d.publishFile()}
	text, err := os.ReadFile(d.cfg.File)
	if err != nil {
		return list
	}
	for _, schema := range slices.Compact(slices.Sorted(maps.Values(pipeline.SchemaFiles(text)))) {
		list = append(list, filepath.Join(filepath.Dir(d.cfg.File), filepath.FromSlash(schema)))
	}
	return list
}

// Reload reads pipeline.yaml and publish.yaml again. If a file has changed, the functions go on
// with it, as after a deployment. If they cannot, Reload tells why.
func (d *Dev) Reload(ctx context.Context) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	text, err := os.ReadFile(d.cfg.File)
	if err != nil {
		return // the file is missing while an editor replaces it
	}
	published, err := d.readPublish()
	if err != nil {
		return
	}
	plan, bad := d.compile(text)
	if bad == nil {
		text = plan.Text() // with the schemas
	} else {
		text = append(text, bad.Error()...)
	}
	file := name(d.cfg.File)
	if bytes.Equal(text, d.seen) {
		if file = name(d.publishFile()); same(published, d.publishSeen) {
			return
		}
	}
	d.seen, d.publishSeen = text, published
	if bad != nil {
		d.told(file, Reloaded{Objects: []string{bad.Error()}})
		return
	}
	if bytes.Equal(text, d.text) && same(published, d.publishText) {
		d.told(file, Reloaded{Took: true, Notes: []string{file + " is the file that runs again"}})
		return
	}
	objects, notes := d.compare(d.text, text)
	if len(objects) > 0 {
		d.told(file, Reloaded{Objects: objects, Notes: notes})
		return
	}
	if err := d.deploy(ctx, plan, text, published); err != nil {
		d.told(file, Reloaded{Objects: []string{err.Error()}, Notes: notes})
		return
	}
	d.told(file, Reloaded{Took: true, Notes: notes})
}

// same reports whether two texts of publish.yaml are the same. An empty file is not a missing one.
func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

// told reports whether a changed file is in use now, and why not.
func (d *Dev) told(file string, reloaded Reloaded) {
	if reloaded.Took {
		d.cfg.Tell(fmt.Sprintf("%s has changed; the functions run with it now", file))
	} else {
		d.cfg.Tell(fmt.Sprintf("%s has changed, but the functions still use the previous file:\n  %s", file,
			strings.Join(reloaded.Objects, "\n  ")))
	}
	for _, note := range reloaded.Notes {
		d.cfg.Tell(note)
	}
	d.step(Step{Reloaded: &reloaded})
}
