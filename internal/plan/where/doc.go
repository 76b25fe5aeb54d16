// Package where reads the parts of pipeline.yaml that name fields of the payload: paths such as
// items[0].sku ([Path]), and conditions such as total > 0 and exists status ([Parse]). It does not
// know the rest of the file, so the place in a [Mistake] is an offset into the text.
package where
