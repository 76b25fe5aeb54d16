package api

import (
	"maps"
	"sync"
)

// Usage counts the requests to an engine, and what DynamoDB would have charged for them by its own
// rules. Calls that Intercept refused never reached the engine, but they count as requests too.
type Usage struct {
	Requests map[string]int64      // by API name, such as PutItem or ReceiveMessage
	Tables   map[string]TableUsage // by table name
}

// TableUsage is capacity in units: one write unit for each started KB, and one read unit for each
// started 4 KB (half of that for an eventually consistent read). The units of indexes are kept
// apart from those of the table.
type TableUsage struct {
	Write, IndexWrite float64
	Refused           float64 // of Write, what writes cost that were not carried out
	Read, IndexRead   float64
}

// Sub returns what was used since before was taken.
func (u Usage) Sub(before Usage) Usage {
	out := Usage{Requests: map[string]int64{}, Tables: map[string]TableUsage{}}
	for api, n := range u.Requests {
		if d := n - before.Requests[api]; d != 0 {
			out.Requests[api] = d
		}
	}
	for name, t := range u.Tables {
		b := before.Tables[name]
		d := TableUsage{t.Write - b.Write, t.IndexWrite - b.IndexWrite, t.Refused - b.Refused, t.Read - b.Read, t.IndexRead - b.IndexRead}
		if d != (TableUsage{}) {
			out.Tables[name] = d
		}
	}
	return out
}

// WriteUnits returns the sum over all tables and indexes.
func (u Usage) WriteUnits() float64 {
	sum := 0.0
	for _, t := range u.Tables {
		sum += t.Write + t.IndexWrite
	}
	return sum
}

// ReadUnits returns the sum over all tables and indexes.
func (u Usage) ReadUnits() float64 {
	sum := 0.0
	for _, t := range u.Tables {
		sum += t.Read + t.IndexRead
	}
	return sum
}

// TotalRequests returns the number of requests of all kinds.
func (u Usage) TotalRequests() int64 {
	var sum int64
	for _, n := range u.Requests {
		sum += n
	}
	return sum
}

// Usage returns what has been counted so far.
func (m *Meter) Usage() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := Usage{Requests: maps.Clone(m.requests), Tables: make(map[string]TableUsage, len(m.tables))}
	if u.Requests == nil {
		u.Requests = map[string]int64{}
	}
	for name, t := range m.tables {
		u.Tables[name] = *t
	}
	return u
}

// Meter counts the requests to an engine, and what the service would charge for them.
type Meter struct {
	mu       sync.Mutex
	requests map[string]int64
	tables   map[string]*TableUsage
}

func (m *Meter) request(api string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == nil {
		m.requests = map[string]int64{}
	}
	m.requests[api]++
}

func (m *Meter) table(name string) *TableUsage {
	if m.tables == nil {
		m.tables = map[string]*TableUsage{}
	}
	t := m.tables[name]
	if t == nil {
		t = &TableUsage{}
		m.tables[name] = t
	}
	return t
}

// Wrote counts the units of a write.
func (m *Meter) Wrote(table string, units, indexUnits float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.table(table)
	t.Write += units
	t.IndexWrite += indexUnits
}

// Refused counts the units of a write that was not carried out.
func (m *Meter) Refused(table string, units float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.table(table)
	t.Write += units
	t.Refused += units
}

// Read counts the units of a read.
func (m *Meter) Read(table string, units, indexUnits float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.table(table)
	t.Read += units
	t.IndexRead += indexUnits
}
