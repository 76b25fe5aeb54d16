package console

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestPictures takes the two pictures of docs/images anew, if -screenshots names that folder. Flow
// has had two minutes of orders then, some of them twice.
func TestPictures(t *testing.T) {
	if filepath.Base(*screenshots) != "images" {
		t.Skip("slow: it takes the pictures of docs/images, with -screenshots ../../../docs/images")
	}
	b, d := browse(t), shop(t)
	fillShop(t, d)
	b.theme("light")
	b.open(d)
	ctx := t.Context()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for n := range 450 {
		<-tick.C
		list := orders(1000+40*n, 8+n*n%17)
		must.Succeed(t, send(ctx, d, append(list, list[:n%5]...)...))
	}
	shoot := func(name string, height int64) {
		b.size(1180, height)
		b.run("document.querySelector('#letter')?.scrollIntoView()")
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err == nil {
			err = os.WriteFile(filepath.Join(*screenshots, name), png, 0o644)
		}
		must.Succeed(t, err)
	}
	b.run("document.getElementById('footer').replaceChildren(); new Promise((done) => setTimeout(done, 1500))")
	shoot("console-flow.png", 900)
	b.theme("dark")
	b.size(1180, 1500)
	b.view("quarantine")
	b.detail("quarantine")
	shoot("console-quarantine.png", 800)
}
