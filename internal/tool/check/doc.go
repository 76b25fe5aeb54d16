// Package check checks that pipeline.yaml, template.yaml and the files beside them fit each other,
// and that they have everything that exactly-once needs. It also says what each aggregate will
// cost. [Run] checks an [Input] and returns a [Report].
package check
