package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
)

// inFlight is how many requests the floor has under way. The store has as many.
const inFlight = 4

// recorder is a table that accepts every statement, stores nothing, and keeps the requests.
type recorder struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
}

func newRecorder() *recorder {
	r := &recorder{}
	r.Server = httptest.NewServer(r)
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
	answer := "{}" // no home yet, and now there is one
	switch {
	case err == nil && operation == "BatchExecuteStatement":
		r.mu.Lock()
		r.bodies = append(r.bodies, body)
		r.mu.Unlock()
		n := bytes.Count(body, []byte(`"Statement":`))
		answer = `{"Responses":[` + strings.TrimSuffix(strings.Repeat(`{"TableName":"events"},`, n), ",") + `]}`
	case err != nil || operation != "GetItem" && operation != "PutItem":
		http.Error(w, "the recorder takes statements and the home alone", http.StatusBadRequest)
		return
	}
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(answer))), 10)) // the SDK checks it
	// If the client is gone, its request fails.
	_, _ = io.WriteString(w, answer)
}

// record returns the requests that ingest makes of the batches: serialised INSERTs in batches of
// 25.
func record(ctx context.Context, batches []events.SQSEvent) ([][]byte, error) {
	r := newRecorder()
	defer r.Close()
	if _, err := ingest(ctx, r.URL, batches); err != nil {
		return nil, fmt.Errorf("record the requests: %w", err)
	}
	return r.bodies, nil
}

// replay is the floor. It sends exactly the bytes that ingest sends, with four requests in flight.
// It uses no SDK, computes nothing, and reads answers only to their end. No client of the emulator
// can be faster than this.
func replay(ctx context.Context, url string, bodies [][]byte, stored int) (run, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}
	defer client.CloseIdleConnections()
	r, err := measure(func() error {
		work, failed := make(chan []byte, len(bodies)), make(chan error, len(bodies))
		for _, body := range bodies {
			work <- body
		}
		close(work)
		var group sync.WaitGroup
		for range inFlight {
			group.Go(func() {
				for body := range work {
					if _, err := call(ctx, client, url, "BatchExecuteStatement", body); err != nil {
						failed <- err
					}
				}
			})
		}
		group.Wait()
		close(failed)
		return <-failed
	})
	r.events, r.requests = stored, float64(len(bodies))
	return r, err
}
