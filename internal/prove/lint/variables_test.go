package lint

import (
	"regexp"
	"slices"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// The comment of package ingot lists every variable that the functions read.
func TestPackageCommentListsEveryVariable(t *testing.T) {
	names := func(file, before string) (list []string) {
		text := must.Read(t, file)
		for _, m := range regexp.MustCompile(before+`(INGOT_[A-Z_]+)`).FindAllSubmatch(text, -1) {
			list = append(list, string(m[1]))
		}
		slices.Sort(list)
		return list
	}
	read, told := names("../../run/function/settings.go", `Variable += "`), names("../../../ingot.go", `(?m)^//\t`)
	if len(read) == 0 || !slices.Equal(read, told) {
		t.Errorf("the functions read %q, the comment lists %q", read, told)
	}
}
