package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// TestOutputAndPeak holds far more memory than the process that it starts.
func TestOutputAndPeak(t *testing.T) {
	if _, err := residentPeak(os.Getpid()); err != nil {
		t.Skip("this system has no /proc")
	}
	held := bytes.Repeat([]byte{1}, 256<<20)
	out, mb, err := outputAndPeak(exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done"))
	if err != nil || string(out) != "done\n" || mb <= 0 || mb > 64 {
		t.Errorf("printed %q with %.1f MB: %v", out, mb, err)
	}
	runtime.KeepAlive(held)
	if _, _, err := outputAndPeak(exec.Command("sh", "-c", "exit 3")); err == nil {
		t.Error("a command that fails gives no error")
	}
}
