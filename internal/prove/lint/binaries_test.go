package lint

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
)

// module is the prefix of this repository's own packages.
const module = "github.com/ingot-events/ingot/"

// unshippable lists what the deployed functions must not contain: the engine that stands in for
// AWS, packages that only tests or the command-line tool need, and packages that cost megabytes or
// milliseconds at each cold start.
var unshippable = []string{
	"testing", "flag", "net/rpc", "net/http/httptest",
	module + "internal/local/embedded", module + "internal/local/lambda", module + "internal/esm",
	module + "internal/local/stack", module + "internal/testworld",
	module + "internal/tool/demo",
	module + "internal/prove/sim", module + "internal/tool/dev", module + "ingottest",
	module + "store", module + "verify", module + "cmd/ingot",
	module + "internal/tool/console", module + "pipeline/question", module + "internal/table/walk",
	"go.etcd.io/", "github.com/fsnotify/", "github.com/spf13/", "github.com/schollz/", "github.com/stretchr/", "github.com/google/go-cmp/",
	"github.com/rogpeppe/",
	"github.com/testcontainers/", "github.com/docker/", "github.com/moby/", "github.com/cloudevents/", "github.com/json-iterator/",
	"go.uber.org/", "go.opentelemetry.io/", "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams", "github.com/chromedp/",
	"github.com/aws/aws-sdk-go-v2/config", "github.com/aws/aws-sdk-go-v2/feature/ec2", "github.com/aws/aws-sdk-go-v2/service/sso",
	"github.com/aws/aws-sdk-go-v2/service/ssooidc", "github.com/aws/aws-sdk-go-v2/service/signin",
	"github.com/aws/aws-sdk-go-v2/service/sts",
}

func TestFunctionsCarryNoTestCode(t *testing.T) {
	for _, command := range []string{"ingest", "streams"} {
		t.Run(command, func(t *testing.T) {
			deps := dependencies(t, "lambda.norpc", "./cmd/"+command)
			for _, dep := range deps {
				for _, bad := range unshippable {
					if dep == strings.TrimSuffix(bad, "/") || strings.HasPrefix(dep, strings.TrimSuffix(bad, "/")+"/") {
						t.Errorf("it carries %s", dep)
					}
				}
			}
			if !slices.Contains(deps, module+"internal/table/put") {
				t.Error("it does not even carry the stages of a put; the list of dependencies is wrong")
			}
		})
	}
}

// forTools lists code of packages that the functions need, but that only people and tools ask for.
// The linker leaves it out as long as nothing that a function does leads to it.
var forTools = []string{
	"pipeline.(*Pipeline).Describe", "pipeline.(*Pipeline).Pattern", "pipeline.(*compiler).patterns", "pipeline.doubtsOf",
	"pipeline.(*doubts).settled",
	"internal/plan/planner.(*Planner).ShownRevision",
	"internal/table/generations.DeployedFile",
}

// TestFunctionsDescribeNothing shows that the linker leaves out of the functions what is for tools.
// The tool has all of it, so a name in the list that nothing has any more is found.
func TestFunctionsDescribeNothing(t *testing.T) {
	slow.Test(t, "it builds both functions and the tool")
	folder := t.TempDir()
	build := exec.Command("go", "build", "-tags=lambda.norpc", "-ldflags=-w", "-o", folder, "./cmd/ingest", "./cmd/streams", "./cmd/ingot")
	build.Dir = "../../.."
	build.Env = append(build.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for command, has := range map[string]bool{"ingest": false, "streams": false, "ingot": true} {
		symbols := symbolsOf(t, filepath.Join(folder, command))
		must.Equal(t, slices.Contains(symbols, module+"internal/plan/jsonschema.Compile"), (command != "streams"), command)
		for _, name := range forTools {
			if slices.Contains(symbols, module+name) != has {
				t.Errorf("that %s contains %s is %v", command, name, !has)
			}
		}
		if !slices.Contains(symbols, module+"pipeline.compile") {
			t.Errorf("%s does not even contain pipeline.compile; the list of symbols is wrong", command)
		}
	}
}

// symbolsOf returns the names of what is linked into a binary.
func symbolsOf(t *testing.T, binary string) []string {
	t.Helper()
	lines, err := exec.Command("go", "tool", "nm", binary).Output()
	must.Succeed(t, err)
	var names []string
	for line := range strings.Lines(string(lines)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			names = append(names, fields[len(fields)-1])
		}
	}
	return names
}

// TestLocalBuildCarriesTheEngine shows that the local build is the same functions with the engine.
// It has no AWS configuration with which it could reach out.
func TestLocalBuildCarriesTheEngine(t *testing.T) {
	for _, command := range []string{"ingest", "streams"} {
		deps := dependencies(t, "lambda.norpc,ingotlocal", "./cmd/"+command)
		if !slices.Contains(deps, module+"internal/local/embedded") {
			t.Errorf("the local build of %s lacks the engine", command)
		}
	}
	for tags, reaches := range map[string]bool{"": true, "ingotlocal": false} {
		if slices.Contains(files(t, tags, "./internal/run/function"), "aws_environment.go") != reaches {
			t.Errorf("with tags %q, that the functions can reach AWS is not %v", tags, reaches)
		}
	}
}

// TestPurePackagesStayPure shows that the packages that decide what an event is and what it counts
// know neither AWS nor the network.
func TestPurePackagesStayPure(t *testing.T) {
	pure := []string{"internal/base/excerpt", "internal/base/itemform", "internal/base/nearest", "event", "keys", "envelope", "aggregate",
		"internal/plan/lanes", "internal/plan/where", "internal/plan/values", "internal/plan/planner", "internal/plan/lifetime",
		"internal/plan/yamlfile", "internal/plan/declare", "internal/plan/jsonschema", "internal/plan/packed", "pipeline"}
	args := []string{"-f={{.ImportPath}}{{range .Deps}},{{.}}{{end}}"}
	for _, pkg := range pure {
		args = append(args, "./"+pkg)
	}
	lists := list(t, args...)
	must.Equal(t, len(lists), len(pure))
	for _, line := range lists {
		names := strings.Split(line, ",")
		for _, dep := range names {
			if dep == "net" || strings.HasPrefix(dep, "net/http") || strings.HasPrefix(dep, "github.com/aws/") ||
				dep == module+"store" || dep == module+"handler" || strings.HasPrefix(dep, module+"internal/") &&
				!slices.Contains(pure, strings.TrimPrefix(dep, module)) {
				t.Errorf("%s depends on %s", names[0], dep)
			}
		}
	}
}

func dependencies(t *testing.T, tags, pkg string) []string {
	t.Helper()
	return list(t, "-deps", "-tags="+tags, pkg)
}

// files returns the names of a package's files that are built with the tags.
func files(t *testing.T, tags, pkg string) []string {
	t.Helper()
	return list(t, "-f={{range .GoFiles}}{{.}} {{end}}", "-tags="+tags, pkg)
}

// list returns the words that go list prints.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = "../../.."
	cmd.Env = append(cmd.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GOOS=linux")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v\n%s", args, err, stderr.String())
	}
	return strings.Fields(string(out))
}
