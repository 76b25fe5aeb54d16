// Package where reads the parts of pipeline.yaml that name fields of the payload. These are paths
// such as items[0].sku ([Path]), and conditions such as total > 0 and exists status ([Parse]). It
// does not know the file around them: a [Mistake] names an offset into the text.
package where
