package report

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// errFull is that a part does not fit into the file any more.
var errFull = errors.New("the file would become larger than --limit")

// overhead is about what a zip file needs for a part beside its content and twice its name.
const overhead = 128

// file is a zip file of a bounded size.
type file struct {
	zip  *zip.Writer
	room int64 // bytes that are left
	now  time.Time
}

func newFile(w io.Writer, limit int64, now time.Time) *file {
	return &file{zip: zip.NewWriter(w), room: limit - overhead, now: now}
}

// add adds a part, or nothing at all if it does not fit.
func (f *file) add(name string, content []byte) error {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("compress %s: %w", name, err)
	}
	need := int64(packed.Len()+2*len(name)) + overhead
	if need > f.room {
		return errFull
	}
	f.room -= need
	to, err := f.zip.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Deflate, Modified: f.now, CRC32: crc32.ChecksumIEEE(content),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: uint64(len(content)),
	})
	if err == nil {
		_, err = to.Write(packed.Bytes())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
