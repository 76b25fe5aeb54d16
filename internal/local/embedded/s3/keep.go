package s3

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// This file writes buckets to a journal, and reads them again:
//
//	buckets         name -> the time at which it was made, in RFC 3339; 1 in older journals
//	objects/NAME    key  -> keptObject as JSON, then the body

const bucketSpace = "buckets"

func objectSpace(bucket string) string { return "objects/" + bucket }

type keptObject struct {
	ETag, ContentType string
	Metadata          map[string]string
	Modified          time.Time
}

func (bs *Buckets) keepBucket(name string, b *bucket) {
	bs.log.Put(bucketSpace, name, b.created.Format(time.RFC3339))
}

func (bs *Buckets) keepObject(bucket, key string, o *object) error {
	if bs.log == nil {
		return nil
	}
	about, err := json.Marshal(keptObject{o.etag, o.contentType, o.metadata, o.modified})
	if err != nil {
		return err
	}
	p := make(api.Packer, 0, len(about)+len(o.body)+8)
	p.Text(string(about))
	p.Text(string(o.body))
	bs.log.Put(objectSpace(bucket), key, string(p))
	return nil
}

// Load reads what the journal holds. It must be called before anything else.
func (bs *Buckets) Load(j api.Journal) error {
	err := j.Load(bucketSpace, func(k, v []byte) error {
		created, err := time.Parse(time.RFC3339, string(v))
		if err != nil {
			created = bs.core.Now() // the journal does not say it
		}
		bs.byName[string(k)] = &bucket{created: created, objects: map[string]*object{}}
		return nil
	})
	if err != nil {
		return err
	}
	for name, b := range bs.byName {
		if err := j.Load(objectSpace(name), func(k, v []byte) error {
			u := api.Unpack(string(v))
			about, body := u.Text(), u.Text()
			var kept keptObject
			if err := u.Err(); err != nil {
				return err
			}
			if err := json.Unmarshal([]byte(about), &kept); err != nil {
				return err
			}
			key := string(k)
			at, _ := b.find(key)
			b.keys.Insert(at, key)
			b.objects[key] = &object{body: []byte(body), etag: kept.ETag, contentType: kept.ContentType, metadata: kept.Metadata,
				modified: kept.Modified}
			return nil
		}); err != nil {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	return nil
}
