package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/tool/policy"
)

// withoutIt lists what a command can do without: the exit code if the action is refused. Otherwise
// the exit code is that of credentials.
var withoutIt = map[string]int{
	// It is erased, but what else holds the event is not known.
	"erase sqs:GetQueueAttributes": exitUnsure, "erase s3:ListBucketVersions": exitUnsure,
	"erase s3:GetObject": exitUnsure,
	// No payload is deleted while nobody can tell how far the stream is.
	"erase dynamodb:PutItem": exitRefused, "erase dynamodb:Query": exitRefused, "erase dynamodb:DescribeStream": exitRefused,
	// It is sent and stored, but nobody can tell whether the function is paused.
	"send lambda:ListEventSourceMappings": exitFine, "send lambda:ListTags": exitFine,
	// It is paused, but not marked, or nobody can tell how far the stream is.
	"pause lambda:TagResource": exitFine, "pause dynamodb:PutItem": exitUnsure, "pause dynamodb:Query": exitUnsure,
	"pause dynamodb:DescribeTable": exitUnsure, "pause dynamodb:DescribeStream": exitUnsure, "resume lambda:UntagResource": exitFine,
	// Everything is touched, but nobody can tell how far the stream is.
	"rebuild dynamodb:PutItem": exitUnsure, "rebuild dynamodb:Query": exitUnsure, "rebuild dynamodb:DescribeStream": exitUnsure,
	"rebuild lambda:ListEventSourceMappings": exitUnsure,
	"rebuild lambda:ListTags":                exitUnsure,
	"verify dynamodb:PutItem":                exitUnsure, "verify dynamodb:Query": exitUnsure, "verify dynamodb:DescribeStream": exitUnsure,
	"verify lambda:ListEventSourceMappings": exitUnsure,
	"verify lambda:ListTags":                exitUnsure,
	// What it cannot read, it says. --check makes a 6 of that.
	"status dynamodb:GetItem": exitFine, "status sqs:GetQueueAttributes": exitFine,
	"status lambda:ListEventSourceMappings": exitFine,
	"status lambda:ListTags":                exitFine, "status cloudwatch:GetMetricStatistics": exitFine,
	"status lambda:GetAccountSettings": exitFine, "try lambda:GetAccountSettings": exitFine, "try cloudwatch:DescribeAlarms": exitFine,
	"status cloudwatch:DescribeAlarms": exitFine, "status logs:FilterLogEvents": exitFine,
	"status sqs:ReceiveMessage": exitFine, "status dynamodb:Scan": exitFine, "status sqs:ChangeMessageVisibility": exitFine,
}

// TestRefusedCredentials refuses every action that a command needs, one at a time. The command says
// which it is, and ends with the exit code for it.
func TestRefusedCredentials(t *testing.T) {
	slow.Test(t, "it runs each command once for each action that it needs")
	for _, command := range slices.Sorted(maps.Keys(calls)) {
		t.Run(command, func(t *testing.T) {
			var actions []string
			for _, s := range policy.Commands[command](policy.ARNsOf(nil)) {
				actions = append(actions, s.Action...)
			}
			slices.Sort(actions)
			if slices.Contains([]string{"quarantine", "status", "verify"}, command) { // a refused one leaves work or hidden messages behind
				for _, action := range slices.Compact(actions) {
					if slices.Contains(unheard, action) {
						continue
					}
					t.Run(action, func(t *testing.T) {
						w := hashedShop(t, command)
						w.refuse(t, command, action)
					})
				}
				return
			}
			w := hashedShop(t, command)
			w.filled(t, command)
			for _, action := range slices.Compact(actions) {
				if slices.Contains(unheard, action) {
					continue
				}
				w.refuse(t, command, action)
			}
		})
	}
}

// refuse runs the lines of a command until one of them asks for an action that is refused.
func (w *living) refuse(t *testing.T, command, action string) {
	t.Helper()
	w.forget()
	w.switched()
	w.readied(t, command)
	if action == "lambda:InvokeFunction" {
		w.lapse(t)
	}
	role := w.without(command, action)
	defer w.forget()
	for _, c := range calls[command] {
		o := tool(t, w.named(t, c.line)+" --stack shop")
		all := o.out + o.errors
		if len(role.Denied()) == 0 && !strings.Contains(all, action) { // S3 alone denies what is not asked, to list
			continue
		}
		want, can := withoutIt[command+" "+action]
		if !can {
			want = exitCredentials
		}
		if o.code != want || strings.Contains(all, "operation error") || strings.Contains(all, "StatusCode") ||
			!strings.Contains(all, "is not authorized to perform: "+action) {
			t.Errorf("%s without %s: exit code %d, want %d: %s", c.line, action, o.code, want, all)
		}
		return
	}
	t.Errorf("%s never asks for %s", command, action)
}
