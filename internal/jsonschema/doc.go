// Package jsonschema checks payloads against JSON Schema 2020-12. [Compile] reads a schema, and
// [Schema.Check] says where a payload breaks it.
//
// It works on the parsed payload itself. It makes no second copy of it, compares numbers exactly,
// and stops after a few findings. So even a large payload takes hardly any memory. Every step of a
// check is counted, and a check that takes more steps than the payload's size allows ends. The
// result depends on nothing but the schema and the payload.
//
// Of the standard it leaves out what a check of one message does not need, and Compile refuses it by
// name: references to other files, $id below the root, dynamic references, and keywords that the standard
// does not have. As the standard says, format and the content keywords are notes and check nothing.
package jsonschema
