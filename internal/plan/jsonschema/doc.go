// Package jsonschema checks payloads against JSON Schema 2020-12. [Compile] reads a schema, and
// [Schema.Check] says where a payload breaks it.
//
// A check works on the parsed payload itself. It makes no copy of the payload, compares numbers
// exactly, and stops after a few findings. So even a large payload takes hardly any memory. A check
// counts its steps, and ends if it takes more steps than the payload's size allows. The result
// depends only on the schema and the payload.
//
// The package does not implement parts of the standard that the check of one message does not need:
// references to other files, $id below the root, and dynamic references. Compile refuses these, and
// keywords that the standard does not have, and names them. As the standard says, format and the
// content keywords are notes, so they check nothing.
package jsonschema
