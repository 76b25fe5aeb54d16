package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a folder until the test ends.
func open(t *testing.T, dir string) *Disk {
	t.Helper()
	d, err := Open(dir)
	must.Succeed(t, err)
	return d
}

func held(t *testing.T, d *Disk, space string) string {
	t.Helper()
	var all []string
	must.Succeed(t, d.Load(space, func(k, v []byte) error {
		all = append(all, fmt.Sprintf("%s=%s", k, v))
		return nil
	}))
	return strings.Join(all, " ")
}

func TestWhatIsSafeIsThereAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	d := open(t, dir)
	d.Keep([]embedded.Change{{Space: "a", Key: "1", Value: "x"}, {Space: "a", Key: "2", Value: "y"}, {Space: "b", Key: "1", Value: "z"}})
	d.Keep([]embedded.Change{{Space: "a", Key: "1", Remove: true}, {Space: "b", Remove: true}, {Space: "b", Key: "9", Value: ""}})
	must.Succeed(t, d.Safe())
	must.Succeed(t, d.Close())
	d = open(t, dir)
	must.Equal(t, held(t, d, "a"), "2=y")
	must.Equal(t, held(t, d, "b"), "9=")
	must.Succeed(t, d.Empty())
	must.Equal(t, held(t, d, "a"), "")
	must.Succeed(t, d.Close())
}

func TestFolderOfAnother(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir)
	_, err := Open(dir)
	must.Equal(t, fmt.Sprint(err), fmt.Sprintf("another ingot dev (process %d) runs with the data in %s: end that one, or name another "+
		"folder with --data", os.Getpid(), dir))
	must.Succeed(t, d.Close())
	must.Succeed(t, open(t, dir).Close())
}

func TestForeignData(t *testing.T) {
	change := func(do func(*bbolt.Tx) error) func(string) error {
		return func(name string) error {
			db, err := bbolt.Open(name, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(do), db.Close())
		}
	}
	for name, c := range map[string]struct {
		make func(name string) error
		want string
	}{
		"not bbolt's": {func(name string) error {
			return os.WriteFile(name, []byte(strings.Repeat("hello ", 2000)), 0o600)
		}, "is not data of ingot dev"},
		"of another program": {change(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists([]byte("theirs"))
			return err
		}), "it is not data of ingot dev"},
		"of a newer version": {change(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(about)
			if err != nil {
				return err
			}
			return b.Put(formKey, []byte("2"))
		}), "it was written by another version of ingot (it has form 2, and this one reads form 1)"},
		"a folder": {func(name string) error { return os.Mkdir(name, 0o700) }, "cannot be opened: is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must.Succeed(t, c.make(filepath.Join(dir, file)))
			_, err := Open(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--data") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want one sentence with %q and --data", err, c.want)
			}
		})
	}
}

// TestFullDisk lets the disk be full for a while. What could not be written is refused, and is
// written once there is room, together with what came later.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := open(t, dir)
		full, write := true, d.save
		d.save = func(b *batch) error {
			if full {
				return &os.PathError{Op: "write", Path: "ingot.db", Err: syscall.ENOSPC}
			}
			return write(b)
		}
		d.Keep([]embedded.Change{{Space: "a", Key: "1", Value: "old"}, {Space: "b", Key: "1", Value: "x"}})
		want := "the disk with the data folder " + dir +
			" is full: make room on it, and ingot dev goes on by itself; what it has answered before is kept"
		for what, err := range map[string]error{"safe": d.Safe(), "ready": d.Ready(), "Windows": d.explain(syscall.Errno(112))} {
			must.Equal(t, fmt.Sprint(err), want, what)
		}
		d.Keep([]embedded.Change{{Space: "a", Key: "1", Value: "new"}, {Space: "b", Remove: true}, {Space: "b", Key: "2", Value: "y"}})
		if err := d.Safe(); err == nil {
			t.Error("what came later is safe on a full disk")
		}
		synctest.Wait()
		full = false
		for d.Ready() != nil {
			time.Sleep(againAfter) // of the bubble's clock
		}
		must.Succeed(t, d.Safe())
		must.Equal(t, held(t, d, "a"), "1=new")
		must.Equal(t, held(t, d, "b"), "2=y")
		must.Succeed(t, d.Close())
	})
}

// TestNothingIsHalfWritten lets a transaction fail in its middle.
func TestNothingIsHalfWritten(t *testing.T) {
	d := open(t, t.TempDir())
	b := newBatch()
	b.add(embedded.Change{Space: "a", Key: "1", Value: "x"})
	b.add(embedded.Change{Space: "a", Key: strings.Repeat("k", bbolt.MaxKeySize+1), Value: "too long for bbolt"})
	if err := d.write(b); err == nil {
		t.Error("a key that is too long was written")
	}
	must.Equal(t, held(t, d, "a"), "")
	must.Succeed(t, d.Close())
}

// TestFileStaysSmall sends events for a month, each of which expires after a day.
func TestFileStaysSmall(t *testing.T) {
	const each, days, size = 200, 30, 4000
	dir, now := t.TempDir(), time.Date(2031, 5, 5, 6, 0, 0, 0, time.UTC)
	d := open(t, dir)
	e, err := embedded.Open(embedded.Config{Now: func() time.Time { return now }, Journal: d})
	must.Succeed(t, err)
	s, err := stack.New(t.Context(), e, stack.Config{})
	must.Succeed(t, err)
	table, body := stack.Events, strings.Repeat("x", size)
	for day := range days {
		for n := range each {
			_, err := e.SQS().SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &s.Queue, MessageBody: &body})
			must.Succeed(t, err)
			got, err := e.SQS().ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &s.Queue})
			must.Succeed(t, err)
			_, err = e.SQS().DeleteMessage(t.Context(),
				&sqs.DeleteMessageInput{QueueUrl: &s.Queue, ReceiptHandle: got.Messages[0].ReceiptHandle})
			must.Succeed(t, err)
			_, err = e.DynamoDB().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: map[string]types.AttributeValue{
				"PK": &types.AttributeValueMemberS{Value: fmt.Sprint(day, "#", n)}, "SK": &types.AttributeValueMemberS{Value: "-"},
				"data":      &types.AttributeValueMemberS{Value: body},
				"expiresAt": &types.AttributeValueMemberN{Value: fmt.Sprint(now.Add(20 * time.Hour).Unix())}}})
			must.Succeed(t, err)
		}
		now = now.Add(24 * time.Hour)
		must.Equal(t, e.SweepExpired(), each)
	}
	stored := 3 * each * size // the records of a day: what was put, and what was there when it was removed
	must.Succeed(t, d.Close())
	info, err := os.Stat(filepath.Join(dir, file))
	must.Succeed(t, err)
	if most := int64(3*stored + 10<<20); info.Size() > most {
		t.Errorf("after %d days of %d events, the file has %d bytes, and at most %d are wanted", days, each, info.Size(), most)
	}
}
