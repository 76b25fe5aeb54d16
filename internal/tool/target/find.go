package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"github.com/ingot-events/ingot/internal/base/awsclient"
	"github.com/ingot-events/ingot/internal/local/nearby"
	"github.com/ingot-events/ingot/internal/tool/samconfig"
)

// Options say which stack is meant. At most one of Stack, ConfigEnv and Local is set. If none is,
// the INGOT_* variables say it. If they are not set either, it is the ingot dev that runs for this
// folder, unless Profile, Region or EndpointURL say where to look. Otherwise it is the default
// environment of samconfig.toml.
type Options struct {
	Stack       string // name of a CloudFormation stack
	ConfigEnv   string // environment of samconfig.toml
	Local       bool   // the ingot dev of this folder
	Profile     string // as in the AWS CLI; empty: the SDK's own rules
	Region      string
	EndpointURL string
	Dir         string // folder of samconfig.toml, and where the search for .ingot begins; empty: the working directory
	Env         func(string) (string, bool)
}

// Find returns the stack that o means. The error is a [*UsageError], a [*CredentialsError], or
// something that went wrong on the way.
func Find(ctx context.Context, o Options) (*Target, error) {
	o.Dir = cmp.Or(o.Dir, ".")
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	switch {
	case o.Local && (o.Stack != "" || o.ConfigEnv != ""):
		return nil, usagef("--local means the ingot dev on this machine, so no stack can be named with it; leave one of them out")
	case o.Stack != "" && o.ConfigEnv != "":
		return nil, usagef("--stack and --config-env both name a stack; leave one of them out")
	case o.Local && (o.Profile != "" || o.Region != "" || o.EndpointURL != ""):
		return nil, usagef("--local means the ingot dev on this machine: leave --profile, --region and --endpoint-url out")
	case o.Local:
		return findLocal(ctx, o)
	case o.Stack != "":
		return stack(ctx, o, samconfig.Deployment{Stack: o.Stack}, true)
	case o.ConfigEnv == "" && (o.value(eventsVariable) != "" || o.value(aggregatesVariable) != ""):
		return environment(ctx, o)
	}
	note := ""
	if o.ConfigEnv == "" && o.Profile == "" && o.Region == "" && o.EndpointURL == "" {
		t, err := findLocal(ctx, o)
		var none *notRunning
		switch {
		case err == nil:
			t.Note = fmt.Sprintf("no stack is named, so this is the %s; for a stack, write --stack NAME", t)
			return t, nil
		case !errors.As(err, &none):
			return t, err
		case none.stale != "":
			note = fmt.Sprintf("the ingot dev that wrote %s does not run any more, so this is the stack that samconfig.toml names",
				none.stale)
		}
	}
	d, err := deployment(o)
	if err != nil {
		return nil, err
	}
	t, err := stack(ctx, o, d, o.ConfigEnv != "")
	if t != nil {
		t.Note = note
	}
	return t, err
}

// Place returns where a stack is or will be: a target with a name, a Region, and, if the
// credentials say it, an account. The stack need not exist. With Local it is the ingot dev, as for
// [Find].
func Place(ctx context.Context, o Options) (*Target, error) {
	if o.Local {
		return Find(ctx, o)
	}
	o.Dir = cmp.Or(o.Dir, ".")
	d := samconfig.Deployment{Stack: o.Stack}
	if o.Stack == "" {
		var err error
		if d, err = deployment(o); err != nil {
			return nil, err
		}
	}
	o.Region, o.Profile = cmp.Or(o.Region, d.Region), cmp.Or(o.Profile, d.Profile)
	c, err := awsConfig(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &Target{Kind: KindStack, Name: d.Stack, Region: c.Region, Endpoint: aws.ToString(c.BaseEndpoint), AWS: c, env: o.Env}
	out, err := sts.NewFromConfig(c).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err == nil {
		t.Account = aws.ToString(out.Account)
	}
	return t, ctx.Err()
}

func (o Options) value(name string) string {
	value, _ := o.Env(name)
	return value
}

// deployment reads which stack samconfig.toml means.
func deployment(o Options) (d samconfig.Deployment, err error) {
	name := filepath.Join(o.Dir, "samconfig.toml")
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.ConfigEnv != "":
		return d, usagef("--config-env %s: there is no samconfig.toml here; run the command in the folder that has it, or name the "+
			"stack with --stack NAME", o.ConfigEnv)
	case errors.Is(err, fs.ErrNotExist):
		return d, usagef("which stack? No ingot dev runs for this folder, and there is no samconfig.toml here; name a stack with " +
			"--stack NAME, or start one with: ingot dev")
	case err != nil:
		return d, usagef("%s: %s", name, Reason(err))
	}
	if d, err = samconfig.DeploymentOf(name, text, cmp.Or(o.ConfigEnv, "default")); err != nil {
		return d, usagef("%s", err)
	}
	return d, nil
}

