package store

// state is what a write needs next. These are the states, and every way from one to another:
//
//	                 start
//	                   │
//	                   ▼
//	┌────────────► inserting ── 1 applied ──────────────────────────► settled
//	└─ 0 again ───────┤ │
//	                  │ └──── 2 taken, and here is the item ────────► met
//	                  │
//	   3 taken, or too late to put
//	                  ▼
//	┌────────────► reading ──── 4 nothing, though the key was taken ─► abandoned
//	└─ 0 again ───────┤ │
//	             ▲    │ └────── 5 nothing, and too late to put ──────► absent
//	             │    └──────── 6 found, without its payload ────────► met
//	3 too late to put
//	             │
//	┌────────────┴ replacing ── 1 applied ──────────────────────────► settled
//	└─ 0 again ───────┤ │
//	                  │ └────── 2 lost the race, and here is the item ► met
//	   7 lost the race
//	                  ▼
//	┌────────────► comparing ── 4 nothing any more ─────────────────► abandoned
//	└─ 0 again ───────┤
//	                  └──────── 8 found, with its payload ──────────► met
//
// An item that is met goes on at once:
//
//	met ── 9 its form cannot be read, and its epoch is a later one ───────────► abandoned
//	  ├─── 10 its payload was not read, and its epoch is a later one ─────────► comparing
//	  ├─── 11 it is an older revision than ours, which is not too late to put ► replacing
//	  ├─── 12 its payload was not read, and a copy of ours has another digest ► comparing
//	  └─── 13 else every copy is judged ──────────────────────────────────────► settled
//
// 0 is throttled, contended or no answer: the same again, after a wait. A request of several that is refused as it is
// also goes back to inserting, where each of its writes is put alone. From every state, what is refused for good or is
// wrong as it is goes to abandoned.
//
// Settled and absent are proofs. The copies of a write that is abandoned, or still on its way when Put ends, are Retry,
// or Poison where the item is too large.
type state uint8

const (
	inserting state = iota // put it if the key is free
	reading                // the key is taken, or it is too late to put: what is stored?
	comparing              // another payload is stored, as its digest says: in what does it differ?
	replacing              // latest: the stored revision is older; replace exactly that one
	settled                // it is proven what is stored, and every copy is judged
	absent                 // it was too late to put, and nothing is stored
	abandoned              // asking again cannot help now
)

// final reports whether there is nothing left to ask.
func (s state) final() bool { return s >= settled }
