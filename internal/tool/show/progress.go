package show

import (
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
)

// Step says how far a piece of work is. The zero Step means that it is over.
type Step struct {
	Phase string
	Done  int
	Total int // 0 if unknown
}

// redraw is the shortest time between two drawings of a bar.
const redraw = 100 * time.Millisecond

// NewProgress shows on w how far a piece of work is. On a terminal it shows a bar with the
// percentage, the time taken and the time left. Otherwise it writes a line now and then.
func NewProgress(w io.Writer, terminal bool) func(Step) {
	if terminal {
		return bar(w)
	}
	return plainLines(w)
}

// These are the columns that a bar has, beside its phase and the figures, in a terminal of 80.
const (
	widest, narrowest = 30, 8
	besideBar         = len(" 100% || (/) [1h23m45s:1h23m45s]")
)

func barWidth(s Step) int {
	return max(narrowest, min(widest, 79-utf8.RuneCountInString(s.Phase)-besideBar-2*len(strconv.Itoa(s.Total))))
}

// bar draws one bar for each phase and clears it when the phase is over.
func bar(w io.Writer) func(Step) {
	var current *progressbar.ProgressBar
	phase := ""
	return func(s Step) {
		if s.Phase != phase {
			if current != nil {
				_ = current.Finish()
			}
			current, phase = nil, s.Phase
		}
		if phase == "" {
			return
		}
		if current == nil {
			total := int64(s.Total)
			if total == 0 {
				total = -1
			}
			current = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionSetDescription(s.Phase),
				progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(redraw),
				progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(barWidth(s)),
				progressbar.OptionSetSpinnerChangeInterval(0)) // otherwise it spins on a goroutine of its own
		}
		_ = current.Set(s.Done)
	}
}

// plainLines writes a line when a phase begins and at each quarter of it.
func plainLines(w io.Writer) func(Step) {
	phase, quarter := "", 0
	return func(s Step) {
		now := 0
		if s.Total > 0 {
			now = 4 * s.Done / s.Total
		}
		switch {
		case s.Phase == "":
		case s.Phase != phase:
			phase, quarter = s.Phase, now
			fmt.Fprintf(w, "%s …\n", s.Phase)
		case s.Total == 0 && s.Done > 0 && s.Done%10_000 == 0:
			fmt.Fprintf(w, "%s: %s\n", s.Phase, Comma(s.Done))
		case now > quarter:
			quarter = now
			fmt.Fprintf(w, "%s: %s of %s\n", s.Phase, Comma(s.Done), Comma(s.Total))
		}
	}
}
