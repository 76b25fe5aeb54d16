package archive

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/ingot-events/ingot/internal/table/archive"
)

// dayOf returns the day that a file is of, as 2026-03-01, or "" if the name is not that of a file.
func dayOf(name string) string {
	day, _, ok := strings.Cut(strings.TrimPrefix(name, "dt="), "/")
	if !ok || !archive.IsFile(name) {
		return ""
	}
	return day
}

// maxLine bounds a line. An item has at most 400 KB, and JSON may write a byte of it as six.
const maxLine = 4 << 20

// Images returns the images of items in a file or in an object, as canonical JSON of DynamoDB's
// typed values. The error says in which line a file is broken; what is before it is good.
func Images(name string, body io.Reader) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if !archive.IsFile(name) {
			text, err := io.ReadAll(body)
			yield(string(text), err)
			return
		}
		z, err := gzip.NewReader(body)
		if err != nil {
			yield("", fmt.Errorf("%s is not a gzip file: %w", name, err))
			return
		}
		scan := bufio.NewScanner(z)
		scan.Buffer(nil, maxLine)
		n := 1
		for ; scan.Scan() && scan.Err() == nil; n++ { // after an error, the last line may be half
			line := scan.Text()
			image, ok := strings.CutPrefix(line, `{"Item":`)
			if !ok || !strings.HasSuffix(image, "}") {
				yield("", fmt.Errorf("%s, line %d is not an item: write it as {\"Item\":…}", name, n))
				return
			}
			if !yield(strings.TrimSuffix(image, "}"), nil) {
				return
			}
		}
		if err := scan.Err(); err != nil {
			yield("", fmt.Errorf("%s ends in line %d: %w", name, n, err))
		}
	}
}

// without returns a file without some of its lines, and how many those are.
func without(name, body string, drop func(image string) bool) (rest string, dropped int, err error) {
	var lines strings.Builder
	for image, err := range Images(name, strings.NewReader(body)) {
		switch {
		case err != nil:
			return "", 0, err
		case drop(image):
			dropped++
		default:
			lines.WriteString(`{"Item":` + image + "}\n")
		}
	}
	if dropped == 0 {
		return body, 0, nil
	}
	rest, err = archive.Compress(lines.String())
	return rest, dropped, err
}
