package payloads_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
)

const name = "payloads"

// world is a bucket in the engine, and the requests that were sent to it.
type world struct {
	*payloads.Bucket
	t     *testing.T
	env   env.Env
	s3    *embedded.S3
	calls map[string]int
	// befall is asked about each request. before: it is not carried out. after: it is, and the
	// answer is lost.
	befall func(api string, n int) (before, after error)
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, calls: map[string]int{}}
	w.env = env.Env{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}.Real()
	engine := embedded.New(embedded.Config{Intercept: func(_ context.Context, api string, _ any, call func() (any, error)) (any, error) {
		w.calls[api]++
		var before, after error
		if w.befall != nil {
			before, after = w.befall(api, w.calls[api])
		}
		if before != nil {
			return nil, before
		}
		out, err := call()
		if after != nil {
			return nil, after
		}
		return out, err
	}})
	w.s3 = engine.S3()
	must.Succeed(t, stack.CreateArchive(t.Context(), w.s3, name))
	w.Bucket = &payloads.Bucket{Client: w.s3, Name: name}
	return w
}

func (w *world) put(eventType string, key event.Key, text string) payloads.Sum {
	w.t.Helper()
	sum := sha256.Sum256([]byte(text))
	must.Succeed(w.t, w.Put(w.t.Context(), w.env, eventType, key, sum, text))
	return sum
}

// names lists everything in the bucket.
func (w *world) names() (names []string) {
	w.t.Helper()
	in := &s3.ListObjectsV2Input{Bucket: aws.String(name)}
	for {
		out, err := w.s3.ListObjectsV2(w.t.Context(), in)
		must.Succeed(w.t, err)
		for _, o := range out.Contents {
			names = append(names, *o.Key)
		}
		if in.ContinuationToken = out.NextContinuationToken; in.ContinuationToken == nil {
			return names
		}
	}
}

var (
	key     = event.Key{PK: "POST#jane", SK: "POST"}
	errLost = errors.New("connection reset by peer")
)

// coded is an error of S3, whose message quotes what it should not.
func coded(code string) error {
	return &smithy.GenericAPIError{Code: code, Message: "POST#jane secret"}
}

// The name is fixed, because lifecycles and other programs look objects up by it. The hash of the
// key is the one that names the archive's objects.
func TestName(t *testing.T) {
	sum := sha256.Sum256([]byte("{}"))
	got := payloads.Name("feed.posted", event.Key{PK: "ORDER#1", SK: "ORDER"}, sum)
	want := "feed.posted/bb4fa292552e84646b2178fde8d4f294d846388a7003f951b967b2dfea103fa5/44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a.json"
	must.Equal(t, got, want)
}

