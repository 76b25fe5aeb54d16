package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// database is a DynamoDB on loopback that accepts every write and answers at once, in the form of
// the service. It keeps only what the first start of a new deployment writes (see keep), because
// every later cold start finds that. It refuses requests to other services, so the bench fails if
// an event goes to quarantine.
type database struct {
	server *httptest.Server

	mu       sync.Mutex
	requests []string // operations since reset, in order of arrival
	kept     map[key]item
}

// item and key are items in the form of the service's JSON.
type (
	item map[string]json.RawMessage
	key  struct{ PK, SK string }
)

func (i item) key() key { return key{string(i["PK"]), string(i["SK"])} }

// keep keeps the item if it is the epoch, the deployed file, a head, or the check value of the
// secret. It drops all other items: each start gets the same event, and must store it as new.
func (db *database) keep(i item) {
	var pk struct{ S string }
	if json.Unmarshal(i["PK"], &pk) == nil && len(pk.S) >= 2 && slices.Contains([]string{"E#", "F#", "G#", "K#"}, pk.S[:2]) {
		db.kept[i.key()] = i
	}
}

func newDatabase() *database {
	db := &database{kept: map[key]item{}}
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
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process is gone
	}
	db.mu.Lock()
	db.requests = append(db.requests, operation)
	status, body := db.respond(operation, request)
	db.mu.Unlock()
	answer, err := json.Marshal(body)
	if err != nil {
		panic(err) // cannot happen: this file makes the bodies
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	// The service sends this checksum, and the SDK checks it. Without it, each answer costs a
	// warning and a connection.
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(answer)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(answer) // it fails only if the process is gone
}

// capacity has the form of ConsumedCapacity. As in the service, it is sent only if a request asks
// for it.
type capacity struct {
	TableName     string
	CapacityUnits float64
}

func (db *database) respond(operation string, request []byte) (int, any) {
	var asked struct {
		TableName              string
		ReturnConsumedCapacity string
		Item, Key              item
		Statements             []struct{ Statement string }
		RequestItems           map[string]struct{ Keys []item }
		TransactItems          []struct {
			Put    struct{ Item item }
			Update struct {
				Key                       item
				UpdateExpression          string
				ExpressionAttributeNames  map[string]string
				ExpressionAttributeValues item
			}
		}
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
		if found, ok := db.kept[asked.Key.key()]; ok && operation == "GetItem" {
			body["Item"] = found
		}
		db.keep(asked.Item)
		return http.StatusOK, body
	case "TransactWriteItems":
		for _, write := range asked.TransactItems {
			db.keep(write.Put.Item)
			// A start makes only one kind of update: it sets one attribute of a kept item.
			var name, value string
			if _, err := fmt.Sscanf(write.Update.UpdateExpression, "SET %s = %s", &name, &value); err == nil &&
				db.kept[write.Update.Key.key()] != nil {
				db.kept[write.Update.Key.key()][write.Update.ExpressionAttributeNames[name]] = write.Update.ExpressionAttributeValues[value]
			}
		}
		return http.StatusOK, struct{}{}
	case "BatchExecuteStatement":
		return batch(len(asked.Statements), counted)
	case "BatchGetItem":
		found := map[string][]item{}
		for table, wanted := range asked.RequestItems {
			for _, k := range wanted.Keys {
				if i, ok := db.kept[k.key()]; ok {
					found[table] = append(found[table], i)
				}
			}
		}
		return http.StatusOK, map[string]any{"Responses": found, "UnprocessedKeys": struct{}{}}
	case "ExecuteStatement", "ExecuteTransaction", "Query", "Scan":
		return http.StatusOK, map[string]any{"Items": []any{}, "Count": 0, "ScannedCount": 0}
	}
	return fail("UnknownOperationException", "the cold-start bench does not implement "+operation)
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
