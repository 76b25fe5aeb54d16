package command

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// Before it writes, a command says where. A protected stack must be named for that.
func TestAnnounce(t *testing.T) {
	stack := target.Target{Kind: target.KindStack, Name: "shop", Account: "123456789012", Region: "eu-central-1"}
	for _, tt := range []struct {
		protected, named bool
		says             string
	}{
		{false, false, "ingot: this changes stack shop, account 123456789012, region eu-central-1\n"},
		{true, true, "ingot: this changes stack shop, account 123456789012, region eu-central-1\n"},
		{true, false, ""},
	} {
		var stderr bytes.Buffer
		a := App{IO: cli.IO{Stderr: &stderr}}
		one := stack
		one.Protected, one.Named = tt.protected, tt.named
		err := a.Announce(&one)
		if (err != nil) != (tt.says == "") || stderr.String() != tt.says {
			t.Errorf("%+v: %v, %q", tt, err, &stderr)
		}
		var exit *cli.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.Code != cli.Refuses) {
			t.Error(err)
		}
	}
}
