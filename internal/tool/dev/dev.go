package dev

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// These appear in ARNs and queue URLs.
const (
	Region  = "us-east-1"
	Account = "000000000000"
)

// Config configures a [Dev].
type Config struct {
	File     string // path of pipeline.yaml
	Secret   []byte // what hmac hashes with
	Data     string // the folder where everything is kept; empty: in memory alone
	Counting aggregate.Counting
	// Port is where the protocols of AWS are served on this machine, and ConsolePort where the
	// console is. 0 means any free port.
	Port, ConsolePort int
	// Host is the address of this machine at which the protocols of AWS are served; empty:
	// 127.0.0.1.
	Host string
	// Console returns the handler of the console. nil means that there is no console. Token is the
	// secret that a browser must send; the URL of the console ends with it.
	Console func(*Dev) http.Handler
	Token   string
	// Client and Function wrap the client and the handler of "ingest" or "streams", so that trouble
	// can be made on purpose. nil means that nothing is wrapped.
	Client   func(function string, client tables.Client) tables.Client
	Function func(call esm.Handler) esm.Handler
	// Caller returns who sends the requests to the protocols of AWS, so that each is judged. nil
	// allows everything.
	Caller func() *iam.Role
	// Tell gets messages for a person, one line at a time. nil means that they are dropped.
	Tell func(string)
	// Log is the log of both functions. nil means that there is none.
	Log *slog.Logger
	// Ahead is how far its clock is ahead of the machine's, so that one sees an expiry.
	Ahead time.Duration
	// Now is a clock that a test sets. Its time does not pass by itself, so no receive from a queue
	// waits for messages. nil means time.Now, and receives wait as they ask.
	Now func() time.Time
}

// Dev is a pipeline that runs. [Start] makes one.
type Dev struct {
	cfg     Config
	id      string // of this run
	clock   *clock
	engine  *embedded.Engine
	stack   *stack.Stack
	steps   Steps
	running running
	queue   *esm.Queue
	// switches say whether the mappings are on.
	switches *mappings.Server
	fifo     bool // the queue of events is a FIFO queue
	stream   *esm.Stream
	// publishing is the other mapping of the stream, for publish.yaml.
	publishing atomic.Pointer[esm.Stream]
	remade     atomic.Bool // a table may have been made again, and the functions do not know it yet
	kept       *kept       // nil: in memory alone

	api, console *server
	requests     requests
	stop         chan struct{}   // closed when the functions are to end
	longPolls    <-chan struct{} // stop, or nil: no receive waits
	base         context.Context // of all work; it ends some time after stop
	cut          context.CancelFunc
	work         sync.WaitGroup

	queueIdle, streamIdle, publishIdle atomic.Bool

	mu       sync.Mutex
	troubles map[string]string // by function: what was told last
	results  map[string]string // by function: what Lambda would say of its last batch

	refusals refusals

	reloading  sync.Mutex
	text, seen []byte // of the pipeline.yaml that runs, and of the file when it was last read
	// The same of publish.yaml. They are nil if there is none.
	publishText, publishSeen []byte
	toldOf                   map[string]string // by publication: the queue that was told
}

// Start runs a pipeline until [Dev.Close]. The error says which file is wrong, or which port is
// taken.
func Start(ctx context.Context, cfg Config) (_ *Dev, err error) {
	if cfg.Tell == nil {
		cfg.Tell = func(string) {}
	}
	if cfg.File, err = filepath.Abs(cfg.File); err != nil {
		return nil, err
	}
	d := &Dev{cfg: cfg, id: rand.Text(), stop: make(chan struct{}), troubles: map[string]string{}, results: map[string]string{},
		toldOf: map[string]string{}}
	if cfg.Now == nil {
		d.cfg.Now, d.longPolls = time.Now, d.stop
	}
	if wall := d.cfg.Now; cfg.Ahead != 0 {
		d.cfg.Now = func() time.Time { return wall().Add(cfg.Ahead) }
	}
	d.base, d.cut = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			d.cut()
			d.api.close()
			d.console.close()
			_ = d.kept.close()
		}
	}()
	plan, err := d.read()
	if err != nil {
		return nil, err
	}
	d.fifo = d.readsFIFO()
	if err := d.listen(); err != nil {
		return nil, err
	}
	if err := d.open(ctx, plan); err != nil {
		return nil, err
	}
	if err := d.mappings(ctx); err != nil {
		return nil, err
	}
	if err := d.deploy(ctx, plan, d.text, d.publishSeen); err != nil {
		return nil, err
	}
	d.run()
	if err := d.Local().Write(filepath.Dir(cfg.File)); err != nil {
		return nil, errors.Join(fmt.Errorf("the file by which other commands find this ingot dev could not be written: %w", err), d.end())
	}
	return d, nil
}

