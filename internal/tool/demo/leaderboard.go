package demo

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"
)

const (
	playerCount = 60
	matchCount  = 420
)

// season is when the invented matches begin. They last eight days, so they are of two months.
var season = time.Date(2024, 3, 28, 0, 0, 0, 0, time.UTC)

// Leaderboard returns the invented players of a game and the results of their matches. They are
// made again from the seed each time they are read.
func Leaderboard(seed uint64) Data {
	return Data{
		Name:     "players and results of matches",
		About:    synthetic,
		Lines:    made(func() []fact { return append(players(), matches(seed)...) }),
		Alter:    outscore,
		Distinct: true,
	}
}

func players() []fact {
	countries := []string{"BR", "DE", "JP", "KE", "US"}
	facts := make([]fact, playerCount)
	for n := range facts {
		at := season.AddDate(0, 0, -30).Add(time.Duration(n) * 7 * time.Hour)
		facts[n] = fact{at,
			fmt.Sprintf(`{"type":"player.joined","synthetic":true,"player_id":"p-%02d","name":"Player %d","country":%q,"joined_at":%q}`,
				n, n, countries[n%len(countries)], at.Format(time.RFC3339))}
	}
	return facts
}

// matches returns the results of all matches. A player with a low number is better, and one in five
// players plays half of the time.
func matches(seed uint64) []fact {
	die := source(seed, forMatches)
	var facts []fact
	for n := range matchCount {
		seconds := 180 + die.IntN(600)
		at := season.Add(time.Duration(die.Int64N(int64(8 * 24 * time.Hour)))).Truncate(time.Second)
		in := map[int]bool{}
		for range 2 + die.IntN(4) {
			player := die.IntN(playerCount)
			if die.IntN(2) == 0 {
				player %= playerCount / 5
			}
			if in[player] {
				continue
			}
			in[player] = true
			points := die.IntN(1000)*(2*playerCount-player)/(2*playerCount) + 10
			facts = append(facts,
				fact{at, fmt.Sprintf(
					`{"type":"match.scored","synthetic":true,"match_id":"m-%04d","player_id":"p-%02d","points":%d,"seconds":%d,"ended_at":%q}`,
					n, player, points, seconds, at.Format(time.RFC3339))})
		}
	}
	return facts
}

var scored = regexp.MustCompile(`"(points|country)":("?)[0-9A-Z]+`)

// outscore changes the points of a result, or the country of a player.
func outscore(body string, die *rand.Rand) string {
	return scored.ReplaceAllString(body, `"$1":${2}9`+strconv.Itoa(die.IntN(10)))
}
