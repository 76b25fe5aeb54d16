package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"time"
)

// delay is about how long the service takes for a request. The emulator is faster.
const delay = 5 * time.Millisecond

// newDelayed returns a proxy before url that adds the delay to every request.
func newDelayed(url string) *httptest.Server {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		time.Sleep(delay)
		out, err := http.NewRequestWithContext(in.Context(), in.Method, url+in.URL.Path, in.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		out.Header, out.ContentLength = in.Header, in.ContentLength
		answer, err := client.Do(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		for name, values := range answer.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body) // the client sees a short answer and fails
	}))
}
