package sim

import (
	"context"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// uploader is the archive as an invocation reaches it.
type uploader struct{ w *World }

// object is an object that the archive has taken.
type object struct{ name, body string }

func (u uploader) PutObject(ctx context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return request(u.w, ctx, "PutObject", false, func() (*s3.PutObjectOutput, error) {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			return nil, err
		}
		o := object{*in.Key, string(body)}
		u.w.checkObject(o)
		again := *in
		again.Body = strings.NewReader(o.body)
		out, err := u.w.engine.S3().PutObject(sent, &again)
		if err == nil {
			u.w.archived[o] = true
		}
		return out, err
	})
}

// checkObject checks an object on its way to the archive. It must be an item that expired, whole
// and under its own name.
func (w *World) checkObject(o object) {
	if img := w.model.withoutPayload[o]; img != nil && w.isLost(img) {
		return
	}
	if !w.model.objects[o] {
		w.fail(Unarchived, "the archive gets something that is not an item that expired, or not under this name: %s: %s", o.name, o.body)
	}
}

// checkArchive checks that everything that expired is in the archive.
func (w *World) checkArchive() {
	for _, key := range sortedKeys(w.model.keys) {
		for _, o := range w.model.keys[key].gone {
			if !w.archived[o] && !w.archived[w.model.instead[o]] {
				w.fail(Unarchived, "%s expired and is not in the archive: %s: %s", key, o.name, o.body)
				return
			}
		}
	}
}
