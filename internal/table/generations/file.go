package generations

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// These are the limits of the deployed file, in bytes.
const (
	maxFile     = 300 * 1024 // gzipped, as it is stored
	maxFileText = 16 << 20   // unpacked: nobody writes a larger file, and a manipulated item must not fill the memory
)

// errFileTooLarge is the error for a pipeline.yaml that is too large for the aggregates table.
var errFileTooLarge = fmt.Errorf(
	"pipeline.yaml takes more than %d KB when it is gzipped, so it is not kept in the aggregates table, and the tool cannot read it there",
	maxFile/1024)

// keptFile is what the item E# said about the deployed file when Store.Start read it.
type keptFile struct {
	digest string // empty: no file was kept since the epoch was raised
	epoch  int64
}

// KeepFile keeps the text of the pipeline as item F# of the aggregates table, for the tool. Call it
// after Store.Start. Counting does not depend on it. So KeepFile tries only once, and the caller
// goes on even after an error.
//
// It replaces a file with a lower epoch, or with the same epoch and another text. With anew it also
// replaces a file with the same text, in case somebody has altered the item. While old and new
// functions run side by side, each of them may replace the other's file. Each start replaces the
// file at most once, and only the one that it has read. So they cannot keep replacing each other's
// file, and the last start wins. That is the new function, because no old one starts after the
// deployment.
//
// Many functions may start at once. The item E#, which Start reads in any case, holds the digest of
// the file too. So a file that has not changed costs nothing, however large it is. One transaction
// writes both items, on condition that E# is as it was read.
func (s *Heads) KeepFile(ctx context.Context, anew bool) error {
	content, kept := s.Pipeline.Text(), s.file.Load()
	if len(content) == 0 || kept == nil {
		return nil // the pipeline is not made from a file, or there are no totals
	}
	own, epoch := digestOf(content), s.Pipeline.Epoch()
	if kept.epoch > epoch || kept.digest == own && !anew {
		return nil
	}
	file, err := fileImage(content, epoch)
	if err != nil {
		return err
	}
	note := &types.Update{TableName: &s.Aggregates, Key: rows.KeyImage(lanes.EpochKey), UpdateExpression: aws.String("SET #file = :digest"),
		ConditionExpression:       aws.String("#epoch = :epoch AND #file = :kept"),
		ExpressionAttributeNames:  map[string]string{"#file": "file", "#epoch": "epoch"},
		ExpressionAttributeValues: rows.Image{":digest": rows.Text(own), ":epoch": rows.Integer(epoch), ":kept": rows.Text(kept.digest)}}
	if kept.digest == "" {
		note.ConditionExpression = aws.String("#epoch = :epoch AND attribute_not_exists(#file)")
		delete(note.ExpressionAttributeValues, ":kept")
	}
	_, err = s.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Update: note}, {Put: &types.Put{TableName: &s.Aggregates, Item: file}}}})
	if err != nil && !overtaken(err) {
		return fmt.Errorf("keeping pipeline.yaml in the aggregates table %s: %w", s.Aggregates, awserr.Quiet(err))
	}
	return nil
}

// overtaken reports whether a transaction was refused because another function that started has
// written the same items, or is writing them.
func overtaken(err error) bool {
	var cancel *types.TransactionCanceledException
	return errors.As(err, &cancel) && slices.ContainsFunc(cancel.CancellationReasons, func(r types.CancellationReason) bool {
		code := aws.ToString(r.Code)
		return code == "ConditionalCheckFailed" || code == "TransactionConflict"
	})
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// fileImage returns the stored form of a file. Other programs read it: see the design page, "Stored
// formats".
func fileImage(content []byte, epoch int64) (rows.Image, error) {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // cannot fail: the level is valid
	_, _ = w.Write(content)                                    // into memory
	_ = w.Close()
	if packed.Len() > maxFile {
		return nil, errFileTooLarge
	}
	item := rows.KeyImage(lanes.FileKey)
	item["file"], item["digest"], item["epoch"] = rows.Binary(packed.Bytes()), rows.Text(digestOf(content)), rows.Integer(epoch)
	return item, nil
}

// DeployedFile reads the pipeline.yaml that the streams function runs, consistently. It returns nil
// if the table has no file, because the streams function has not stored one yet or because the file
// is too large. [pipeline.Load] compiles the text.
func DeployedFile(ctx context.Context, client tables.Client, aggregates string) (*tables.File, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &aggregates, Key: rows.KeyImage(lanes.FileKey),
		ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("reading the deployed pipeline.yaml from the aggregates table %s: %w", aggregates, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	f := &tables.File{Digest: rows.TextOf(out.Item["digest"])}
	if f.Text, err = unpack(rows.BytesOf(out.Item["file"])); err == nil && digestOf(f.Text) != f.Digest {
		err = errors.New("its digest is another")
	}
	if err != nil {
		return nil, fmt.Errorf("the item F# of the aggregates table %s does not hold the deployed pipeline.yaml: %w; "+
			"wake the streams function with {\"Records\":[]}, which writes it again", aggregates, err)
	}
	return f, nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, maxFileText+1))
	if err == nil && len(content) > maxFileText {
		err = fmt.Errorf("it is larger than %d MB", maxFileText>>20)
	}
	return content, err
}
