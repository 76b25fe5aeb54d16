package cost

import (
	"io/fs"

	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// PricesUsage is the usage of --prices.
const PricesUsage = "a file of prices (default those of us-east-1 that are built in)"

// PricesOf reads a file of prices. Without one, the prices are those that the tool brings.
func PricesOf(file string) (*Prices, error) {
	name, text, err := file, []byte(nil), error(nil)
	if file == "" {
		name = "prices/us-east-1.yaml"
		text, err = fs.ReadFile(ingot.Deployment(), name)
	} else {
		text, err = cli.ReadFile(file, "name a file of prices with --prices FILE")
	}
	if err != nil {
		return nil, err
	}
	return ReadPrices(name, text)
}
