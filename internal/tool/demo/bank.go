package demo

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"
)

const (
	bankAccounts  = 24
	bankDeposits  = 2 // for each account, at first
	bankTransfers = 1000
)

// firstTransfer is when the invented transfers begin. They last ten days.
var firstTransfer = time.Date(2024, 5, 27, 0, 0, 0, 0, time.UTC)

// Bank returns the invented transfers of a ledger. Every account has only a little money, and many
// transfers take from it. So some transfers are refused, depending on the order in which they
// arrive. The transfers are made again from the seed each time they are read.
func Bank(seed uint64) Data {
	return Data{
		Name:     "transfers between accounts",
		About:    synthetic,
		Lines:    made(func() []fact { return transfers(source(seed, forBank)) }),
		Alter:    misquote,
		Distinct: true,
	}
}

func transfers(die *rand.Rand) []fact {
	var facts []fact
	add := func(at time.Time, from, fromBook, to, toBook string, cents int) {
		facts = append(facts, fact{at, fmt.Sprintf(`{"type":"transfer.posted","synthetic":true,"transfer_id":"t-%04d","posted_at":%q,`+
			`"entries":[{"account":%q,"book":%q,"cents":-%d},{"account":%q,"book":%q,"cents":%d}]}`,
			len(facts), at.Format(time.RFC3339Nano), from, fromBook, cents, to, toBook, cents)})
	}
	name := func(n int) string { return fmt.Sprintf("a-%02d", n) }
	during := func(days float64) time.Time {
		return firstTransfer.Add(time.Duration(days * float64(24*time.Hour))).Truncate(time.Millisecond)
	}
	for n := range bankAccounts * bankDeposits {
		add(during(die.Float64()), "bank", "outside", name(n%bankAccounts), "customers", 2000+die.IntN(4000))
	}
	for range bankTransfers {
		at := during(1 + 9*die.Float64())
		from, to := die.IntN(bankAccounts), die.IntN(bankAccounts-1)
		if to >= from {
			to++
		}
		switch cents := 1 + die.IntN(3000); die.IntN(12) {
		case 0:
			add(at, name(from), "customers", "bank", "outside", cents) // a withdrawal
		case 1:
			add(at, "bank", "outside", name(to), "customers", cents)
		default:
			add(at, name(from), "customers", name(to), "customers", cents)
		}
	}
	return facts
}

var lastCents = regexp.MustCompile(`"cents":(\d+)\}\]`)

// misquote makes a transfer pay out more than it takes. If its key is taken, it is a Conflict. If
// the key is free because the transfer was refused, this one is refused too, because its entries do
// not add up to 0.
func misquote(body string, die *rand.Rand) string {
	return lastCents.ReplaceAllStringFunc(body, func(text string) string {
		n, _ := strconv.Atoi(lastCents.FindStringSubmatch(text)[1]) // digits alone
		return fmt.Sprintf(`"cents":%d}]`, n+1+die.IntN(500))
	})
}