// read compiles pipeline.yaml.
func (d *Dev) read() (*pipeline.Pipeline, error) {
	text, err := os.ReadFile(d.cfg.File)
	if err == nil {
		d.publishSeen, err = d.readPublish()
	}
	if err != nil {
		return nil, err
	}
	plan, err := d.compile(text)
	if err == nil {
		d.text, d.seen = plan.Text(), plan.Text()
	}
	return plan, err
}

func (d *Dev) compile(text []byte) (*pipeline.Pipeline, error) {
	return textfile.File{Name: name(d.cfg.File), Text: text}.Load(pipeline.Secret(d.cfg.Secret))
}

// open makes the engine with its tables and queues, or goes on with those in the data folder.
func (d *Dev) open(ctx context.Context, plan *pipeline.Pipeline) (err error) {
	cfg := embedded.Config{Seed: uint64(d.cfg.Now().UnixNano()), Region: Region, Account: Account, QueueURL: d.api.url(),
		PartiQLReturnsItem: true, LongPolls: d.longPolls}
	if d.cfg.Data != "" {
		if d.kept, err = openKept(d.cfg.Data); err != nil {
			return err
		}
		cfg.Journal = d.kept.disk
	}
	d.clock = newClock(d.cfg.Now, steady(), d.kept.stopped())
	cfg.Now, cfg.Intercept = d.clock.Now, iam.Judged(nil)
	if d.kept.begun() {
		if objects, _ := d.compare(d.kept.pipeline, d.text); len(objects) > 0 {
			return fmt.Errorf(
				"the data in %s was stored with another pipeline.yaml, and this one does not agree with it:\n%s\nchange the file, or name another folder with --data to begin again",
				d.cfg.Data, strings.Join(objects, "\n"))
		}
		if d.engine, err = embedded.Open(cfg); err != nil {
			return fmt.Errorf("%s: %w; name another folder with --data to begin again", d.cfg.Data, err)
		}
		if d.stack, err = d.kept.stack(ctx, d.engine); err != nil {
			return err
		}
		return d.sameQueue()
	}
	d.engine = embedded.New(cfg)
	d.stack, err = stack.New(ctx, d.engine, stack.Config{Indexes: plan.Indexes(), FIFO: d.fifo})
	return err
}

// deploy makes the functions run with a pipeline, and with a publish.yaml if there is one.
func (d *Dev) deploy(ctx context.Context, plan *pipeline.Pipeline, text, published []byte) error {
	for _, name := range plan.Indexes() {
		index, keys := stack.Index(name)
		if err := d.engine.AddIndex(stack.Events, index, keys); err != nil {
			return err
		}
	}
	rank, keys := stack.RankIndex()
	if err := d.engine.AddIndex(stack.Aggregates, rank, keys); err != nil {
		return err
	}
	// This is needed without offload too: an erasure also deletes payloads of an earlier pipeline
	// that had offload.
	if err := stack.CreatePayloads(ctx, d.engine.S3()); err != nil {
		return err
	}
	started, err := d.begin(ctx, plan, published)
	if err != nil {
		return err
	}
	if err := d.kept.deployed(d.stack, text); err != nil {
		return err
	}
	d.text, d.publishText = text, published
	d.running.current.Store(started)
	return nil
}

// name returns the path of a file for messages. It is relative to the working directory if the file
// is below that.
func name(file string) string {
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(short) {
			return short
		}
	}
	return file
}

// run starts the mappings, time to live, and the servers. They run until Close.
func (d *Dev) run() {
	d.makeSwitches()
	d.work.Go(func() { d.poll("ingest", d.stop, d.pollQueue) })
	d.work.Go(func() { d.poll("streams", d.stop, d.pollStream) })
	d.work.Go(func() { d.poll("publish", d.stop, d.pollPublishing) })
	d.work.Go(func() { every(sweepEvery, d.stop, d.sweep) })
	d.work.Go(func() { d.watch(d.stop) })
	d.work.Go(func() { d.api.serve(guard(d.api.listener.Addr(), d.requests.count(d.protocols(wire.New(d.engine))))) })
	if d.cfg.Console != nil {
		d.work.Go(func() { d.console.serve(d.cfg.Console(d)) })
	}
}

