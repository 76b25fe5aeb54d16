package packed

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestThereAndBack(t *testing.T) {
	noise := make([]byte, 5000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for _, text := range []string{"", "{}", strings.Repeat(`{"sku":"a","quantity":1},`, 200), string(noise), strings.Repeat(" ", Max),
		strings.Repeat("ab", 1000)} {
		b := Pack(text)
		if back, err := Unpack(b); err != nil || back != text {
			t.Errorf("a text of %d bytes comes back with %d: %v", len(text), len(back), err)
		}
		if len(b)*MaxRatio < len(text) {
			t.Errorf("a text of %d bytes is packed into %d, which is more than %d times smaller", len(text), len(b), MaxRatio)
		}
		if !bytes.Equal(b, Pack(text)) {
			t.Errorf("a text of %d bytes is packed in two ways", len(text))
		}
	}
	if Pack(strings.Repeat("x", Max+1)) != nil {
		t.Error("a text that no item holds is packed")
	}
}

// TestBombs shows that bytes that Pack did not make cannot make Unpack use more memory than others.
func TestBombs(t *testing.T) {
	var gigabyte bytes.Buffer
	w, err := zstd.NewWriter(&gigabyte)
	must.Succeed(t, err)
	block := make([]byte, 1<<20)
	for range 1 << 10 {
		_, err := w.Write(block)
		must.Succeed(t, err)
	}
	must.Succeed(t, w.Close())
	declared := func(text string) []byte {
		e, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
		must.Succeed(t, err)
		return e.EncodeAll([]byte(text), nil)
	}
	// A frame of one segment that claims a size, and then has one block of zeros (RFC 8878, 3.1.1).
	claiming := func(size uint64, block uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, 0xFD2FB528)
		b = append(b, 0b11100000)
		b = binary.LittleEndian.AppendUint64(b, size)
		b = append(b, byte(block<<3|0b011), byte(block>>5), byte(block>>13), 0)
		return append(b, make([]byte, 60_000)...)
	}
	good := Pack(strings.Repeat(`{"a":1}`, 100))
	for name, c := range map[string]struct {
		bytes []byte
		want  string
	}{
		"a gigabyte, not declared": {gigabyte.Bytes(), "it does not say how large it is"},
		"too large": {declared(strings.Repeat(" ", Max+1)),
			"it says that it unpacks to 409601 bytes, and at most 409600 are read"},
		"too well packed":           {declared(strings.Repeat(" ", Max)), "which is more than 8 times its size"},
		"a claim of a gigabyte":     {claiming(1<<30, 100), "it says that it unpacks to 1073741824 bytes"},
		"a claim that is too small": {claiming(10, 1<<17), ""},
		"a claim that is too large": {claiming(1000, 10), ""},
		"nothing":                   {nil, "it is not a zstd frame"},
		"JSON":                      {[]byte(`{"a":1}`), "it is not a zstd frame"},
		"cut":                       {good[:len(good)-3], ""},
		"a frame to skip": {binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, skipMagic), 0),
			"it is not a zstd frame"},
		"two frames":                   {append(bytes.Clone(good), good...), ""},
		"a second frame of a gigabyte": {append(bytes.Clone(good), gigabyte.Bytes()...), ""},
		"a byte of it changed":         {flipped(good), ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, err := Unpack(c.bytes)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.want) || text != "" {
			t.Errorf("%s: %d bytes, %v, want %s", name, len(text), err, c.want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
			t.Errorf("%s: unpacking took %d bytes of memory", name, used)
		}
	}
}

func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	b[12] ^= 0xFF
	return b
}

// TestMemory shows that the encoder takes no more memory than the smallest function can spare.
func TestMemory(t *testing.T) {
	text := []byte(strings.Repeat(`{"sku":"a","quantity":1,"price":1299},`, 4000))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	e := newEncoder()
	e.EncodeAll(text, nil)
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	runtime.KeepAlive(e)
	t.Logf("an encoder keeps %d bytes", used)
	if used > 2<<20 {
		t.Errorf("an encoder keeps %d bytes", used)
	}
}

func FuzzUnpack(f *testing.F) {
	corpus.Add(f)
	f.Add(Pack(`{"a":1}`))
	f.Add(Pack(strings.Repeat(" ", 1000)))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := Unpack(b)
		if err != nil {
			return
		}
		if len(text) > Max || len(text) > MaxRatio*len(b) {
			t.Errorf("%d bytes unpack to %d", len(b), len(text))
		}
		if back, err := Unpack(Pack(text)); err != nil || back != text {
			t.Errorf("the text %q does not come back: %v", text, err)
		}
	})
}