// awsConfig reads profile, Region, endpoint and credentials by the rules of the AWS CLI.
func awsConfig(ctx context.Context, o Options) (aws.Config, error) {
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})} // the error has all that matters
	if o.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Region != "" {
		options = append(options, config.WithRegion(o.Region))
	}
	c, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return c, Denied(err, "AWS configuration: %s", err)
	}
	if c.Region == "" {
		return c, usagef("no region is known: write --region, such as --region eu-central-1, or set AWS_REGION; for the ingot dev on " +
			"this machine, write --local")
	}
	if o.EndpointURL != "" {
		u, err := url.Parse(o.EndpointURL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return c, usagef("--endpoint-url %q: write a URL, such as http://127.0.0.1:4566", o.EndpointURL)
		}
		c.BaseEndpoint = &o.EndpointURL
	}
	if c.BaseEndpoint != nil && onThisMachine(*c.BaseEndpoint) {
		c.HTTPClient = nearby.Client()
	} else if c.HTTPClient != nil {
		c.HTTPClient = awsclient.Client{HTTPClient: c.HTTPClient}
	}
	if _, err := c.Credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		return c, Denied(err, "there are no AWS credentials: %s; log in, name a profile with --profile, or set AWS_ACCESS_KEY_ID and "+
			"AWS_SECRET_ACCESS_KEY", Reason(err))
	}
	return c, nil
}

// OnThisMachine reports whether an emulator on this machine stands for AWS.
func (t *Target) OnThisMachine() bool { return onThisMachine(aws.ToString(t.AWS.BaseEndpoint)) }

func onThisMachine(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// stack reads the outputs of a stack.
func stack(ctx context.Context, o Options, d samconfig.Deployment, named bool) (*Target, error) {
	o.Region, o.Profile = cmp.Or(o.Region, d.Region), cmp.Or(o.Profile, d.Profile)
	c, err := awsConfig(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &Target{Kind: KindStack, Name: d.Stack, Named: named, Region: c.Region, Endpoint: aws.ToString(c.BaseEndpoint), AWS: c, env: o.Env}
	out, err := t.CloudFormation().DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &d.Stack})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case Refused(err):
		return nil, Denied(err, "the credentials may not read stack %s in %s: %s", d.Stack, t.place(), Reason(err))
	case err != nil && absent(err), err == nil && len(out.Stacks) == 0:
		from := ""
		if d.From != "" {
			from = " (" + d.From + " names it)"
		}
		return nil,
			&UsageError{what: fmt.Sprintf("there is no stack %s in %s%s; deploy it, or name another with --stack, --region or --profile",
				d.Stack, t.place(), from),
				Undeployed: d.From != ""}
	case err != nil:
		return nil, fmt.Errorf("asking CloudFormation for stack %s in %s: %s", d.Stack, t.place(), Reason(err))
	}
	do := ""
	switch s := out.Stacks[0]; s.StackStatus {
	case types.StackStatusReviewInProgress:
		do = "its first change set was not carried out; deploy it first"
	case types.StackStatusRollbackComplete:
		do = "its first deployment failed and left nothing behind; delete it (aws cloudformation delete-stack), and deploy it again"
	default:
		return t, t.read(s)
	}
	return nil, &UsageError{what: fmt.Sprintf("stack %s in %s is empty: %s", d.Stack, t.place(), do), Undeployed: d.From != ""}
}

