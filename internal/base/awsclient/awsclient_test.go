package awsclient

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// slow is a connection whose second write, that of the body, returns late.
type slow struct {
	net.Conn
	writes   int
	released chan struct{}
}

func (s *slow) Write(p []byte) (int, error) {
	n, err := s.Conn.Write(p)
	if s.writes++; s.writes == 2 {
		<-s.released
	}
	return n, err
}

// late lets the write of the body return when the SDK begins to read the answer, and closes the
// request's body before it does so. It waits until net/http has finished the request.
type late struct {
	aws.HTTPClient
	released chan struct{}
	wrote    chan error
	wrong    *error
}

func (l late) Do(r *http.Request) (*http.Response, error) {
	answer, err := l.HTTPClient.Do(r)
	if err == nil {
		answer.Body = &answerBody{ReadCloser: answer.Body, first: func() {
			close(l.released)
			*l.wrong = <-l.wrote
		}}
	}
	return answer, err
}

type answerBody struct {
	io.ReadCloser
	once  sync.Once
	first func()
}

func (b *answerBody) Read(p []byte) (int, error) {
	b.once.Do(b.first)
	return b.ReadCloser.Read(p)
}

// TestAnswerBeforeTheRequestIsDone meets an answer that comes while net/http has not finished the
// request.
func TestAnswerBeforeTheRequestIsDone(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"TableNames":["events"]}`)
	}))
	t.Cleanup(server.Close)
	send := func(mend func(aws.HTTPClient) aws.HTTPClient) (wrong error) {
		released, wrote := make(chan struct{}), make(chan error, 1)
		transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			return &slow{Conn: c, released: released}, err
		}}
		t.Cleanup(transport.CloseIdleConnections)
		db := dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
			HTTPClient:  late{mend(&http.Client{Transport: transport}), released, wrote, &wrong}})
		ctx := httptrace.WithClientTrace(t.Context(),
			&httptrace.ClientTrace{WroteRequest: func(i httptrace.WroteRequestInfo) { wrote <- i.Err }})
		_, _ = db.ListTables(ctx, &dynamodb.ListTablesInput{}) // the answer may come although the request failed
		return wrong
	}
	if err := send(func(c aws.HTTPClient) aws.HTTPClient { return Client{c} }); err != nil {
		t.Errorf("the request has failed after its answer: %v", err)
	}
	if err := send(func(c aws.HTTPClient) aws.HTTPClient { return c }); err != io.EOF {
		t.Errorf("without this package: %v, not EOF: the SDK or net/http is mended, so this package can go", err)
	}
}
