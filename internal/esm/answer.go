package esm

import (
	"encoding/json"
	"errors"
	"fmt"
)

// failures returns the items that the answer reports as failed, as a set of positions in ids. An
// error means that the whole batch failed. Names are case-sensitive. If the outer name is wrong,
// the batch succeeds, because the answer then says nothing about failures (Lambda developer guide,
// "Reporting batch item failures").
//
//	{}  null  []  {"batchItemFailures":null}  {"batchItemFailures":[]}  {"other":1}            success
//	not JSON; an id that is empty, null, missing or not in the batch                           failure
//	a scalar, a non-empty array, a list that is not a list, an entry that is not an object     failure (undocumented)
func failures(answer []byte, ids []string) (map[int]bool, error) {
	outer, err := members(answer)
	if err != nil {
		return nil, err
	}
	list, there := outer["batchItemFailures"]
	if !there || string(list) == "null" {
		return nil, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(list, &entries); err != nil {
		return nil, errors.New("batchItemFailures is not a list")
	}
	positions := make(map[string][]int, len(ids))
	for i, id := range ids {
		positions[id] = append(positions[id], i)
	}
	failed := make(map[int]bool, len(entries))
	for i, entry := range entries {
		id, err := identifier(entry)
		if err != nil {
			return nil, fmt.Errorf("batchItemFailures[%d]: %w", i, err)
		}
		if len(positions[id]) == 0 {
			return nil, fmt.Errorf("batchItemFailures[%d]: itemIdentifier %q is not in the batch", i, id)
		}
		for _, p := range positions[id] {
			failed[p] = true
		}
	}
	return failed, nil
}

// members returns the members of an answer that is an object. null and [] have none.
func members(answer []byte) (map[string]json.RawMessage, error) {
	// A map keeps names as they are. With a struct, encoding/json would ignore the case of a name.
	var m map[string]json.RawMessage
	err := json.Unmarshal(answer, &m)
	if err == nil {
		return m, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("the answer is not JSON: %w", err)
	}
	var list []json.RawMessage
	if json.Unmarshal(answer, &list) == nil && len(list) == 0 {
		return nil, nil
	}
	return nil, errors.New("the answer is neither an object nor null")
}

func identifier(entry json.RawMessage) (string, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(entry, &m); err != nil || m == nil {
		return "", errors.New("not an object")
	}
	raw, there := m["itemIdentifier"]
	if !there {
		return "", errors.New("no itemIdentifier")
	}
	var id *string
	if err := json.Unmarshal(raw, &id); err != nil {
		return "", errors.New("itemIdentifier is not a string")
	}
	if id == nil || *id == "" {
		return "", errors.New("itemIdentifier is empty")
	}
	return *id, nil
}

// maxState is the largest state that a window may have, in bytes. Above it, Lambda ends the window
// early.
const maxState = 1 << 20

// windowState returns the state in an answer, which is for the next invocation of the window.
// Lambda's documents say that the function must return a state. They do not say what happens if it
// does not. Here the batch fails.
func windowState(answer []byte) (json.RawMessage, error) {
	outer, err := members(answer)
	if err != nil {
		return nil, err
	}
	var state map[string]json.RawMessage
	raw := outer["state"]
	if len(raw) == 0 {
		return nil, errors.New("the answer has no state, which a window needs")
	}
	if err := json.Unmarshal(raw, &state); err != nil || state == nil {
		return nil, fmt.Errorf("state is %.20s, not an object; a window needs one", raw)
	}
	return raw, nil
}