// Close ends everything, after the batches and requests that are under way.
func (d *Dev) Close() error {
	return errors.Join(d.Local().Remove(filepath.Dir(d.cfg.File)), d.end())
}

func (d *Dev) end() error {
	close(d.stop)
	late := time.AfterFunc(endTime, d.cut)
	d.api.close()
	d.console.close()
	d.work.Wait()
	late.Stop()
	d.cut()
	return d.kept.close()
}

// Local returns what other commands need to find this ingot dev.
func (d *Dev) Local() target.Local {
	return target.Local{ID: d.id, PID: os.Getpid(), Endpoint: d.api.url(), Console: d.console.url() + d.fragment(), Region: Region,
		Account:     Account,
		EventsTable: stack.Events, AggregatesTable: stack.Aggregates, QueueURL: d.stack.Queue, QuarantineURL: d.stack.Quarantine,
		DeadLetterURL: d.stack.DeadLetters, ArchiveBucket: stack.Bucket, PayloadBucket: stack.Payloads, Pipeline: d.cfg.File}
}

// Engine returns the engine that holds the tables, queues and buckets.
func (d *Dev) Engine() *embedded.Engine { return d.engine }

// Stack returns the names of the tables, queues and buckets.
func (d *Dev) Stack() *stack.Stack { return d.stack }

// Pipeline returns the pipeline that the functions run with now.
func (d *Dev) Pipeline() *pipeline.Pipeline { return d.running.current.Load().plan }

// Counting returns how totals are counted.
func (d *Dev) Counting() aggregate.Counting { return d.cfg.Counting }

// Steps returns what happens in the pipeline.
func (d *Dev) Steps() *Steps { return &d.steps }

// Now returns the time by the clock of the pipeline.
func (d *Dev) Now() time.Time { return d.clock.Now() }

// fragment is the end of the console's URL. Browsers do not send it to servers.
func (d *Dev) fragment() string {
	if d.console == nil || d.cfg.Token == "" {
		return ""
	}
	return "/#token=" + d.cfg.Token
}

// listen takes both ports.
func (d *Dev) listen() (err error) {
	d.api, err = newServer(cmp.Or(d.cfg.Host, loopback), d.cfg.Port, "--port")
	if d.cfg.Console == nil {
		return err
	}
	var second error
	d.console, second = newServer(loopback, d.cfg.ConsolePort, "--port-console")
	var api, console *takenError
	if errors.As(err, &api) && errors.As(second, &console) {
		return fmt.Errorf("ports %d and %d are taken by other programs, perhaps by another ingot dev: end that one, or take free ports "+
			"with --port 0 --port-console 0", api.port, console.port)
	}
	return cmp.Or(err, second)
}

// takenError says that a port is in use. flag is the option that names another.
type takenError struct {
	port int
	flag string
}

func (e *takenError) Error() string {
	return fmt.Sprintf("port %d is taken by another program, perhaps by another ingot dev: end that one, or choose a port with %s",
		e.port, e.flag)
}

// PortTaken reports whether a port cannot be used because another program has it.
func PortTaken(err error) bool {
	const windows syscall.Errno = 10048 // there, EADDRINUSE is a number that no call returns
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windows)
}

// server is an HTTP server on a port of this machine. A nil server serves nothing.
type server struct {
	listener net.Listener
	http     http.Server
}

// loopback is an address that only programs on this machine can reach.
const loopback = "127.0.0.1"

// newServer takes a port. flag is the option that names another.
func newServer(host string, port int, flag string) (*server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if PortTaken(err) {
		return nil, &takenError{port, flag}
	}
	if err != nil {
		return nil, fmt.Errorf("port %d of %s cannot be used (%s): choose another with %s", port, host, reason(err), flag)
	}
	return &server{listener: listener, http: http.Server{ReadHeaderTimeout: 10 * time.Second}}, nil
}

// reason returns the last part of an error of package net, which says what happened without naming
// addresses.
func reason(err error) string {
	text := err.Error()
	return text[strings.LastIndex(text, ": ")+2:]
}

func (s *server) url() string {
	if s == nil {
		return ""
	}
	return "http://" + s.listener.Addr().String()
}

func (s *server) serve(h http.Handler) {
	s.http.Handler = h
	_ = s.http.Serve(s.listener) // it ends with close
}

// endTime is how long Close waits for requests and batches that are under way.
const endTime = 2 * time.Second

func (s *server) close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	_ = s.listener.Close() // for a server that does not serve yet
}
