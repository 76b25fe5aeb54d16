package handler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkIngest stores a thousand events on a table that answers at once.
func BenchmarkIngest(b *testing.B) {
	w := newWorld(b, merchants)
	in := w.Ingest(w.agreeing())
	pad := fmt.Sprintf(`"merchant":"m","note":%q`, strings.Repeat("x", 300))
	var bodies []string
	for i := range 1000 {
		bodies = append(bodies, order(fmt.Sprint(i), i, pad))
	}
	e := messages(bodies...)
	b.ReportAllocs()
	for b.Loop() {
		if answer, err := in.Handle(context.Background(), e); err != nil || len(answer.BatchItemFailures) > 0 {
			b.Fatal(answer, err)
		}
	}
}

// BenchmarkStreams counts a hundred changes onto twenty aggregates on a table that answers at once.
func BenchmarkStreams(b *testing.B) {
	w := newWorld(b, merchants)
	s := w.Streams(w.agreeing())
	payload := marshal(b, w.changesOf(100)[0])
	b.ReportAllocs()
	for b.Loop() {
		if answer, err := s.Handle(context.Background(), payload); err != nil || len(answer.BatchItemFailures) > 0 {
			b.Fatal(answer, err)
		}
	}
}
