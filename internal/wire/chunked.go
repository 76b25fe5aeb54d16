package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// errChunks says that a body in chunks ends early or is not one.
var errChunks = errors.New("the body is not in chunks as its headers say")

// chunked reads the encoding aws-chunked, in which an SDK sends an object whose checksum comes after it: lines with the
// length of a chunk in hexadecimal, each followed by the chunk; the last has the length 0, and trailers follow it.
type chunked struct {
	from *bufio.Reader
	left int64 // of the chunk that is being read
	err  error
}

func newChunked(from io.Reader) *chunked { return &chunked{from: bufio.NewReader(from)} }

func (c *chunked) Read(p []byte) (int, error) {
	for c.left == 0 && c.err == nil {
		c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); c.left == 0 && err == nil {
		c.line() // the end of the chunk's own line
	}
	if err != nil {
		c.err = broken(err)
	}
	return n, c.err
}

// next reads the line before a chunk.
func (c *chunked) next() {
	length, _, _ := strings.Cut(c.line(), ";") // a signature may follow
	if c.err != nil {
		return
	}
	n, err := strconv.ParseInt(length, 16, 64)
	switch {
	case err != nil || n < 0:
		c.err = fmt.Errorf("%w: %q is not the length of a chunk", errChunks, length)
	case n == 0:
		c.err = io.EOF
	default:
		c.left = n
	}
}

func (c *chunked) line() string {
	line, err := c.from.ReadString('\n')
	if err != nil {
		c.err = broken(err)
	}
	return strings.TrimSpace(line)
}

func broken(err error) error {
	if err == io.EOF {
		return fmt.Errorf("%w: it ends too early", errChunks)
	}
	return err
}
