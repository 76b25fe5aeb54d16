package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// database is a DynamoDB on loopback that accepts every write and has nothing to read. It stores
// nothing. Its purpose is to answer at once, in the form of the service. It refuses requests to any
// other service, so that an event that goes to quarantine is noticed.
type database struct {
	server *httptest.Server

	mu       sync.Mutex
	requests []string // operations since reset, in order of arrival
}

func newDatabase() *database {
	db := &database{}
	db.server = httptest.NewServer(db)
	return db
}

func (db *database) url() string { return db.server.URL }
func (db *database) close()      { db.server.Close() }

func (db *database) reset() {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.requests = nil
}

func (db *database) seen() []string {
	db.mu.Lock()
	defer db.mu.Unlock()
	return slices.Clone(db.requests)
}

// wrote reports whether some request since reset was a write.
func (db *database) wrote() bool {
	return slices.ContainsFunc(db.seen(), func(operation string) bool {
		switch operation {
		case "PutItem", "UpdateItem", "ExecuteStatement", "BatchExecuteStatement", "TransactWriteItems", "ExecuteTransaction":
			return true
		}
		return false
	})
}

func (db *database) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	if !ok {
		operation = strings.TrimSpace(r.Method + " " + r.URL.Path + " " + r.Header.Get("X-Amz-Target"))
	}
	db.mu.Lock()
	db.requests = append(db.requests, operation)
	db.mu.Unlock()
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process is gone
	}
	status, body := respond(operation, request)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// capacity has the form of ConsumedCapacity. As in the service, it is sent only if a request asks
// for it.
type capacity struct {
	TableName     string
	CapacityUnits float64
}

func respond(operation string, request []byte) (int, any) {
	var asked struct {
		TableName              string
		ReturnConsumedCapacity string
		Statements             []struct{ Statement string }
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return fail("SerializationException", err.Error())
	}
	counted := asked.ReturnConsumedCapacity != "" && asked.ReturnConsumedCapacity != "NONE"
	switch operation {
	case "PutItem", "UpdateItem", "GetItem":
		body := map[string]any{}
		if counted {
			body["ConsumedCapacity"] = capacity{asked.TableName, 1}
		}
		return http.StatusOK, body
	case "TransactWriteItems":
		return http.StatusOK, struct{}{}
	case "BatchExecuteStatement":
		return batch(len(asked.Statements), counted)
	case "BatchGetItem":
		return http.StatusOK, map[string]any{"Responses": struct{}{}, "UnprocessedKeys": struct{}{}}
	case "ExecuteStatement", "ExecuteTransaction", "Query", "Scan":
		return http.StatusOK, map[string]any{"Items": []any{}, "Count": 0, "ScannedCount": 0}
	}
	return fail("UnknownOperationException", "the cold-start bench answers no "+operation)
}

func batch(statements int, counted bool) (int, any) {
	responses := make([]map[string]string, statements)
	for i := range responses {
		responses[i] = map[string]string{"TableName": "events"}
	}
	body := map[string]any{"Responses": responses}
	if counted {
		body["ConsumedCapacity"] = []capacity{{"events", float64(statements)}}
	}
	return http.StatusOK, body
}

// fail returns an error that no client retries.
func fail(kind, message string) (int, any) {
	return http.StatusBadRequest, map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#" + kind, "message": message}
}
