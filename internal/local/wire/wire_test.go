package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// everything has one value of each kind, written as in DynamoDB's documents.
const everything = `{"B":{"B":"AAE="},"BOOL":{"BOOL":true},"BS":{"BS":["AA=="]},"L":{"L":[{"S":"a"},{"L":[]}]},` +
	`"M":{"M":{"x":{"N":"1"}}},"N":{"N":"-1.50"},"NS":{"NS":["1","2"]},"NULL":{"NULL":true},"S":{"S":"\u003cé\n"},"SS":{"SS":["a"]}}`

func TestValuesComeBackAsTheyCame(t *testing.T) {
	in := new(dynamodb.PutItemInput)
	must.Succeed(t, decode([]byte(`{"TableName":"t","Item":`+everything+`}`), in))
	if *in.TableName != "t" || len(in.Item) != 10 {
		t.Fatalf("%q with %d attributes", *in.TableName, len(in.Item))
	}
	if b := in.Item["B"].(*types.AttributeValueMemberB).Value; string(b) != "\x00\x01" {
		t.Errorf("B is %q", b)
	}
	text, err := encode(&dynamodb.GetItemOutput{Item: in.Item})
	if want := `{"Item":` + everything + `}`; err != nil || string(text) != want {
		t.Errorf("%s, %v\nwant %s", text, err, want)
	}
}

