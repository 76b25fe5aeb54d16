// Package where reads the parts of pipeline.yaml that speak of fields of the payload: a path such as items[0].sku
// ([Path]), and a condition such as total > 0 and exists status ([Parse]). It knows nothing of the file around them: a
// [Mistake] names an offset into the text.
package where
