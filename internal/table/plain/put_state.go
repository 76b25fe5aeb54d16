package plain

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
//	                fetching ── 14 its payload cannot be read now ────► abandoned
//	                  └──────── 15 it was read, or its object is gone ► met
//
// An item that is met goes on at once:
//
//	met ── 9 its form cannot be read, and its epoch is a later one ───────────► abandoned
//	  ├─── 10 its payload was not read, and its epoch is a later one ─────────► comparing
//	  ├─── 11 it is an older revision than ours, which is not too late to put ► replacing
//	  ├─── 12 its payload was not read, and a copy of ours has another digest ► comparing
//	  ├─── 16 its payload is in the payload bucket, and a copy of ours has
//	  │       another digest ─────────────────────────────────────────────────► fetching
//	  └─── 13 else every copy is judged ──────────────────────────────────────► settled
//
// A state, which is a part under mode latest, is read first. It is put beside its whole: by a
// transaction that also checks that the whole is still there.
//
//	                 start
//	                   │
//	┌────────────► reading ──── 5 nothing, and too late to put ─────► absent
//	└─ 0 again ───────┤ │
//	             ▲    │ └────── 6 found ────────────────────────────► met
//	             │    │
//	             │    └──────── 17 nothing, or nothing any more ────► inserting
//	             │
//	3 too late to put, or
//	18 what was there is gone
//	             │
//	┌────────────┴ inserting ── 1 applied ──────────────────────────► settled
//	└─ 0 again ──  replacing ── 2 lost the race, and here is the item ► met
//	                  └──────── 19 its whole is gone ───────────────► abandoned
//
// 0 is throttled, contended or no answer. The write sends the same again, after a wait. If a
// request with several writes is refused as invalid, they also go back to inserting, and each of
// them is put alone. From every state, a write that is invalid or refused for good goes to
// abandoned.
//
// Settled and absent are proofs, except that absent proves nothing while a try of the put may still
// be carried out. If a write is abandoned, or is not finished when Put ends, its
// copies are Retry. They are Poison if the item is too large.
type state uint8

const (
	inserting state = iota // put it if the key is free
	reading                // the key is taken, or it is too late to put: what is stored?
	comparing              // another payload is stored, as its digest says: how does it differ?
	fetching               // likewise, and the stored payload is in the payload bucket
	replacing              // latest: the stored revision is older; replace exactly that one
	settled                // it is proven what is stored, and every copy is judged
	absent                 // it was too late to put, and nothing is stored
	abandoned              // asking again cannot help now
)

// final reports whether there is nothing left to ask.
func (s state) final() bool { return s >= settled }
