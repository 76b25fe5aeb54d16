package demo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"
)

const (
	sensorCount  = 24
	sensorHours  = 84 // one reading an hour, of each sensor
	readingTries = 3
)

// firstReading is when the invented readings begin. They end in the next month.
var firstReading = time.Date(2024, 10, 30, 0, 0, 0, 0, time.UTC)

// Sensors returns the invented readings of a city's air. They are made again from the seed each
// time they are read.
func Sensors(seed uint64) Data {
	return Data{
		Name:     "readings of the air",
		About:    synthetic,
		Lines:    made(func() []fact { return airReadings(seed) }),
		Alter:    pollute,
		Resend:   again,
		Distinct: true,
	}
}

// airReadings returns a reading of each sensor for every hour. The air is worse in the morning and
// in the evening, and some sensors get new firmware on the way.
func airReadings(seed uint64) []fact {
	die := source(seed, forReadings)
	districts := []string{"centre", "harbour", "hills", "north", "south", "west"}
	facts := make([]fact, 0, sensorCount*sensorHours)
	for n := range sensorCount {
		update := die.IntN(2 * sensorHours)
		for hour := range sensorHours {
			at := firstReading.Add(time.Duration(hour)*time.Hour + time.Duration(die.IntN(3600))*time.Second)
			busy := 1 + math.Abs(math.Sin(float64(hour%24-1)*math.Pi/12))
			pm10, celsius := busy*(4+40*math.Pow(die.Float64(), 3)), 8-6*math.Cos(float64(hour%24)*math.Pi/12)+die.NormFloat64()
			firmware := ""
			if hour >= update {
				firmware = `,"firmware":"2.1.0"`
			}
			facts = append(facts,
				fact{at, fmt.Sprintf(
					`{"type":"air.reading","synthetic":true,"sensor_id":"s-%02d","district":%q,"taken_at":%q,"pm10":%.1f,"celsius":%.2f%s,"tries":1,"sent_at":%q}`,
					n, districts[n%len(districts)], at.Format(time.RFC3339), pm10, celsius, firmware,
					at.Add(time.Second).Format(time.RFC3339))})
		}
	}
	return facts
}

var (
	particles = regexp.MustCompile(`"pm10":[0-9.]+`)
	tries     = regexp.MustCompile(`"tries":[0-9]+`)
)

// pollute changes the particles of a reading, and keeps its sensor and its time.
func pollute(body string, die *rand.Rand) string {
	return particles.ReplaceAllString(body, `"pm10":`+strconv.Itoa(100+die.IntN(100)))
}

// again returns a reading in the form in which a sensor sends it a second time.
func again(body string, die *rand.Rand) string {
	return tries.ReplaceAllString(body, `"tries":`+strconv.Itoa(2+die.IntN(readingTries)))
}
