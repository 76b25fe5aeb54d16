package disk

import "syscall"

// drop takes what the process has mapped of the file out of its memory. The system keeps it, and
// maps it again where it is read.
func (d *Disk) drop() {
	info, err := d.file.Stat()
	if err != nil || info.Size() == 0 {
		return
	}
	// What cannot be dropped stays.
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, d.db.Info().Data, uintptr(info.Size()), syscall.MADV_DONTNEED)
}
