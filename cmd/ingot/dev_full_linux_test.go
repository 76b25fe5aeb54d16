package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
)

// TestFullDiskUnderDev lets the disk of the data folder become full while events are sent, and
// makes room again. What was answered is there, also after a kill, and every event is stored and
// counted once.
func TestFullDiskUnderDev(t *testing.T) {
	slow.Test(t, "it fills a disk twice")
	data := filepath.Join(t.TempDir(), "data")
	must.Succeed(t, os.Mkdir(data, 0o755))
	switch err := syscall.Mount("tmpfs", data, "tmpfs", 0, "size=2m"); {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES):
		t.Skip("a small disk can be made by root alone")
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(data, 0); err != nil {
			t.Error(err)
		}
	})
	k := newKilling(t, nil)
	t.Chdir(filepath.Dir(k.file))
	k.start("--data", data)
	const events = 4000
	note := strings.Repeat("x", 700)
	var lines strings.Builder
	for n := range events {
		fmt.Fprintf(&lines,
			`{"type":"order.placed","order_id":"o-%d","merchant_id":"m-%d","placed_at":"2026-03-01T09:00:00Z","total_cents":%d,"note":"%s"}`+"\n", n, n%7, n, note)
	}
	write(t, "events.ndjson", lines.String())
	want := "the disk with the data folder " + data +
		" is full: make room on it, and ingot dev goes on by itself; what it has answered before is kept\n"
	sent := 0
	sendUntilFull := func() {
		t.Helper()
		full := piped(t, "", "send events.ndjson --local --skip", fmt.Sprint(sent))
		if full.code != exitFailed || !strings.HasSuffix(full.errors, want) {
			t.Fatalf("exit code %d, and printed:\n%s; want\n%s", full.code, full.errors, want)
		}
		before, again := sent, full.errors[strings.LastIndex(full.errors, "--skip ")+len("--skip "):]
		if _, err := fmt.Sscan(again, &sent); err != nil || sent <= before || sent >= events {
			t.Fatalf("%d events are sent for certain, and %d before (%v); printed:\n%s", sent, before, err, full.errors)
		}
	}
	makeRoom := func(size string) {
		t.Helper()
		must.Succeed(t, syscall.Mount("tmpfs", data, "tmpfs", syscall.MS_REMOUNT, "size="+size))
	}
	sendUntilFull()
	if got := piped(t, "", "status --local"); got.code != exitFailed || !strings.HasSuffix(got.errors, ") cannot answer now: "+want) {
		t.Errorf("exit code %d, and printed:\n%s", got.code, got.errors)
	}
	makeRoom("5m")
	until(t, "ingot dev goes on by itself", func() bool { return tool(t, "status --local").code == exitFine })
	sendUntilFull()
	must.Succeed(t, k.cmd.Process.Kill())
	_ = k.cmd.Wait() // it was killed
	makeRoom("256m")
	k.start("--data", data)
	tool(t, "send events.ndjson --local --skip", fmt.Sprint(sent)).says(t, exitFine)
	k.sent = events
	k.verify()
	out, err := k.tables.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(k.local.EventsTable)})
	if err != nil || *out.Table.ItemCount != events {
		t.Errorf("%v items, want %d (%v)", out.Table, events, err)
	}
	_ = k.cmd.Process.Kill() // before its disk is taken away
	_ = k.cmd.Wait()
}
