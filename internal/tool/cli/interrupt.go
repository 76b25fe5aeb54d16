package cli

import (
	"context"
	"io"
)

// interruptible returns a reader that reads from r until ctx ends. Otherwise a terminal or a pipe
// without input would keep the tool from stopping at Ctrl-C. After ctx has ended, the last read
// goes on in the background until the program ends.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &interruptibleReader{ctx: ctx, r: r}
}

type interruptibleReader struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptibleReader) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		own := make([]byte, len(p)) // p belongs to the caller again if the caller does not wait
		n, err := i.r.Read(own)
		answers <- answer{own[:n], err}
	}()
	select {
	case a := <-answers:
		return copy(p, a.text), a.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
