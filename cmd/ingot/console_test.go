package main

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/demo"
)

// consoleOf runs ingot console. It returns a function that asks it as a browser does, the token,
// and a function that ends it. The code of an answer is the status. With a body, it is a POST.
func consoleOf(t *testing.T, line string) (ask func(path, body string) ran,
	token string, end func() ran) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	out, in := io.Pipe()
	var talk strings.Builder
	ended := make(chan int, 1)
	identify([]string{"console"})
	go func() {
		defer in.Close()
		ended <- run(ctx, strings.Fields("console --port 0 "+line), os.LookupEnv, strings.NewReader(""), in, &talk)
	}()
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("exit code %d: %s", <-ended, talk.String())
	}
	page, token, found := strings.Cut(strings.TrimSpace(url), "/#token=")
	if !found || !strings.HasPrefix(page, "http://127.0.0.1:") || len(token) < 26 {
		t.Fatalf("it printed %q", url)
	}
	jar, err := cookiejar.New(nil)
	must.Succeed(t, err)
	client := http.Client{Jar: jar, Transport: &http.Transport{DisableKeepAlives: true}}
	ask = func(path, body string) ran {
		t.Helper()
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		r, err := http.NewRequestWithContext(ctx, method, page+path, strings.NewReader(body))
		must.Succeed(t, err)
		r.Header.Set("Origin", page)
		answer, err := client.Do(r)
		must.Succeed(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		must.Succeed(t, err)
		return ran{line: path, code: answer.StatusCode, out: string(text)}
	}
	return ask, token, func() ran {
		cancel()
		code := <-ended
		return ran{line: "console", code: code, errors: talk.String()}
	}
}

// The command serves the console of a stack with the address that it prints, and nothing without
// the token in it.
func TestConsoleOfAStack(t *testing.T) {
	env := cloud(t, mappings.New())
	setenv(t, env)
	t.Chdir(t.TempDir())
	earthquakes := demo.Bundles()[0]
	file, err := fs.ReadFile(earthquakes.Files, earthquakes.File)
	if err == nil {
		err = os.WriteFile("pipeline.yaml", file, 0o600)
	}
	must.Succeed(t, err)
	ask, token, end := consoleOf(t, "--pipeline pipeline.yaml --stack shop --endpoint-url "+env["INGOT_ENDPOINT_URL"])
	ask("/api/about", "").says(t, 401) // it has no token yet
	ask("/api/session", `{"token":"`+token+`"}`).says(t, 204)
	var got struct {
		Name, Place string
		Live, Write bool
	}
	ask("/api/about", "").says(t, 200).reads(t, &got)
	if got.Name != "shop" || got.Live || got.Write || !strings.Contains(got.Place, "123456789012") {
		t.Errorf("%+v", got)
	}
	ask("/api/flow", "").says(t, 200).prints(t, `"name":"quarantine"`)
	ask("/api/quarantine", "").says(t, 200).prints(t, `"letters":[]`)
	ask("/api/resend", `{"id":"x"}`).says(t, 404) // there is no --write
	end().says(t, exitFine, "stack shop").lacks(t, token)
}

// ingot dev serves a console of its own, and the command says where.
func TestConsoleOfDev(t *testing.T) {
	w := newDevWorld(t)
	if w.dev.Local().Console == "" {
		w.run(1, "console --pipeline pipeline.yaml --local")
		return
	}
	must.Equal(t, strings.TrimSpace(w.run(0, "console --pipeline pipeline.yaml --local").out), w.dev.Local().Console)
}

// The console goes on with what is deployed later, and looks once a minute at most.
func TestConsoleFollowsADeployment(t *testing.T) {
	w := newDevWorld(t)
	t.Setenv("INGOT_PII_KEY", w.env["INGOT_PII_KEY"])
	now := must.Time("2026-03-01T12:00:00Z")
	var said strings.Builder
	a := appOf(cli.IO{Env: os.LookupEnv, Stderr: &said, Clock: env.Env{Now: func() time.Time { return now }}})
	a.Flags.Local = true
	found, err := a.Find(t.Context())
	must.Succeed(t, err)
	current, err := a.Follow(t.Context(), found)
	must.Succeed(t, err)
	more := strings.Replace(letterSpec, "epoch: 1", "epoch: 2", 1) +
		"  again: {since: 2, onExpire: keep, from: {sale: {values: {sales: count}}}}\n"
	write(t, "pipeline.yaml", more)
	w.dev.Reload(t.Context())
	must.Equal(t, current().Epoch(), 1)
	now = now.Add(time.Minute)
	if p := current(); p.Epoch() != 2 || len(p.Definitions()) != 2 {
		t.Errorf("epoch %d, with %d aggregates", p.Epoch(), len(p.Definitions()))
	}
	_, err = w.dev.Engine().DynamoDB().DeleteTable(t.Context(),
		&dynamodb.DeleteTableInput{TableName: &found.AggregatesTable})
	must.Succeed(t, err)
	for range 2 {
		now = now.Add(time.Minute)
		must.Equal(t, current().Epoch(), 2)
	}
	if got := said.String(); !strings.HasPrefix(got,
		"ingot: another pipeline.yaml is deployed; the console goes on with it, at epoch 2\ningot: the console goes on with the pipeline.yaml that it has") ||
		strings.Count(got, "\n") != 2 {
		t.Errorf("it said:\n%s", got)
	}
}

func TestConsoleRefuses(t *testing.T) {
	env := cloud(t, mappings.New())
	setenv(t, env)
	t.Chdir(t.TempDir())
	for want, line := range map[string]string{
		"--port 70000: give a port": "--port 70000",
		"pipeline.yaml":             "--stack shop --endpoint-url " + env["INGOT_ENDPOINT_URL"],
		"extra":                     "extra",
		"nowhere":                   "--stack nowhere --endpoint-url " + env["INGOT_ENDPOINT_URL"],
	} {
		pipedWith(t, env, "", "console --pipeline pipeline.yaml "+line).says(t, exitUsage, want)
	}
}
