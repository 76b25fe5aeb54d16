package iam

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

// Statement allows actions on resources.
type Statement struct {
	Actions   []string // "dynamodb:PutItem"
	Resources []string // as [Call.Resource], with * for any text
	// Keys are patterns of partition keys, if only requests for such items are allowed. It is the
	// condition ForAllValues:StringLike on dynamodb:LeadingKeys, which a request without keys meets
	// (IAM User Guide, "Multivalued context keys").
	Keys []string `json:",omitempty"`
}

// Role is who sends requests. It is safe for concurrent use.
type Role struct {
	Name       string
	Statements []Statement

	mu     sync.Mutex
	used   map[use]bool
	denied []string
}

type use struct {
	statement int
	action    string
}

// Right is an action that a statement allows.
type Right struct{ Action, On string }

// Rights lists what a role allows.
func (r *Role) Rights() (list []Right) {
	for _, s := range r.Statements {
		for _, action := range s.Actions {
			list = append(list, s.right(action))
		}
	}
	return list
}

func (s *Statement) right(action string) Right {
	return Right{action, strings.Join(slices.Concat(s.Resources, s.Keys), " ")}
}

// Used returns which rights of a role were used.
func (r *Role) Used() (list []Right) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for u := range r.used {
		list = append(list, r.Statements[u.statement].right(u.action))
	}
	return list
}

// mostDenied is how many denials are remembered: a function that is denied tries again and again.
const mostDenied = 100

// Denied returns the first calls of a role that were denied.
func (r *Role) Denied() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.denied)
}

type key struct{}

// As returns a context for the calls of a role.
func As(ctx context.Context, r *Role) context.Context { return context.WithValue(ctx, key{}, r) }

// Of returns the role of a caller, or nil if everything is allowed to it. known is false if the
// context says nothing.
func Of(ctx context.Context) (r *Role, known bool) {
	r, known = ctx.Value(key{}).(*Role)
	return r, known
}

// Intercept is what the engine calls around every client call.
type Intercept = func(ctx context.Context, api string, input any, call func() (any, error)) (any, error)

// Judged denies the calls that the role of the caller does not allow. inner may be nil. A call that
// it refuses is not judged, as a request that is lost is not.
func Judged(inner Intercept) Intercept {
	return func(ctx context.Context, api string, input any, call func() (any, error)) (any, error) {
		r, _ := Of(ctx)
		judged := call
		if r != nil {
			judged = func() (any, error) {
				if err := r.Deny(Calls(api, input)...); err != nil {
					return nil, err
				}
				return r.told(call, input)
			}
		}
		if inner == nil {
			return judged()
		}
		return inner(ctx, api, input, judged)
	}
}

// Deny returns the error of the first call that the role does not allow.
func (r *Role) Deny(calls ...Call) error {
	for _, c := range calls {
		if !r.allows(c) {
			r.mu.Lock()
			if len(r.denied) < mostDenied {
				r.denied = append(r.denied, c.Action+" on "+c.Resource+" "+strings.Join(c.Keys, " "))
			}
			r.mu.Unlock()
			return r.denial(c)
		}
	}
	return nil
}

func (r *Role) allows(c Call) bool {
	i := slices.IndexFunc(r.Statements, func(s Statement) bool { return s.allows(c) })
	if i < 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == nil {
		r.used = map[use]bool{}
	}
	r.used[use{i, c.Action}] = true
	return true
}

func (r *Role) denial(c Call) error {
	return &smithy.GenericAPIError{Code: cmp.Or(denials[c.service()], "AccessDenied"), Fault: smithy.FaultClient,
		Message: "User: arn:aws:sts::000000000000:assumed-role/" + r.Name + " is not authorized to perform: " + c.Action +
			" on resource: " + c.Resource + " because no identity-based policy allows the " + c.Action + " action"}
}

// told makes a call. That an object is missing is told only to somebody who may list the bucket: to
// others S3 says that it is forbidden (Amazon S3 API Reference, GetObject, "Permissions").
func (r *Role) told(call func() (any, error), input any) (any, error) {
	out, err := call()
	var missing *types.NoSuchKey
	if in, ok := input.(*s3.GetObjectInput); ok && errors.As(err, &missing) {
		if c := (Call{Action: "s3:ListBucket", Resource: "s3:" + *in.Bucket}); !r.allows(c) {
			return nil, r.denial(c)
		}
	}
	return out, err
}

// denials are the codes with which services deny, where it is not AccessDenied (the pages of common
// errors of each).
var denials = map[string]string{"dynamodb": "AccessDeniedException", "lambda": "AccessDeniedException",
	"logs": "AccessDeniedException", "secretsmanager": "AccessDeniedException"}

func (s *Statement) allows(c Call) bool {
	if !slices.Contains(s.Actions, c.Action) ||
		!slices.ContainsFunc(s.Resources, func(pattern string) bool { return like(pattern, c.Resource) }) {
		return false
	}
	return s.Keys == nil || !slices.ContainsFunc(c.Keys, func(pk string) bool {
		return !slices.ContainsFunc(s.Keys, func(pattern string) bool { return like(pattern, pk) })
	})
}

// like reports whether text is like pattern, in which * stands for any text.
func like(pattern, text string) bool {
	if !strings.Contains(pattern, "*") {
		return pattern == text
	}
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	text, begins := strings.CutPrefix(text, parts[0])
	for _, part := range parts[1:last] {
		_, after, found := strings.Cut(text, part)
		text, begins = after, begins && found
	}
	return begins && strings.HasSuffix(text, parts[last])
}
