package cost

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ingot-events/ingot/internal/yamlfile"
)

// These are the names of prices.
const (
	SQSRequests    = "sqs-requests"
	LambdaRequests = "lambda-requests"
	LambdaArm      = "lambda-gb-seconds-arm64"
	LambdaX86      = "lambda-gb-seconds-x86_64"
	WriteUnits     = "dynamodb-write-units"
	ReadUnits      = "dynamodb-read-units"
	Storage        = "dynamodb-storage"
	Backup         = "dynamodb-backup"
	S3Puts         = "s3-put-requests"
	S3Gets         = "s3-get-requests"
	S3Storage      = "s3-storage"
	Metrics        = "cloudwatch-metrics"
	Alarms         = "cloudwatch-alarms"
	Logs           = "cloudwatch-logs"
	Traces         = "xray-traces"
	Secrets        = "secretsmanager-secrets"
)

// Names lists the names of all prices, in the order of a file.
func Names() []string {
	return []string{SQSRequests, LambdaRequests, LambdaArm, LambdaX86, WriteUnits, ReadUnits, Storage, Backup, S3Puts, S3Gets, S3Storage, Metrics, Alarms, Logs, Traces, Secrets}
}

// Prices is a file of prices.
type Prices struct {
	file   string
	region string
	prices map[string]price
}

type price struct {
	Dollars *float64 `yaml:"dollars"` // absent: not known
	Per     float64  `yaml:"per"`     // for this many of what is billed
	Page    string   `yaml:"page"`    // where AWS states it
	Read    string   `yaml:"read"`    // where and when it was read
}

// About says where prices come from.
type About struct {
	File   string `json:"file"`
	Region string `json:"region"`
}

// ReadPrices reads a file of prices. name is the name of the file, for the error.
func ReadPrices(name string, text []byte) (*Prices, error) {
	parsed, fault := yamlfile.Parse(text)
	if fault == nil {
		fault = parsed.Repetition()
	}
	if fault != nil {
		what := fault.What
		if fault.Instead != "" {
			what += "; write " + fault.Instead
		}
		return nil, fmt.Errorf("%s:%d:%d: %s", name, fault.Line, fault.Column, what)
	}
	var file struct {
		Format int              `yaml:"ingotPrices"`
		Region string           `yaml:"region"`
		Prices map[string]price `yaml:"prices"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(yamlfile.Normal(text)), yaml.DisallowUnknownField()).Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it is not a file of prices: %s", name, yaml.FormatError(err, false, false))
	}
	switch {
	case file.Format != 1:
		return nil, fmt.Errorf("%s: it is not a file of prices that this version reads; write ingotPrices: 1 at its top", name)
	case file.Region == "":
		return nil, fmt.Errorf("%s: it does not say for which Region its prices are; write region: us-east-1, for example", name)
	}
	for _, known := range Names() {
		p, there := file.Prices[known]
		switch {
		case !there:
		case p.Dollars != nil && (*p.Dollars < 0 || math.IsInf(*p.Dollars, 0) || math.IsNaN(*p.Dollars)):
			return nil, fmt.Errorf("%s: prices.%s: dollars is %v; write 0 or more, or leave it out if the price is not known", name, known, *p.Dollars)
		case p.Dollars != nil && !(p.Per > 0):
			return nil, fmt.Errorf("%s: prices.%s: per must say for how many the price is; write per: 1 or per: 1000000, for example", name, known)
		}
	}
	for given := range file.Prices {
		if !slices.Contains(Names(), given) {
			return nil, fmt.Errorf("%s: prices.%s: there is no such price; the names are %s", name, given, strings.Join(Names(), ", "))
		}
	}
	return &Prices{file: name, region: file.Region, prices: file.Prices}, nil
}

// of returns the dollars for one of what is billed.
func (p *Prices) of(name string) (float64, bool) {
	one := p.prices[name]
	if one.Dollars == nil {
		return 0, false
	}
	return *one.Dollars / one.Per, true
}

// ReadUnit returns the price of one read unit of DynamoDB in dollars. It is 0 if the file does not
// have it.
func (p *Prices) ReadUnit() float64 {
	price, _ := p.of(ReadUnits)
	return price
}

// Dollars returns what n of what a name is billed by cost. It returns false if the price is not known.
func (p *Prices) Dollars(name string, n float64) (float64, bool) {
	if p == nil {
		return 0, false
	}
	one, known := p.of(name)
	return one * n, known
}

// Region returns the Region that the prices are for.
func (p *Prices) Region() string { return p.region }

func (p *Prices) about() *About {
	if p == nil {
		return nil
	}
	return &About{File: p.file, Region: p.region}
}
