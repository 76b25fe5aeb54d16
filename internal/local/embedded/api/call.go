package api

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
)

// Operation names one API of one service. It also lists the input fields that the engine
// implements.
type Operation struct {
	service, api string
	fields       string // space-separated names of the supported input fields
	check        func(in any) error
}

// Op returns the operation of that name. fields holds the names of its supported input fields,
// separated by spaces.
func Op(service, api, fields string) Operation {
	return Operation{service: service, api: api, fields: fields}
}

// Checked returns the operation with a check of its input, which every call makes first. The check
// gets a pointer to the input.
func (op Operation) Checked(check func(in any) error) Operation {
	op.check = check
	return op
}

// Call runs one client call. It counts the request, refuses fields that are not implemented, runs
// the interceptor, and wraps every error as the SDK does.
func Call[I, O any](ctx context.Context, c *Core, op Operation, in *I, do func(*I) (*O, error)) (*O, error) {
	if in == nil {
		in = new(I)
	}
	c.Meter.request(op.api)
	run := func() (*O, error) {
		if err := ctx.Err(); err != nil {
			return nil, &smithy.CanceledError{Err: err}
		}
		if err := refuseUnsupported(c, op, in); err != nil {
			return nil, err
		}
		if op.check != nil {
			if err := op.check(in); err != nil {
				return nil, err
			}
		}
		if c.Config.Journal != nil {
			return kept(c.Config.Journal, in, do)
		}
		return do(in)
	}
	if c.Config.Intercept == nil {
		out, err := run()
		if err != nil {
			return nil, wrap(op, err)
		}
		return out, nil
	}
	answer, err := c.Config.Intercept(ctx, op.api, in, func() (any, error) {
		out, err := run()
		if err != nil {
			return nil, wrap(op, err) // an untyped nil: a typed nil pointer in an any is not nil
		}
		return out, nil
	})
	if err != nil {
		return nil, wrap(op, err)
	}
	out, ok := answer.(*O)
	if !ok {
		return nil, wrap(op, errors.New("embedded: "+op.api+": Intercept returned neither an error nor the call's answer"))
	}
	return out, nil
}

// kept makes a call and returns when the journal has made its changes safe. By then everything that
// the call has read is safe too.
func kept[I, O any](j Journal, in *I, do func(*I) (*O, error)) (*O, error) {
	if err := j.Ready(); err != nil {
		return nil, unkept(err)
	}
	out, err := do(in)
	if lost := j.Safe(); lost != nil {
		return nil, unkept(lost)
	}
	return out, err
}

func wrap(op Operation, err error) error {
	var already *smithy.OperationError
	if errors.As(err, &already) {
		return err
	}
	return &smithy.OperationError{ServiceID: op.service, OperationName: op.api, Err: err}
}

type field struct {
	index int
	name  string
}

// refuseUnsupported returns an error for the first field of in that is set and that op does not
// list.
func refuseUnsupported[I any](c *Core, op Operation, in *I) error {
	cached, ok := c.refused.Load(op.api)
	if !ok {
		cached = unsupportedFields(reflect.TypeFor[I](), op.fields)
		c.refused.Store(op.api, cached)
	}
	v := reflect.ValueOf(in).Elem()
	for _, f := range cached.([]field) {
		if !isZero(v.Field(f.index)) {
			return Unsupported(op.api, f.name)
		}
	}
	return nil
}

func unsupportedFields(t reflect.Type, fields string) []field {
	supported := strings.Fields(fields)
	for _, name := range supported {
		if _, ok := t.FieldByName(name); !ok {
			panic("embedded: " + t.Name() + " has no field " + name)
		}
	}
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.IsExported() && !slices.Contains(supported, f.Name) {
			out = append(out, field{i, f.Name})
		}
	}
	return out
}

// RefuseNested does for a structure inside an input what refuseUnsupported does for the input.
func RefuseNested(c *Core, api string, in any, fields string) error {
	v := reflect.ValueOf(in)
	cached, ok := c.refused.Load(v.Type())
	if !ok {
		cached = unsupportedFields(v.Type(), fields)
		c.refused.Store(v.Type(), cached)
	}
	for _, f := range cached.([]field) {
		if !isZero(v.Field(f.index)) {
			return Unsupported(api, v.Type().Name()+"."+f.name)
		}
	}
	return nil
}

// isZero reports whether v is not set. false and the word NONE count as not set, because they ask
// for nothing.
func isZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return v.IsNil() || v.Elem().Kind() == reflect.Bool && !v.Elem().Bool()
	case reflect.String:
		return v.Len() == 0 || v.String() == "NONE"
	default:
		return v.IsZero()
	}
}