// absent reports whether CloudFormation says that there is no such stack.
func absent(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "ValidationError" && strings.Contains(api.ErrorMessage(), "does not exist")
}

// read copies CloudFormation's description of a stack.
func (t *Target) read(s types.Stack) error {
	t.Name = aws.ToString(s.StackName)
	if id, err := arn.Parse(aws.ToString(s.StackId)); err == nil {
		t.Account = id.AccountID
	}
	t.Protected = aws.ToBool(s.EnableTerminationProtection)
	for _, p := range s.Parameters {
		t.Protected = t.Protected || aws.ToString(p.ParameterKey) == "DeletionProtection" && aws.ToString(p.ParameterValue) == "true"
	}
	outputs := map[string]string{}
	for _, out := range s.Outputs {
		outputs[aws.ToString(out.OutputKey)] = aws.ToString(out.OutputValue)
	}
	if len(outputs) == 0 {
		return fmt.Errorf("stack %s has no outputs, and its state is %s: its deployment is not complete, or its template is not Ingot's",
			t.Name, s.StackStatus)
	}
	for _, p := range parts {
		*p.field(t) = outputs[p.output]
	}
	t.EventsTable, t.AggregatesTable, t.SecretARN = outputs[eventsOutput], outputs[aggregatesOutput], outputs[secretOutput]
	if t.EventsTable != "" && t.AggregatesTable != "" {
		return nil
	}
	var missing []string
	for _, name := range Outputs() {
		if outputs[name] == "" && name != secretOutput {
			missing = append(missing, name)
		}
	}
	return older(t.Name, missing)
}

// environment reads the INGOT_* variables.
func environment(ctx context.Context, o Options) (*Target, error) {
	for _, name := range []string{eventsVariable, aggregatesVariable} {
		if o.value(name) == "" {
			return nil, usagef("%s is not set: set INGOT_TABLE and INGOT_AGGREGATES_TABLE both, or name a stack with --stack NAME", name)
		}
	}
	o.EndpointURL = cmp.Or(o.EndpointURL, o.value(endpointVariable))
	c, err := awsConfig(ctx, o)
	if err != nil {
		return nil, err
	}
	t := &Target{Kind: KindEnvironment, Named: true, Region: c.Region, Endpoint: aws.ToString(c.BaseEndpoint), AWS: c, env: o.Env,
		EventsTable: o.value(eventsVariable), AggregatesTable: o.value(aggregatesVariable)}
	t.Name = t.EventsTable
	for _, p := range parts {
		*p.field(t) = o.value(p.variable)
	}
	out, err := t.DynamoDB().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.EventsTable})
	var api smithy.APIError
	switch {
	case err == nil:
		if id, err := arn.Parse(aws.ToString(out.Table.TableArn)); err == nil {
			t.Account = id.AccountID
		}
		t.Protected = aws.ToBool(out.Table.DeletionProtectionEnabled)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &api) && api.ErrorCode() == "AccessDeniedException":
		// Reading the table may still be allowed.
	case Refused(err):
		return nil, Denied(err, "the credentials are refused in %s: %s", t.place(), Reason(err))
	case errors.As(err, &api) && api.ErrorCode() == "ResourceNotFoundException":
		return nil, usagef("there is no table %s in %s: INGOT_TABLE names it", t.EventsTable, t.place())
	default:
		return nil, fmt.Errorf("asking for table %s in %s: %s", t.EventsTable, t.place(), Reason(err))
	}
	return t, nil
}