func TestAnswersSpellTheirMembers(t *testing.T) {
	at := time.UnixMilli(1772355600500)
	for _, test := range []struct {
		name   string
		answer any
		want   string
	}{
		{"counts that are 0 are told", &dynamodb.ScanOutput{Items: []map[string]types.AttributeValue{}},
			`{"Count":0,"Items":[],"ScannedCount":0}`},
		{"times are seconds", &types.TableDescription{CreationDateTime: &at, TableStatus: types.TableStatusActive},
			`{"CreationDateTime":1772355600.5,"TableStatus":"ACTIVE"}`},
		{"units are numbers", &types.ConsumedCapacity{CapacityUnits: aws.Float64(1.5)}, `{"CapacityUnits":1.5}`},
		{"records begin with a small letter", &streamtypes.Record{EventID: aws.String("1"), EventName: "INSERT",
			Dynamodb: &streamtypes.StreamRecord{SizeBytes: aws.Int64(7)}},
			`{"dynamodb":{"SizeBytes":7},"eventID":"1","eventName":"INSERT"}`},
		{"an empty list is a list", map[string]types.AttributeValue{"l": &types.AttributeValueMemberL{}}, `{"l":{"L":[]}}`},
		{"an empty map is a map", map[string]types.AttributeValue{"m": &types.AttributeValueMemberM{}}, `{"m":{"M":{}}}`},
		{"no bytes are an empty text", map[string]types.AttributeValue{"b": &types.AttributeValueMemberB{}}, `{"b":{"B":""}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := encode(test.answer)
			if err != nil || string(text) != test.want {
				t.Errorf("%s, %v\nwant %s", text, err, test.want)
			}
		})
	}
}

func TestRequestsThatCannotBeRead(t *testing.T) {
	for body, want := range map[string]string{
		`{`:                  "the body is not JSON: unexpected EOF",
		`{} {}`:              "the body has something after its JSON document, at byte 4",
		`[]`:                 "the body must be an object, not an array",
		`{"TableName":1}`:    "TableName must be a string, not a number",
		`{"TableNames":"t"}`: `the body has a member "TableNames", which this version of the AWS SDK does not know`,
		`{"Item":{"a":"x"}}`: `Item.a must be an attribute value such as {"S": "text"}, not a string`,
		`{"Item":{"a":{}}}`:  "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"Item":{"a":{"S":"x","N":"1"}}}`: "Supplied AttributeValue has more than one datatypes set, must contain exactly one of " +
			"the supported datatypes",
		`{"Item":{"a":{"X":"x"}}}`:             `Item.a has the type "X", which is not one of an attribute value`,
		`{"Item":{"a":{"B":"!"}}}`:             "Item.a.B is not valid base64",
		`{"Item":{"a":{"L":[{"S":"a"},"b"]}}}`: `Item.a.L[1] must be an attribute value such as {"S": "text"}, not a string`,
		`{"Item":{"a":{"BOOL":"true"}}}`:       "Item.a.BOOL must be true or false, not a string",
		`{"Item":{"a":null}}`:                  "Item.a must have a value, not null",
		`{"Item":{"a":{"S":null}}}`:            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
		`{"Item":` + strings.Repeat(`{"a":{"M":`, 60) + `{}` + strings.Repeat(`}}`, 60) + `}`: "is nested more than 100 levels deep",
	} {
		err := decode([]byte(body), new(dynamodb.PutItemInput))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.60s: %v\nwant %s", body, err, want)
		}
	}
	if err := decode([]byte(`{"Limit":3000000000}`), new(dynamodb.ScanInput)); err == nil ||
		err.Error() != "Limit must be an integer of 32 bits, not a number" {
		t.Errorf("%v", err)
	}
	if err := decode(nil, new(dynamodb.ScanInput)); err != nil {
		t.Errorf("an empty body: %v", err)
	}
}

// A decoded input is encoded as text that decodes to the same input.
func FuzzRequest(f *testing.F) {
	corpus.Add(f)
	f.Add([]byte(`{"TableName":"t","Item":` + everything + `}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		first := new(dynamodb.PutItemInput)
		if decode(body, first) != nil {
			return
		}
		text, err := encode(first)
		must.Succeed(t, err)
		if !json.Valid(text) {
			t.Fatalf("not JSON: %s", text)
		}
		second := new(dynamodb.PutItemInput)
		if err := decode(text, second); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if again, _ := encode(second); string(again) != string(text) {
			t.Fatalf("%s\nbecomes %s", text, again)
		}
	})
}

// world is an endpoint that answers plain requests.
type world struct {
	*testing.T
	url string
}

func newWorld(t *testing.T) *world {
	server := httptest.NewServer(New(embedded.New(embedded.Config{Now: func() time.Time { return time.Unix(1772355600, 0) }})))
	t.Cleanup(server.Close)
	return &world{t, server.URL}
}

// send returns the status, the headers and the body of an answer.
func (w *world) send(method, path, body string, headers ...string) (int, http.Header, string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	must.Succeed(w, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	must.Succeed(w, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must.Succeed(w, err)
	return answer.StatusCode, answer.Header, string(text)
}

func TestRefusalsInAWSJSON(t *testing.T) {
	w := newWorld(t)
	for _, test := range []struct {
		target, body string
		status       int
		want, query  string
	}{
		{"DynamoDB_20120810.PutItem", `{"TableName":1}`, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#SerializationException","message":"TableName must be a string, not a number"}`,
			""},
		{"DynamoDB_20120810.Scan", `{"TableName":"none"}`, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"Requested resource not found"}`, ""},
		{"DynamoDB_20120810.CreateBackup", `{}`, 501,
			`{"__type":"com.amazonaws.dynamodb.v20120810#NotImplemented","message":"embedded: CreateBackup: the operation is not supported"}`, ""},
		{"DynamoDB_20120810.PutItem", `{"TableName":"t","ConditionalOperator":"AND"}`, 501,
			`{"__type":"com.amazonaws.dynamodb.v20120810#NotImplemented","message":"embedded: PutItem: ConditionalOperator is not supported"}`, ""},
		{"DynamoDB_20120810.PutItem", `{"TableName":"table","Item":{"a":{}}}`, 400,
			`{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"}`, ""},
		{"Kinesis_20131202.PutRecord", `{}`, 501,
			`{"__type":"NotImplemented","message":"embedded: Kinesis_20131202.PutRecord: the service is not supported"}`, ""},
		{"AmazonSQS.SendMessage", `{"QueueUrl":"https://example.com/000000000000/none","MessageBody":"x"}`, 400,
			`{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."}`,
			"AWS.SimpleQueueService.NonExistentQueue;Sender"},
	} {
		status, header, text := w.send("POST", "/", test.body, "X-Amz-Target", test.target, "Content-Type", "application/x-amz-json-1.0")
		if status != test.status || text != test.want || header.Get("x-amzn-query-error") != test.query {
			t.Errorf("%s: %d %s (%s)\nwant %d %s (%s)", test.target, status, text, header.Get("x-amzn-query-error"), test.status, test.want,
				test.query)
		}
		if header.Get("x-amzn-RequestId") == "" {
			t.Errorf("%s: the answer has no request id", test.target)
		}
	}
	if status, _, text := w.send("POST", "/", "Action=SendMessage", "Content-Type",
		"application/x-www-form-urlencoded; charset=utf-8"); status != 501 ||
		!strings.Contains(text, "use an AWS SDK or AWS CLI of 2024 or newer") {
		t.Errorf("the query protocol: %d %s", status, text)
	}
}

func TestObjects(t *testing.T) {
	w := newWorld(t)
	const empty, two = `"d41d8cd98f00b204e9800998ecf8427e"`, `"b8a9f715dbb64fd5c56e7783c6820a61"`
	for _, test := range []struct {
		method, path, body string
		headers            []string
		status             int
		want               string // what the body of the answer has in it
		header, value      string
	}{
		{"PUT", "/archive", "", nil, 200, "", "Location", "/archive"},
		{"PUT", "/archive", "", nil, 409, "<Code>BucketAlreadyOwnedByYou</Code>", "Content-Type", "application/xml"},
		{"HEAD", "/archive", "", nil, 200, "", "", ""},
		{"HEAD", "/other", "", nil, 404, "", "", ""},
		{"PUT", "/archive/a/one", "", []string{"If-None-Match", "*", "Content-Type", "application/json", "x-amz-meta-Kind", "order"}, 200,
			"", "ETag", empty},
		{"PUT", "/archive/a/one", "x", []string{"If-None-Match", "*"}, 412, "<Code>PreconditionFailed</Code>", "", ""},
		{"PUT", "/archive/a/two%26", "3;chunk-signature=x\r\ntwo\r\n0\r\nx-amz-checksum-crc32:EcqKZg==\r\n\r\n",
			[]string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, 200, "", "X-Amz-Checksum-Crc32", "EcqKZg=="},
		{"PUT", "/archive/a/bad", "3\r\ntwo\r\n0\r\nx-amz-checksum-crc32:EcqKZw==\r\n\r\n",
			[]string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, 400, "<Code>BadDigest</Code>", "", ""},
		{"PUT", "/archive/a/bad", "3\r\ntwo\r\n0\r\nwhat\r\n", []string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, 400,
			"<Code>IncompleteBody</Code>", "", ""},
		{"PUT", "/archive/a/two%26", "two", []string{"Content-MD5", "uKn3Fdu2T9XFbneDxoIKYQ==", "X-Amz-Content-Sha256",
			"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"}, 200, "", "ETag", two},
		{"PUT", "/archive/a/bad", "two", []string{"Content-MD5", "uKn3Fdu2T9XFbneDxoIKYA=="}, 400, "<Code>BadDigest</Code>", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"Content-MD5", "x"}, 400, "<Code>InvalidDigest</Code>", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"X-Amz-Content-Sha256", strings.Repeat("0", 64)}, 400,
			"<Code>XAmzContentSHA256Mismatch</Code>", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"X-Amz-Checksum-Sha256", "x"}, 400, "Value for x-amz-checksum-sha256 header is invalid.",
			"", ""},
		{"PUT", "/archive/a/bad", "two", []string{"X-Amz-Checksum-Other", "x"}, 501, "the checksum X-Amz-Checksum-Other", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"X-Amz-Decoded-Content-Length", "4"}, 400, "<Code>IncompleteBody</Code>", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"Cache-Control", "no-cache"}, 501, "the header Cache-Control is not supported", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"X-Amz-Tagging", "a=b"}, 501, "the header X-Amz-Tagging is not supported", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"X-Amz-Storage-Class", "GLACIER"}, 501, "the header X-Amz-Storage-Class", "", ""},
		{"PUT", "/archive/a/bad", "two", []string{"If-Modified-Since", "x"}, 501, "the header If-Modified-Since", "", ""},
		{"PUT", "/archive/a/two%26", "two", []string{"X-Amz-Storage-Class", "STANDARD", "X-Amz-Acl", "private",
			"X-Amz-Server-Side-Encryption", "AES256"}, 200, "", "ETag", two},
		{"PUT", "/archive/a/two%26", "two", []string{"If-Match", "x"}, 412, "PreconditionFailed", "", ""},
		{"PUT", "/archive/a/two%26", "two", []string{"If-Match", two}, 200, "", "ETag", two},
		{"GET", "/archive/a/two%26", "", []string{"If-None-Match", two}, 501, "the header If-None-Match", "", ""},
		{"GET", "/archive?encoding-type=x", "", nil, 400, "<Code>InvalidArgument</Code>", "", ""},
		{"GET", "/archive?list-type=2&continuation-token=", "", nil, 400, "<Code>InvalidArgument</Code>", "", ""},
		{"PUT", "/Archive", "", nil, 400, "<Code>InvalidBucketName</Code>", "", ""},
		{"PUT", "/192.168.0.1", "", nil, 400, "<Code>InvalidBucketName</Code>", "", ""},
		{"PUT", "/a..b", "", nil, 400, "<Code>InvalidBucketName</Code>", "", ""},
		{"GET", "/archive/a/bad", "", nil, 404, "<Code>NoSuchKey</Code>", "", ""},
		{"PUT", "/archive/a/bad", "3\r\ntw", []string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, 400,
			"<Code>IncompleteBody</Code>", "", ""},
		{"PUT", "/archive/a/bad", "zz\r\n", []string{"X-Amz-Content-Sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"}, 400,
			"is not the length of a chunk", "", ""},
		{"GET", "/archive/a/two%26", "", nil, 200, "two", "Content-Length", "3"},
		{"GET", "/archive/a/one", "", nil, 200, "", "X-Amz-Meta-Kind", "order"},
		{"HEAD", "/archive/a/one", "", nil, 200, "", "Content-Type", "application/json"},
		{"HEAD", "/archive/a/none", "", nil, 404, "", "", ""},
		{"GET", "/archive/a/none", "", nil, 404, "<Code>NoSuchKey</Code>", "", ""},
		{"GET", "/archive/a/one", "", []string{"Range", "bytes=0-1"}, 501, "a part of an object", "", ""},
		{"GET", "/archive?list-type=2&prefix=a/&max-keys=1", "", nil, 200,
			"<IsTruncated>true</IsTruncated><KeyCount>1</KeyCount><NextContinuationToken>a/one</NextContinuationToken>", "", ""},
		{"GET", "/archive?list-type=2&continuation-token=a/one", "", nil, 200, "<Key>a/two&amp;</Key>", "", ""},
		{"GET", "/archive?encoding-type=url&marker=a/one", "", nil, 200, "<Key>a%2Ftwo%26</Key>", "", ""},
		{"GET", "/archive?max-keys=x", "", nil, 400, "<Code>InvalidArgument</Code>", "", ""},
		{"GET", "/archive?versions", "", nil, 501, "<Code>NotImplemented</Code>", "", ""},
		{"DELETE", "/archive/a/one?versionId=1", "", nil, 501, "<Code>NotImplemented</Code>", "", ""},
		{"DELETE", "/archive/a/one", "", nil, 204, "", "", ""},
		{"DELETE", "/archive/a/one", "", nil, 204, "", "", ""},
		{"DELETE", "/archive", "", nil, 501, "<Code>NotImplemented</Code>", "", ""},
		{"POST", "/archive?delete", "<Delete><Object><Key>a/two&amp;</Key></Object></Delete>", nil, 200,
			"<Deleted><Key>a/two&amp;</Key></Deleted>", "", ""},
		{"POST", "/archive?delete", "<Delete><Object><Key>a/two&amp;</Key></Object><Quiet>true</Quiet></Delete>", nil, 200,
			"/doc/2006-03-01/\"></DeleteResult>", "", ""},
		{"POST", "/archive?delete", "<Delete><Object><Key>a</Key><VersionId>1</VersionId></Object></Delete>", nil, 501,
			"VersionId is not supported", "", ""},
		{"POST", "/archive?delete", "<Delete><Object><Key>a/two&amp;</Key></Object></Delete>",
			[]string{"Content-MD5", "uKn3Fdu2T9XFbneDxoIKYA=="}, 400, "<Code>BadDigest</Code>", "", ""},
		{"POST", "/archive?delete", "<Delete>", nil, 400, "<Code>MalformedXML</Code>", "", ""},
		{"POST", "/archive?delete", "<Delete/>", nil, 400, "<Code>MalformedXML</Code>", "", ""},
		{"GET", "/archive/a/two%26", "", nil, 404, "<Code>NoSuchKey</Code>", "", ""},
		{"GET", "/", "", nil, 200,
			"<Buckets><Bucket><Name>archive</Name><CreationDate>2026-03-01T09:00:00Z</CreationDate></Bucket></Buckets>", "", ""},
		{"GET", "/?prefix=b", "", nil, 200, "<Buckets></Buckets><Prefix>b</Prefix>", "", ""},
		{"GET", "/?max-buckets=1", "", nil, 501, "a request without a bucket", "", ""},
	} {
		status, header, text := w.send(test.method, test.path, test.body, test.headers...)
		if status != test.status || !strings.Contains(text, test.want) || test.header != "" && header.Get(test.header) != test.value {
			t.Errorf("%s %s: %d, %s: %q, %s\nwant %d, %q, %s", test.method, test.path, status, test.header, header.Get(test.header), text,
				test.status, test.value, test.want)
		}
	}
}

