package target

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/nearby"
)

// Local describes a running `ingot dev`, in a file beside its pipeline.yaml.
type Local struct {
	ID              string `json:"id"` // of this run; the answer to [LocalID]
	PID             int    `json:"pid"`
	Endpoint        string `json:"endpoint"` // of the protocols of AWS
	Console         string `json:"console"`  // URL of the console
	Region          string `json:"region"`
	Account         string `json:"account"`
	EventsTable     string `json:"eventsTable"`
	AggregatesTable string `json:"aggregatesTable"`
	QueueURL        string `json:"queueUrl"`
	QuarantineURL   string `json:"quarantineUrl"`
	DeadLetterURL   string `json:"deadLetterUrl"`
	ArchiveBucket   string `json:"archiveBucket"`
	PayloadBucket   string `json:"payloadBucket"`
	Pipeline        string `json:"pipeline"` // absolute path of pipeline.yaml
}

// These are the names of the functions of an `ingot dev`, for commands that pause them.
const (
	DevIngest  = "ingest"
	DevStreams = "streams"
)

// LocalFile returns the path of the file that an `ingot dev` writes, in the folder of its
// pipeline.yaml.
func LocalFile(dir string) string { return filepath.Join(dir, ".ingot", "dev.json") }

// Write writes the file of an `ingot dev` that runs in dir. A reader sees all of it or nothing.
func (d Local) Write(dir string) error {
	file := LocalFile(dir)
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// Remove removes the file of an `ingot dev` that runs in dir, unless another one has written its
// own since.
func (d Local) Remove(dir string) error {
	text, err := os.ReadFile(LocalFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var there Local
	if err != nil || json.Unmarshal(text, &there) == nil && there != d {
		return err
	}
	return os.Remove(LocalFile(dir))
}

// LocalID is a path on the port of the protocols. The answer is the ID of the `ingot dev` that
// serves it. No bucket can have this name.
const LocalID = "/-/id"

// notRunning says that no `ingot dev` runs for a folder.
type notRunning struct {
	stale string // the file that one has left there; empty: there is none
	text  string
}

func (e *notRunning) Error() string { return e.text }

// readLocal looks for the file of an `ingot dev` in dir and above it.
func readLocal(dir string) (Local, string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Local{}, "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		file := LocalFile(at)
		text, err := os.ReadFile(file)
		switch {
		case err == nil:
			var d Local
			if err := json.Unmarshal(text, &d); err != nil || d.Endpoint == "" || d.EventsTable == "" || d.AggregatesTable == "" {
				return Local{}, "", fmt.Errorf("%s is not a file that ingot dev writes: delete it, and start ingot dev again", file)
			}
			return d, file, nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid):
			var path *fs.PathError
			if errors.As(err, &path) {
				err = path.Err
			}
			return Local{}, "", fmt.Errorf("%s cannot be read: %w", file, err)
		case at == filepath.Dir(at):
			return Local{}, "",
				&notRunning{text: fmt.Sprintf("no ingot dev runs for %s or a folder above it; start one with: ingot dev", dir)}
		}
	}
}

// answerTime bounds how long a process on this machine may take to answer.
const answerTime = 5 * time.Second

// runs returns an error if the `ingot dev` that wrote a file does not run any more. One that was
// killed leaves its file, and another one may have its port since. A folder can also be a copy.
func (d Local) runs(ctx context.Context, file string) error {
	here, err := os.Stat(filepath.Dir(filepath.Dir(file)))
	there, gone := os.Stat(filepath.Dir(d.Pipeline))
	if err == nil && gone == nil && !os.SameFile(here, there) {
		return &notRunning{file, fmt.Sprintf("%s is of the ingot dev of another folder, %s; start one here with: ingot dev", file,
			filepath.Dir(d.Pipeline))}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.Endpoint+LocalID, nil)
	if err != nil {
		return err
	}
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err == nil {
		defer func() { _ = answer.Body.Close() }()
		var text []byte
		if text, err = io.ReadAll(io.LimitReader(answer.Body, 100)); err == nil && strings.TrimSpace(string(text)) == d.ID {
			return nil
		}
	}
	why := "another program answers there now"
	if err != nil {
		why = Reason(err)
	}
	text := fmt.Sprintf("the ingot dev of %s (process %d) does not answer at %s: %s; if it has ended, start it again with: ingot dev", file,
		d.PID, d.Endpoint, why)
	if ctx.Err() != nil { // it may run, and be slow
		return errors.New(text)
	}
	return &notRunning{file, text}
}

// findLocal returns the `ingot dev` of a folder, if it answers.
func findLocal(ctx context.Context, o Options) (*Target, error) {
	d, file, err := readLocal(o.Dir)
	if err != nil {
		return nil, err
	}
	ask, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if err := d.runs(ask, file); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	t := &Target{Kind: KindLocal, Named: true, Name: d.Pipeline, Account: d.Account, Region: d.Region, Endpoint: d.Endpoint,
		Console:     d.Console,
		EventsTable: d.EventsTable, AggregatesTable: d.AggregatesTable, QueueURL: d.QueueURL, QuarantineURL: d.QuarantineURL,
		DeadLetterURL: d.DeadLetterURL, ArchiveBucket: d.ArchiveBucket, PayloadBucket: d.PayloadBucket, env: o.Env}
	t.AWS = aws.Config{Region: d.Region, BaseEndpoint: &t.Endpoint, HTTPClient: nearby.Client(),
		Credentials: aws.AnonymousCredentials{}} // ingot dev does not check signatures
	_, err = t.DynamoDB().DescribeTable(ask, &dynamodb.DescribeTableInput{TableName: &t.EventsTable}, func(o *dynamodb.Options) {
		o.RetryMaxAttempts = 1
	})
	var failure *types.InternalServerError
	var gone *types.ResourceNotFoundException
	switch {
	case errors.As(err, &gone): // it runs, and somebody has deleted the table; the command says what it lacks
		return t, nil
	case errors.As(err, &failure): // it runs, and says what is wrong with it
		err = fmt.Errorf("the ingot dev of %s (process %d) cannot answer now: %s", file, d.PID, failure.ErrorMessage())
	case err != nil && ctx.Err() == nil:
		err = fmt.Errorf("the ingot dev of %s (process %d) does not answer at %s: %s; end it, and start it again with: ingot dev", file,
			d.PID, d.Endpoint, Reason(err))
	}
	return t, err
}
