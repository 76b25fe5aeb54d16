package wire

import (
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/nearby"
)

// largest is the largest request, in bytes.
const largest = nearby.Largest

// service is a service that speaks AWS JSON: a request names its operation in a header, and its
// body is the input.
type service struct {
	shapes     string // the prefix of the names of its errors
	operations map[string]operation
	query      bool // SQS: a header has the error code of the older protocol
}

// operation is a method of a client of the engine.
type operation struct {
	call  reflect.Value
	input reflect.Type
}

// operations returns methods of a client, by name: PutItem takes a PutItemInput. They are listed,
// because a program that looks methods up by reflection keeps every method of every type, here of
// whole clients of AWS: the tool would be half as large again.
func operations(calls ...any) map[string]operation {
	all := map[string]operation{}
	for _, call := range calls {
		v := reflect.ValueOf(call)
		input := v.Type().In(1).Elem()
		all[strings.TrimSuffix(input.Name(), "Input")] = operation{call: v, input: input}
	}
	return all
}

// services returns the services that speak AWS JSON, by the part of the header X-Amz-Target before
// the dot.
func services(e *embedded.Engine) map[string]service {
	d, s, q := e.DynamoDB(), e.Streams(), e.SQS()
	return map[string]service{
		"DynamoDB_20120810": {shapes: "com.amazonaws.dynamodb.v20120810#", operations: operations(
			d.BatchExecuteStatement, d.BatchGetItem, d.BatchWriteItem, d.CreateTable, d.DeleteItem, d.DeleteTable, d.DescribeTable,
			d.DescribeTimeToLive, d.ExecuteStatement, d.GetItem, d.ListBackups, d.ListTables, d.PutItem, d.Query,
			d.RestoreTableFromBackup, d.Scan, d.TransactWriteItems, d.UpdateItem, d.UpdateTable, d.UpdateTimeToLive)},
		"DynamoDBStreams_20120810": {shapes: "com.amazonaws.dynamodb.v20120810#", operations: operations(
			s.DescribeStream, s.GetRecords, s.GetShardIterator, s.ListStreams)},
		"AmazonSQS": {shapes: "com.amazonaws.sqs#", query: true, operations: operations(
			q.ChangeMessageVisibility, q.ChangeMessageVisibilityBatch, q.CreateQueue, q.DeleteMessage, q.DeleteMessageBatch,
			q.GetQueueAttributes, q.GetQueueUrl, q.ListQueues, q.ReceiveMessage, q.SendMessage, q.SendMessageBatch,
			q.StartMessageMoveTask)},
	}
}

// serve answers a request in AWS JSON.
func (s service) serve(w http.ResponseWriter, r *http.Request, name string) {
	op, ok := s.operations[name]
	if !ok {
		s.refuse(w, &embedded.UnsupportedError{API: name, What: "the operation"})
		return
	}
	body, err := nearby.ReadBody(http.MaxBytesReader(w, r.Body, largest), r.ContentLength)
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			err = serialization("the body has more than %d bytes", long.Limit)
		}
		s.refuse(w, err)
		return
	}
	input := reflect.New(op.input)
	if err := decode(body, input.Interface()); err != nil {
		var said smithy.APIError
		if !errors.As(err, &said) {
			err = serialization("%v", err)
		}
		s.refuse(w, err)
		return
	}
	answers := op.call.Call([]reflect.Value{reflect.ValueOf(r.Context()), input})
	if err, failed := answers[1].Interface().(error); failed {
		s.refuse(w, err)
		return
	}
	text, err := encode(answers[0].Interface())
	if err != nil {
		s.refuse(w, err)
		return
	}
	write(w, http.StatusOK, text)
}

func serialization(format string, args ...any) error {
	return &smithy.GenericAPIError{Code: "SerializationException", Message: fmt.Sprintf(format, args...), Fault: smithy.FaultClient}
}

// refuse answers with an error of the service.
func (s service) refuse(w http.ResponseWriter, err error) {
	status, code, message := describe(err)
	text := append([]byte(`{"__type":`), strconv.Quote(s.shapes+code)...)
	quoted, _ := appendText(nil, message)
	text = append(append(text, `,"message":`...), quoted...)
	if modelled := model(err); modelled.IsValid() {
		full, err := appendMembers(text, modelled, "Message")
		if err == nil {
			text = full
		}
		if s.query {
			var said smithy.APIError
			if errors.As(modelled.Addr().Interface().(error), &said) {
				w.Header().Set("x-amzn-query-error", said.ErrorCode()+";Sender")
			}
		}
	}
	write(w, status, append(text, '}'))
}

// describe returns the HTTP status of an error, its code in the model of the service, and its text.
func describe(err error) (status int, code, message string) {
	var unsupported *embedded.UnsupportedError
	if errors.As(err, &unsupported) {
		return http.StatusNotImplemented, "NotImplemented", unsupported.Error()
	}
	var said smithy.APIError
	if !errors.As(err, &said) {
		return http.StatusInternalServerError, "InternalServerError", err.Error()
	}
	status, code = http.StatusBadRequest, said.ErrorCode()
	if said.ErrorFault() == smithy.FaultServer {
		status = http.StatusInternalServerError
	}
	if v := model(err); v.IsValid() {
		code = v.Type().Name()
	}
	return status, code, said.ErrorMessage()
}

// model returns the structure of an error if the SDK has a type for it. Otherwise the result is not
// valid.
func model(err error) reflect.Value {
	var said smithy.APIError
	if !errors.As(err, &said) {
		return reflect.Value{}
	}
	if _, generic := said.(*smithy.GenericAPIError); generic {
		return reflect.Value{}
	}
	if v := reflect.ValueOf(said); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		return v.Elem()
	}
	return reflect.Value{}
}

// write sends an answer with its checksum. Some SDKs compare it with the bytes that they received.
func write(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/x-amz-json-1.0")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("x-amz-crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that has gone away gets no answer
}

// requestID returns a new request id.
func requestID() string { return rand.Text() }
