package emf_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// unitPattern is the pattern of MetricDefinition.Unit in the JSON Schema that AWS publishes.
var unitPattern = regexp.MustCompile(`^(Seconds|Microseconds|Milliseconds|Percent|Count|Count/Second|None|` +
	`(Bytes|Kilobytes|Megabytes|Gigabytes|Terabytes|Bits|Kilobits|Megabits|Gigabits|Terabits)(/Second)?)$`)

// checkDocument checks one written line against AWS's specification of the embedded metric format
// and its published JSON Schema. The rules are written out by hand: required members, types,
// lengths, the limits on counts, and that every reference has a target of the right type on the
// root. It also checks what Lambda's log filter needs: level and an RFC 3339 timestamp.
func checkDocument(line string, metrics int) error {
	body, ok := strings.CutSuffix(line, "\n")
	if !ok || strings.Contains(body, "\n") {
		return errors.New("not exactly one line")
	}
	if err := noRepeats(body); err != nil {
		return err
	}
	var root map[string]any
	if err := json.Unmarshal([]byte(body), &root); err != nil {
		return err
	}
	if err := checkForLambda(root); err != nil {
		return err
	}
	meta, ok := root["_aws"].(map[string]any)
	if !ok {
		return errors.New("_aws is not an object")
	}
	if err := onlyMembers(meta, "Timestamp", "CloudWatchMetrics"); err != nil {
		return err
	}
	ms, ok := meta["Timestamp"].(float64)
	if !ok || ms != float64(int64(ms)) || ms <= 0 {
		return fmt.Errorf("_aws.Timestamp %v is not a count of milliseconds", meta["Timestamp"])
	}
	directives, ok := meta["CloudWatchMetrics"].([]any)
	if !ok || len(directives) != 1 {
		return errors.New("CloudWatchMetrics is not an array of one directive")
	}
	return checkDirective(root, directives[0], metrics)
}

func checkForLambda(root map[string]any) error {
	if level, _ := root["level"].(string); level != "INFO" {
		return fmt.Errorf("level %v", root["level"])
	}
	stamp, _ := root["timestamp"].(string)
	if _, err := time.Parse(time.RFC3339, stamp); err != nil || !strings.HasSuffix(stamp, "Z") {
		return fmt.Errorf("timestamp %q is not RFC 3339 in UTC", stamp)
	}
	return nil
}

func checkDirective(root map[string]any, v any, metrics int) error {
	directive, ok := v.(map[string]any)
	if !ok {
		return errors.New("directive is not an object")
	}
	if err := onlyMembers(directive, "Namespace", "Dimensions", "Metrics"); err != nil {
		return err
	}
	if err := textOf(directive["Namespace"], "Namespace"); err != nil {
		return err
	}
	sets, ok := directive["Dimensions"].([]any)
	if !ok || len(sets) == 0 {
		return errors.New("dimensions: not an array of at least one set")
	}
	for _, set := range sets {
		keys, ok := set.([]any)
		if !ok || len(keys) > 9 {
			return errors.New("DimensionSet is not an array of at most 9 keys")
		}
		for _, key := range keys {
			if err := textOf(key, "dimension key"); err != nil {
				return err
			}
			if err := textOf(root[key.(string)], "dimension target"); err != nil {
				return err
			}
		}
	}
	return checkDefinitions(root, directive["Metrics"], metrics)
}

func checkDefinitions(root map[string]any, v any, metrics int) error {
	defs, ok := v.([]any)
	if !ok || len(defs) != metrics || len(defs) > 100 {
		return fmt.Errorf("metrics: not an array of %d definitions", metrics)
	}
	for _, d := range defs {
		def, ok := d.(map[string]any)
		if !ok {
			return errors.New("definition is not an object")
		}
		if err := onlyMembers(def, "Name", "Unit"); err != nil {
			return err
		}
		if err := textOf(def["Name"], "metric name"); err != nil {
			return err
		}
		if unit, _ := def["Unit"].(string); !unitPattern.MatchString(unit) {
			return fmt.Errorf("unit %v", def["Unit"])
		}
		if _, ok := root[def["Name"].(string)].(float64); !ok {
			return fmt.Errorf("metric target %q is not a number on the root", def["Name"])
		}
	}
	return nil
}

func textOf(v any, what string) error {
	if s, ok := v.(string); !ok || len(s) < 1 || len(s) > 255 {
		return fmt.Errorf("%s: %v is not a text of 1 to 255 characters", what, v)
	}
	return nil
}

// onlyMembers checks that all of names are there, and nothing else.
func onlyMembers(o map[string]any, names ...string) error {
	for _, name := range names {
		if _, ok := o[name]; !ok {
			return fmt.Errorf("member %q is missing", name)
		}
	}
	if len(o) != len(names) {
		return fmt.Errorf("%d members, want only %v", len(o), names)
	}
	return nil
}

// noRepeats checks that the root names no member twice, which json.Unmarshal would not notice.
func noRepeats(body string) error {
	d := json.NewDecoder(strings.NewReader(body))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("not an object: %v %w", t, err)
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name := t.(string)
		if seen[name] {
			return fmt.Errorf("member %q twice", name)
		}
		seen[name] = true
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("data after the object")
	}
	return nil
}
