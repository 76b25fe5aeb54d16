package sim

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// archive is what the archive of expired events must hold, and what it was told.
type archive struct {
	*World
	archived map[model.Object]bool
}

// uploader is the archive as an invocation reaches it.
type uploader struct{ w *World }

func (u uploader) PutObject(ctx context.Context, in *s3.PutObjectInput, _ ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return stage.Request(&u.w.World, ctx, "PutObject", false, nil, func() (*s3.PutObjectOutput, error) {
		body, err := io.ReadAll(in.Body)
		if err != nil {
			return nil, err
		}
		list := u.w.archive.objectsIn(*in.Key, body)
		for _, o := range list {
			u.w.archive.checkObject(o)
		}
		again := *in
		again.Body = bytes.NewReader(body)
		out, err := u.w.ingot.Engine.S3().PutObject(u.w.Sent(), &again)
		if err == nil {
			for _, o := range list {
				u.w.archive.archived[o] = true
			}
		}
		return out, err
	})
}

// objectsIn returns what the archive gets, each item as the object that it would be by itself.
func (w *archive) objectsIn(name string, body []byte) (list []model.Object) {
	if !strings.HasSuffix(name, ".json.gz") {
		return []model.Object{{Name: name, Body: string(body)}}
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		body, err = io.ReadAll(z)
	}
	if err != nil {
		w.Fail(Unarchived, "the archive gets a file that cannot be read, %s: %v", name, err)
	}
	for line := range strings.Lines(string(body)) {
		image := strings.TrimSuffix(strings.TrimPrefix(line, `{"Item":`), "}\n")
		var item map[string]map[string]any
		if err := json.Unmarshal([]byte(image), &item); err != nil {
			w.Fail(Unarchived, "the archive gets a line that is not an item, %s: %s", name, line)
			continue
		}
		text := func(name, kind string) string { s, _ := item[name][kind].(string); return s }
		key := sha256.Sum256(model.Framed(text("PK", "S"), text("SK", "S")))
		digest, _ := base64.StdEncoding.DecodeString(text("digest", "B"))
		list = append(list, model.Object{Name: "expired/" + hex.EncodeToString(key[:]) + "/" + hex.EncodeToString(digest) + ".json",
			Body: image})
	}
	return list
}

// checkObject checks an object on its way to the archive. It must be an item that expired, whole
// and under its own name.
func (w *archive) checkObject(o model.Object) {
	if img := w.model.WithoutPayload[o]; img != nil && (w.offload.isLost(img) || w.hasWhole(o)) {
		return
	}
	if !w.model.Objects[o] {
		w.Fail(Unarchived, "the archive gets something that is not an item that expired, or not under this name: %s: %s", o.Name, o.Body)
	}
}

// hasWhole reports whether the item of an object without its payload is archived with it. What is
// in the archive stays, so its payload may be deleted before its removal is read again.
func (w *archive) hasWhole(o model.Object) bool {
	for whole, without := range w.model.Instead {
		if without == o && w.archived[whole] {
			return true
		}
	}
	return false
}

// checkArchive checks that everything that expired is in the archive.
func (w *archive) checkArchive() {
	for _, key := range sortedKeys(w.model.Keys) {
		for _, o := range w.model.Keys[key].Gone {
			if !w.archived[o] && !w.archived[w.model.Instead[o]] {
				w.Fail(Unarchived, "%s expired and is not in the archive: %s: %s", key, o.Name, o.Body)
				return
			}
		}
	}
}