// The endpoint finds a queue by its account and name. The host in the URL does not matter, because
// the client may know the host by another name.
func TestQueuesAreFoundByAnyHost(t *testing.T) {
	w := newWorld(t)
	ask := func(operation, body string) string {
		status, _, text := w.send("POST", "/", body, "X-Amz-Target", "AmazonSQS."+operation)
		if status != 200 {
			t.Fatalf("%s: %d %s", operation, status, text)
		}
		return text
	}
	ask("CreateQueue", `{"QueueName":"orders"}`)
	ask("SendMessage", `{"QueueUrl":"http://host.docker.internal:8611/000000000000/orders","MessageBody":"x"}`)
	must.Say(t, ask("ReceiveMessage", `{"QueueUrl":"http://127.0.0.1:8611/000000000000/orders"}`), `"Body":"x"`)
}

// Every operation that the engine has is served.
func TestEveryOperationIsServed(t *testing.T) {
	e := embedded.New(embedded.Config{})
	for prefix, client := range map[string]any{"DynamoDB_20120810": e.DynamoDB(), "DynamoDBStreams_20120810": e.Streams(),
		"AmazonSQS": e.SQS()} {
		if got, want := len(services(e)[prefix].operations), reflect.TypeOf(client).NumMethod(); got != want {
			t.Errorf("%s: %d operations are served, and the engine has %d", prefix, got, want)
		}
	}
}
