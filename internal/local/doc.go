// Package local is AWS on this machine: the engine (DynamoDB, SQS, S3), its protocols over HTTP,
// Lambda, and the resources and roles of template.yaml. Its event source mappings are in package
// esm: the tool drives them on AWS, too.
//
// May import: base. Only stack also imports plan/lanes, for the form of keys.
//
// Never knows: anything of Ingot's: what runs on it must meet what it would meet on AWS.
package local
