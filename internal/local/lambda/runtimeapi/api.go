package runtimeapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const root = "/2018-06-01/runtime/"

// routes returns a handler for the four calls of the Runtime API.
func (p *Process) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"invocation/next", p.next)
	mux.HandleFunc("POST "+root+"invocation/{id}/response", p.response)
	mux.HandleFunc("POST "+root+"invocation/{id}/error", p.failure)
	mux.HandleFunc("POST "+root+"init/error", p.initFailure)
	return mux
}

// next gives the process its next invocation. It blocks until there is one.
func (p *Process) next(w http.ResponseWriter, r *http.Request) {
	if !p.askedForWork() {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "asked for work before answering the work it has")
		return
	}
	select {
	case inv := <-p.work:
		p.take(inv)
		header := w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(inv.deadline.UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", p.config.arn())
		header.Set("Lambda-Runtime-Trace-Id", traceID(inv))
		// If this write fails, the process is dying, and its invocation ends with it.
		_, _ = w.Write(inv.payload)
	case <-r.Context().Done():
	case <-p.dead:
	}
}

// askedForWork notes the end of the init phase. It returns false if the process has an invocation
// that it has not answered.
func (p *Process) askedForWork() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.init == 0 {
		p.init = max(time.Since(p.started), 1) // 0 means not yet
		close(p.ready)
	}
	return p.current == nil
}

func (p *Process) take(inv *invocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	inv.deadline = time.Now().Add(inv.timeout)
	p.current = inv
}

// response takes the answer of a function that worked.
func (p *Process) response(w http.ResponseWriter, r *http.Request) {
	inv := p.inProgress(w, r)
	if inv == nil {
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
	if err != nil {
		// The sender died in the middle of its answer. Half an answer does not count.
		refuse(w, http.StatusBadRequest, "TruncatedRequest", err.Error())
		return
	}
	if len(body) > MaxPayload {
		p.settle(inv, answer{err: &FunctionError{
			Type:    "Function.ResponseSizeTooLarge",
			Message: fmt.Sprintf("Response payload size exceeded maximum allowed payload size (%d bytes).", MaxPayload),
		}})
		refuse(w, http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "response above the limit")
		return
	}
	// If a function fails while it streams its answer, it says so in a trailer.
	if kind := r.Trailer.Get("Lambda-Runtime-Function-Error-Type"); kind != "" {
		report, _ := base64.StdEncoding.DecodeString(r.Trailer.Get("Lambda-Runtime-Function-Error-Body"))
		p.settle(inv, answer{err: functionError(kind, report)})
	} else {
		p.settle(inv, answer{payload: body})
	}
	accept(w)
}

// failure takes the answer of a function that returned an error or panicked.
func (p *Process) failure(w http.ResponseWriter, r *http.Request) {
	inv := p.inProgress(w, r)
	if inv == nil {
		return
	}
	report, err := readReport(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "TruncatedRequest", err.Error())
		return
	}
	p.settle(inv, answer{err: report})
	accept(w)
}

// initFailure takes the report of a start that failed. Lambda gives the report to the first
// invocation.
func (p *Process) initFailure(w http.ResponseWriter, r *http.Request) {
	report, err := readReport(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "TruncatedRequest", err.Error())
		return
	}
	report.Init = true
	p.mu.Lock()
	late := p.init != 0
	if !late {
		p.initError = report
	}
	p.mu.Unlock()
	if late {
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "reported a failed start after starting")
		return
	}
	accept(w)
}

func readReport(r *http.Request) (*FunctionError, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxPayload+1))
	if err != nil {
		return nil, err
	}
	if len(body) > MaxPayload {
		return nil, errors.New("report above the limit of a payload")
	}
	return functionError(r.Header.Get("Lambda-Runtime-Function-Error-Type"), body), nil
}

// inProgress returns the invocation that the path names. If the process does not work on that one,
// it refuses the request and returns nil.
func (p *Process) inProgress(w http.ResponseWriter, r *http.Request) *invocation {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.current == nil:
		refuse(w, http.StatusForbidden, "InvalidStateTransition", "no invocation is in progress")
	case p.current.id != r.PathValue("id"):
		refuse(w, http.StatusBadRequest, "InvalidRequestID", "another invocation is in progress")
	default:
		return p.current
	}
	return nil
}

// settle ends the invocation. It must be called before the process gets its reply: after the reply
// the process may exit, and the answer must not be lost then.
func (p *Process) settle(inv *invocation, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != inv {
		return // it was answered twice at once, and the first answer stands
	}
	p.current = nil
	if p.cold == 0 {
		p.cold = time.Since(p.started)
	}
	inv.answer <- a
}

func accept(w http.ResponseWriter) { reply(w, http.StatusAccepted, map[string]string{"status": "OK"}) }

func refuse(w http.ResponseWriter, status int, kind, message string) {
	reply(w, status, map[string]string{"errorType": kind, "errorMessage": message})
}

func reply(w http.ResponseWriter, status int, body map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// If this fails, the process has died, and reap takes care of that.
	_ = json.NewEncoder(w).Encode(body)
}
