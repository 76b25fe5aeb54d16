package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/awserr"
	"github.com/ingot-events/ingot/internal/lanes"
)

// These bound the deployed file, in bytes.
const (
	maxFile     = 300 * 1024 // gzipped, as it is stored
	maxFileText = 16 << 20   // unpacked: nobody writes more, and an altered item must not fill the memory
)

// File is the pipeline.yaml that the streams function runs, as it keeps it in the aggregates table.
// The ingest function is deployed at the same time, and may lag behind it.
type File struct {
	Text   []byte
	Epoch  int64
	Digest string // SHA-256 of Text, in hex
}

// errFileTooLarge says if pipeline.yaml is too large to be kept in the aggregates table.
var errFileTooLarge = fmt.Errorf("pipeline.yaml takes more than %d KB when it is gzipped, so it is not kept in the aggregates table, and the tool cannot read it there", maxFile/1024)

// KeepFile keeps the text of the pipeline as item F# of the aggregates table, for the tool. Nothing
// that counts depends on it. So KeepFile asks once, and the caller goes on whatever it returns.
//
// It replaces a file with a lower epoch, or one with the same epoch and another text. While old and
// new functions run side by side, both may do that. Each start replaces at most once, and only what
// it has read. So they cannot keep on replacing each other, and the last one that starts wins. That
// is the new one, because an old one no longer starts once the deployment is over.
//
// Many functions may start at once. Each of them reads, at half the price of a consistent read, and
// only a difference is written. A reader that is behind the table tries to write and is refused.
func (s counter) KeepFile(ctx context.Context) error {
	content := s.pipeline.Text()
	if len(content) == 0 || s.aggregates == "" {
		return nil // the pipeline is not made from a file
	}
	own := digestOf(content)
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.aggregates, Key: keyImage(lanes.FileKey),
		ProjectionExpression: aws.String("PK, #digest, #epoch"), ExpressionAttributeNames: map[string]string{"#digest": "digest", "#epoch": "epoch"}})
	if err != nil {
		return fmt.Errorf("reading which pipeline.yaml the aggregates table %s has: %w", s.aggregates, awserr.Quiet(err))
	}
	digest, epoch := textOf(out.Item["digest"]), integerOf(out.Item["epoch"])
	if len(out.Item) > 0 && (epoch > s.pipeline.Epoch() || epoch == s.pipeline.Epoch() && digest == own) {
		return nil
	}
	item, err := fileImage(content, s.pipeline.Epoch())
	if err != nil {
		return err
	}
	in := &dynamodb.PutItemInput{TableName: &s.aggregates, Item: item, ConditionExpression: aws.String("attribute_not_exists(PK)")}
	if len(out.Item) > 0 {
		in.ConditionExpression = aws.String("#digest = :digest AND #epoch = :epoch")
		in.ExpressionAttributeNames = map[string]string{"#digest": "digest", "#epoch": "epoch"}
		in.ExpressionAttributeValues = image{":digest": out.Item["digest"], ":epoch": out.Item["epoch"]}
		if digest == "" || numberOf(out.Item["epoch"]) == "" { // nobody's file: it is no condition on its values
			in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues = nil, nil, nil
		}
	}
	_, err = s.client.PutItem(ctx, in)
	var other *types.ConditionalCheckFailedException
	if errors.As(err, &other) {
		return nil // another function that started has written it
	}
	if err != nil {
		return fmt.Errorf("keeping pipeline.yaml in the aggregates table %s: %w", s.aggregates, awserr.Quiet(err))
	}
	return nil
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// fileImage returns the stored form of a file. Other programs read it: see the design page, "Stored
// formats".
func fileImage(content []byte, epoch int64) (image, error) {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is one that there is
	_, _ = w.Write(content)                                    // into memory
	_ = w.Close()
	if packed.Len() > maxFile {
		return nil, errFileTooLarge
	}
	item := keyImage(lanes.FileKey)
	item["file"], item["digest"], item["epoch"] = binary(packed.Bytes()), text(digestOf(content)), integer(epoch)
	return item, nil
}

// DeployedFile reads the pipeline.yaml that the streams function runs, consistently. It returns nil
// if there is none in the table: the function has not started since it can keep one, or the file is
// too large. [pipeline.Load] compiles it.
func DeployedFile(ctx context.Context, client Client, aggregates string) (*File, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &aggregates, Key: keyImage(lanes.FileKey), ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, fmt.Errorf("reading the deployed pipeline.yaml from the aggregates table %s: %w", aggregates, err)
	}
	if len(out.Item) == 0 {
		return nil, nil
	}
	f := &File{Epoch: integerOf(out.Item["epoch"]), Digest: textOf(out.Item["digest"])}
	if f.Text, err = unpack(bytesOf(out.Item["file"])); err == nil && digestOf(f.Text) != f.Digest {
		err = errors.New("its digest is another")
	}
	if err != nil {
		return nil, fmt.Errorf("the item F# of the aggregates table %s does not hold the deployed pipeline.yaml: %w; delete it, and wake the streams function with {\"Records\":[]}", aggregates, err)
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