// A payload is read as it was put. Deleting one, or all of a key, leaves everything else.
func TestPutGetDelete(t *testing.T) {
	w := newWorld(t)
	other := event.Key{PK: "POST#joe", SK: "POST"}
	text := `{"text":"` + strings.Repeat("é", 100_000) + `"}`
	first, second := w.put("post", key, text), w.put("post", key, "{}")
	w.put("post", other, "{}")
	w.put("post.edited", key, "{}")
	for range 2 { // an object may be put again
		w.put("post", key, text)
		if got, err := w.Get(t.Context(), w.env, "post", key, first); err != nil || got != text {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	out, err := w.s3.GetObject(t.Context(),
		&s3.GetObjectInput{Bucket: aws.String(name), Key: aws.String(payloads.Name("post", key, first))})
	if err != nil || *out.ContentType != "application/json" {
		t.Errorf("%v, %v", out, err)
	}
	for range 2 { // what is gone may be deleted again
		must.Succeed(t, w.Delete(t.Context(), w.env, "post", key, second))
	}
	if _, err := w.Get(t.Context(), w.env, "post", key, second); !errors.Is(err, payloads.ErrMissing) {
		t.Errorf("what is deleted is read: %v", err)
	}
	must.Equal(t, len(w.names()), 3)
	for want := range 2 {
		if n, err := w.Clear(t.Context(), w.env, "post", key); err != nil || n != 1-want {
			t.Errorf("%d deleted, %v", n, err)
		}
	}
	if left := strings.Join(w.names(), " "); len(w.names()) != 2 || strings.Contains(left, payloads.Prefix("post", key)) {
		t.Errorf("left: %s", left)
	}
}

// A key may have more objects than one answer lists or one request deletes.
func TestClearMany(t *testing.T) {
	w := newWorld(t)
	for i := range 2100 {
		w.put("post", key, fmt.Sprintf(`{"n":%d}`, i))
	}
	clear(w.calls)
	n, err := w.Clear(t.Context(), w.env, "post", key)
	if err != nil || n != 2100 || len(w.names()) != 0 {
		t.Errorf("%d deleted, %v, and %d are left", n, err, len(w.names()))
	}
	must.Equal(t, w.calls["DeleteObjects"], 3)
}

// Each request may fail, or be carried out and its answer lost. It is repeated, and the result is
// the same.
func TestEveryRequestFails(t *testing.T) {
	sum := sha256.Sum256([]byte("{}"))
	for what, c := range map[string]struct {
		do   func(*world) error
		want int // objects
	}{
		"put":    {func(w *world) error { return w.Put(t.Context(), w.env, "post", key, sum, "{}") }, 1},
		"get":    {func(w *world) error { _, err := w.Get(t.Context(), w.env, "post", key, sum); return err }, 1},
		"delete": {func(w *world) error { return w.Delete(t.Context(), w.env, "post", key, sum) }, 0},
		"clear":  {func(w *world) error { _, err := w.Clear(t.Context(), w.env, "post", key); return err }, 0},
	} {
		for _, err := range []error{errLost, coded("SlowDown"), coded("InternalError")} {
			for _, present := range []bool{false, true} {
				for failures := 1; failures <= 3; failures++ {
					w := newWorld(t)
					w.put("post", key, "{}")
					clear(w.calls)
					w.befall = func(_ string, n int) (before, after error) {
						switch {
						case n > failures:
							return nil, nil
						case present:
							return nil, err
						}
						return err, nil
					}
					got := c.do(w)
					if failures == 3 {
						if got == nil {
							t.Errorf("%s: three failures are no error", what)
						} else if text := got.Error(); strings.Contains(text, "jane") || strings.Contains(text, "{}") ||
							!strings.Contains(text, "bucket payloads") {
							t.Errorf("%s: %s", what, text)
						}
						continue
					}
					w.befall = nil
					if n := len(w.names()); got != nil || n != c.want {
						t.Errorf("%s, present %v, %d failures: %v, %d objects", what, present, failures, got, n)
					}
				}
			}
		}
	}
}

// What only a person can mend is asked once, and the error says so.
func TestDenied(t *testing.T) {
	for _, code := range []string{"AccessDenied", "NoSuchBucket"} {
		w := newWorld(t)
		w.befall = func(string, int) (error, error) { return coded(code), nil }
		sum := sha256.Sum256([]byte("{}"))
		_, errGet := w.Get(t.Context(), w.env, "post", key, sum)
		_, errClear := w.Clear(t.Context(), w.env, "post", key)
		for api, err := range map[string]error{"PutObject": w.Put(t.Context(), w.env, "post", key, sum, "{}"), "GetObject": errGet,
			"DeleteObject": w.Delete(t.Context(), w.env, "post", key, sum), "ListObjectsV2": errClear} {
			switch {
			case !awserr.Denied(err) || errors.Is(err, payloads.ErrMissing):
				t.Errorf("%s: %v", api, err)
			case strings.Contains(err.Error(), "jane") || !strings.Contains(err.Error(), code) ||
				!strings.Contains(err.Error(), "check the name of the bucket"):
				t.Errorf("%s: %v", api, err)
			case w.calls[api] != 1:
				t.Errorf("%s is sent %d times", api, w.calls[api])
			}
		}
	}
}

// Bytes that are not those of the name are never returned.
func TestDamagedObject(t *testing.T) {
	w := newWorld(t)
	sum := w.put("post", key, `{"n":1}`)
	for _, body := range []string{`{"n":2}`, "", strings.Repeat("x", payloads.Max+1)} {
		_, err := w.s3.PutObject(t.Context(),
			&s3.PutObjectInput{Bucket: aws.String(name), Key: aws.String(payloads.Name("post", key, sum)),
				Body: strings.NewReader(body)})
		must.Succeed(t, err)
		clear(w.calls)
		text, err := w.Get(t.Context(), w.env, "post", key, sum)
		if err == nil || text != "" || errors.Is(err, payloads.ErrMissing) || w.calls["GetObject"] != 1 {
			t.Errorf("%d bytes, %v, after %d requests", len(text), err, w.calls["GetObject"])
		}
	}
}

// refusing answers a DeleteObjects with the refusal of one object, as S3 does inside a successful
// answer.
type refusing struct {
	*embedded.S3
	code string
}

func (r *refusing) DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...func(*s3.Options)) (*s3.DeleteObjectsOutput, error) {
	return &s3.DeleteObjectsOutput{Errors: []types.Error{{Code: &r.code, Key: aws.String("post/x"), Message: aws.String("secret")}}}, nil
}

// shortened cuts an object off, as a lost connection does.
type shortened struct{ *embedded.S3 }

func (s *shortened) GetObject(ctx context.Context, in *s3.GetObjectInput, _ ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	out, err := s.S3.GetObject(ctx, in)
	if err == nil {
		out.Body = io.NopCloser(io.LimitReader(out.Body, 1))
	}
	return out, err
}

// An answer that succeeds may hold a failure, or not all of an object.
func TestAnswersThatAreNotWhole(t *testing.T) {
	w := newWorld(t)
	sum := w.put("post", key, "{}")
	for _, code := range []string{"AccessDenied", "InternalError"} {
		w.Client = &refusing{w.s3, code}
		if n, err := w.Clear(t.Context(), w.env, "post", key); err == nil || n != 0 || !strings.Contains(err.Error(), code) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %d deleted, %v", code, n, err)
		}
	}
	w.Client = &shortened{w.s3}
	if text, err := w.Get(t.Context(), w.env, "post", key, sum); err == nil || text != "" ||
		!strings.Contains(err.Error(), "1 bytes came of 2") {
		t.Errorf("%q, %v", text, err)
	}
}
