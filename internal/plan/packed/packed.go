// Package packed compresses payloads ([Pack]), and unpacks them within bounds ([Unpack]). The form
// is a zstd frame that says how large its content is. Every zstd tool can read it.
//
// No decision about an event depends on the packed bytes, because another version may pack the same
// text in another way.
package packed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// Max is how many bytes a text may have. Without packing, an item cannot hold more. Packing
	// must not change that.
	Max = 400 << 10
	// MaxRatio is how much larger than its packed form a text may be. A program that reads many
	// items at once needs room for what they unpack to. Without a bound, a batch of 6 MB could
	// unpack to gigabytes.
	MaxRatio = 8
)

var encoder = sync.OnceValue(newEncoder)

func newEncoder() *zstd.Encoder {
	// With one stream at a time and a window no larger than a payload, the encoder takes about a
	// megabyte of memory.
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(512<<10), zstd.WithLowerEncoderMem(true), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // cannot happen: the options are constants
	}
	return e
}

var decoder = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(Max))
	if err != nil {
		panic(err) // cannot happen: the options are constants
	}
	return d
})

// Pack returns the packed form of a text. It returns nil if the text has more than [Max] bytes.
func Pack(text string) []byte {
	if len(text) > Max {
		return nil
	}
	out := encoder().EncodeAll([]byte(text), nil)
	// If the packed form is too small for MaxRatio, a frame that readers skip is added to it.
	if missing := (len(text)+MaxRatio-1)/MaxRatio - len(out); missing > 0 {
		fill := max(0, missing-skipHeader)
		out = binary.LittleEndian.AppendUint32(out, skipMagic)
		out = binary.LittleEndian.AppendUint32(out, uint32(fill))
		out = append(out, make([]byte, fill)...)
	}
	return out
}

// A skippable frame begins with these bytes and its length (RFC 8878, 3.1.2).
const (
	skipMagic  = 0x184D2A50
	skipHeader = 8
)

// Unpack returns the text whose packed form is b. It checks the size that b declares before it
// unpacks anything, and never unpacks more than that.
func Unpack(b []byte) (string, error) {
	var h zstd.Header
	switch err := h.Decode(b); {
	case err != nil || h.Skippable || h.DictionaryID != 0:
		return "", errors.New("it is not a zstd frame")
	case !h.HasFCS:
		return "", errors.New("it does not say how large it is")
	case h.FrameContentSize > Max:
		return "", fmt.Errorf("it says that it unpacks to %d bytes, and at most %d are read", h.FrameContentSize, Max)
	case h.FrameContentSize > uint64(len(b))*MaxRatio:
		return "", fmt.Errorf("it says that it unpacks to %d bytes, which is more than %d times its size", h.FrameContentSize, MaxRatio)
	}
	out, err := decoder().DecodeAll(b, make([]byte, 0, h.FrameContentSize))
	if err != nil {
		return "", err
	}
	if uint64(len(out)) != h.FrameContentSize { // several frames
		return "", fmt.Errorf("it unpacks to %d bytes, and says that it has %d", len(out), h.FrameContentSize)
	}
	return string(out), nil
}
